"""What `layers` and `outside` add is drawn: a statement that fails would be dropped without a word."""

import pytest
from fuzz import layers, outside
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


@pytest.mark.parametrize("template", [t for of in TEMPLATES for t in options(layers._spread(of))])
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
