"""What `layers` and `outside` add is drawn: a statement that fails would be dropped without a word."""

import re
from pathlib import Path

import pytest
from fuzz import further_layers, layers, outside
from fuzz.author import Author
from fuzz.expressions import filled, options
from fuzz.programs import generate

import tracegrad as tg

TEMPLATES = [
    layers.WINDOWS,
    layers.IMAGES,
    layers.LARGEST,
    layers.ATTENTION,
    layers.NORMS,
    layers.SHORT,
    layers.COMPLEX,
]
WORDS = (
    "F.conv1d F.conv2d F.conv3d conv_transpose nn.Conv1d( nn.Conv2d( nn.ConvTranspose1d( nn.Conv3d( nn.ConvTranspose2d( TransformerDecoderLayer Bilinear group_norm kl_div max_pool avg_pool interpolate "
    "nn.LSTM( nn.GRU( nn.RNN( LSTMCell GRUCell RNNCell MultiheadAttention scaled_dot_product_attention "
    "TransformerEncoderLayer scatter( scatter_add scatter_reduce index_add uint8 int8 int16 float16 bfloat16 complex64 "
    "complex128 SGD Adam( AdamW NAdam RAdam Adamax Adadelta Adagrad Adafactor RMSprop ASGD LBFGS"
).split()


@pytest.mark.parametrize("template", [t for of in TEMPLATES for t in options(layers.spread(of))])
def test_each_expression_is_one(template):
    author = Author(0)
    author.run("x = tg.arange(6.0, dtype=tg.float64).reshape(2, 3) * 0.25")
    assert isinstance(eval(filled(author, template, "x"), author.env), tg.Tensor)


@pytest.mark.parametrize("template", options(layers.SMALL))
def test_each_expression_of_integers_is_one(template):
    author = Author(0)
    author.run("x = tg.arange(6).reshape(2, 3)")
    assert isinstance(eval(filled(author, template, "x"), author.env), tg.Tensor)


@pytest.mark.parametrize("template", options(layers.ROWS))
def test_each_layer_takes_rows(template):
    author = Author(0)
    assert author.run(layers.FIRST)
    assert author.run(f"m = {template.replace('{n}', '3').replace('{k}', '2')}")
    assert author.run("y = m(tg.ones(2, 3))")


EXPRESSIONS = [t for of in further_layers.EXPRESSIONS.values() for t in options(of)]


@pytest.mark.long(fast=7)
@pytest.mark.parametrize("template", EXPRESSIONS)
def test_each_further_expression_is_one(template):
    test_each_expression_is_one(template)


@pytest.mark.long(fast=7)
@pytest.mark.parametrize("template", further_layers.FURTHER_ROWS)
def test_each_further_layer_takes_rows(template):
    author = Author(0)
    assert author.run(layers.FIRST) and author.run(further_layers.HELPERS)
    assert author.run(f"m = {template.replace('{n}', '3').replace('{k}', '2')}")
    assert author.run("y = m(tg.ones(2, 3))")


def test_each_public_name_is_drawn_or_has_a_reason():
    """What programs are made of is in the generator's texts."""
    texts = "\n".join(path.read_text(encoding="utf-8") for path in Path(layers.__file__).parent.glob("*.py"))
    texts = re.sub(r"(?m)#.*$", "", texts)
    words = set(re.findall(r"\w+", texts + "\n".join(further_layers.FURTHER_ROWS)))
    missing = further_layers.public_names() - words
    assert sorted(missing) == []
    assert set(further_layers.NOT_DRAWN) <= further_layers.public_names()


@pytest.mark.parametrize("text", options(outside.OPTIMIZERS))
def test_each_optimizer_makes_a_step(text):
    author = Author(0)
    closure = "lambda: tg.zeros(())" if text.startswith("LBFGS") else ""
    assert author.run("w = tg.ones(2, 3).requires_grad_()\n(w * w).sum().backward()")
    assert author.run(f"opt = tg.optim.{text.replace('{p}', '[w]')}\nopt.step({closure})")
    assert not tg.equal(author.env["w"].detach(), tg.ones(2, 3))


@pytest.mark.long
def test_all_of_it_occurs():
    texts = [generate(seed) for seed in range(400)]
    assert [word for word in WORDS if not any(word in text for text in texts)] == []
