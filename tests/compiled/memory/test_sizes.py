"""One program for all sizes of a batch: every size gives the eager result, and gcc is run twice at most."""

import re
import threading

import numpy as np
import pytest
from compiled.conftest import Program

#: In this order the first call has a usual size, the second is larger, then sizes come back and new ones come between.
SIZES = (32, 33, 7, 100, 2, 64, 32, 1, 100, 33, 7, 64, 2, 1)


def numbers(tg, i, *shape, seed=0):
    """Different numbers for each call, around zero, of which long sums stay near one."""
    values = np.random.RandomState(100 * seed + i).standard_normal(shape) * 0.1
    return tg.tensor(values.astype(np.float32))


def labels(tg, i, n, classes):
    return tg.tensor(np.random.RandomState(i).randint(0, classes, n))


def trained(tg, model, loss, make_args, optimizer=None):
    """A training step of `model`, whose state is all that it has."""
    optimizer = optimizer or tg.optim.Adam(model.parameters(), lr=0.01)

    def step(*args):
        optimizer.zero_grad()
        value = loss(model, *args)
        value.backward()
        optimizer.step()
        return value

    def state():
        return [*model.parameters(), *model.buffers()]

    return Program(step, make_args, state)


def regression(tg, *layers, optimizer=None):
    """Layers from six features to three targets, with a mean loss."""
    model = tg.nn.Sequential(*layers)
    return trained(
        tg,
        model,
        lambda model, x, y: ((model(x) - y) ** 2).mean(),
        lambda i: (numbers(tg, i, SIZES[i], 6), numbers(tg, i, SIZES[i], 3, seed=1)),
        optimizer and optimizer(model.parameters()),
    )


def linear(tg):
    return regression(tg, tg.nn.Linear(6, 3))


def mlp(tg):
    nn = tg.nn
    return regression(tg, nn.Linear(6, 40), nn.Tanh(), nn.Linear(40, 17), nn.ReLU(), nn.Linear(17, 3))


def wide_mlp(tg):
    nn = tg.nn
    return regression(tg, nn.Linear(6, 130), nn.ReLU(), nn.Linear(130, 260), nn.ReLU(), nn.Linear(260, 3))


def batch_norm(tg):
    """With SGD: the gradients of what comes before a batch norm cancel, for a bias and for two rows to mere roundings,
    which Adam would divide by their own size and make steps of."""
    nn = tg.nn
    layers = nn.Linear(6, 10), nn.BatchNorm1d(10), nn.ReLU(), nn.Linear(10, 3)
    return regression(tg, *layers, optimizer=lambda parameters: tg.optim.SGD(parameters, lr=0.05))


def layer_norm(tg):
    nn = tg.nn
    return regression(tg, nn.Linear(6, 10), nn.LayerNorm(10), nn.GELU(), nn.Linear(10, 3))


def dropout(tg):
    nn = tg.nn
    return regression(tg, nn.Linear(6, 10), nn.Dropout(0.3), nn.ReLU(), nn.Linear(10, 3))


def classifier(tg):
    nn = tg.nn
    return trained(
        tg,
        nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 5)),
        lambda model, x, y: nn.functional.cross_entropy(model(x), y),
        lambda i: (numbers(tg, i, SIZES[i], 6), labels(tg, i, SIZES[i], 5)),
    )


def gathered_loss(tg):
    def loss(model, x, y):
        scores = tg.log_softmax(model(x), 1)
        return -scores.gather(1, y.unsqueeze(1)).mean()

    return trained(
        tg,
        tg.nn.Linear(6, 5),
        loss,
        lambda i: (numbers(tg, i, SIZES[i], 6), labels(tg, i, SIZES[i], 5)),
    )


def embedding(tg):
    nn = tg.nn
    return trained(
        tg,
        nn.Sequential(nn.Embedding(11, 6), nn.Linear(6, 3)),
        lambda model, x, y: (model(x) * y).mean(),
        lambda i: (labels(tg, i, SIZES[i], 11), numbers(tg, i, SIZES[i], 3)),
    )


def forward(tg, function, *shapes):
    """``function(*inputs)``, and the gradients of all inputs; each shape is a function of the size."""

    def step(*inputs):
        leaves = [x.detach().requires_grad_() for x in inputs]
        out = function(*leaves)
        return (out.detach(), *tg.autograd.grad((out * out).sum(), leaves))

    def args(i):
        return tuple(numbers(tg, i, *shape(SIZES[i]), seed=k) for k, shape in enumerate(shapes))

    return Program(step, args)


def of(function, *shapes):
    return lambda tg: forward(tg, lambda *xs: function(tg, *xs), *shapes)


def rows(n):
    return (n, 6)


PARTS = {
    "elementwise": of(lambda tg, x: (x * 2).sin() + 1, rows),
    "mean_of_all": of(lambda tg, x: x.mean(), rows),
    "mean_of_columns": of(lambda tg, x: x.mean(0), rows),
    "sum_of_rows": of(lambda tg, x: x.sum(1), rows),
    "largest_of_columns": of(lambda tg, x: x.amax(0), rows),
    "largest": of(lambda tg, x: x.max(), rows),
    "variance_of_columns": of(lambda tg, x: x.var(0, unbiased=False), rows),
    "softmax_of_rows": of(lambda tg, x: x.softmax(1), rows),
    "softmax_of_columns": of(lambda tg, x: x.softmax(0), rows),
    "logsumexp": of(lambda tg, x: x.logsumexp(1), rows),
    "transposed": of(lambda tg, x: x.t() * 2, rows),
    "gram_of_columns": of(lambda tg, x: x.t() @ x, rows),
    "gram_of_rows": of(lambda tg, x: x @ x.t(), rows),
    "attention_over_rows": of(lambda tg, x: (x @ x.t()).softmax(1) @ x, rows),
    "vector_times_rows": of(lambda tg, x, v: v @ x, rows, lambda n: (n,)),
    "rows_times_vector": of(lambda tg, x: x @ x.sum(0), rows),
    "few_columns": of(lambda tg, x, w: x @ w, rows, lambda n: (6, 2)),
    "one_column": of(lambda tg, x, w: x @ w, rows, lambda n: (6, 1)),
    "long_products": of(lambda tg, x, w: x @ w * 0.1, lambda n: (n, 1100), lambda n: (1100, 20)),
    "batched_products": of(lambda tg, x, w: x @ w, lambda n: (n, 4, 6), lambda n: (n, 6, 5)),
    "flattened": of(lambda tg, x: x.reshape(-1) * 2, lambda n: (n, 2, 3)),
    "images_as_rows": of(lambda tg, x, w: x.flatten(1) @ w, lambda n: (n, 2, 3), lambda n: (6, 4)),
    "merged_with_time": of(lambda tg, x, w: x.reshape(-1, 6) @ w, lambda n: (n, 3, 6), lambda n: (6, 4)),
    "joined_along_the_batch": of(lambda tg, x, y: tg.cat([x, y, x * 2]), rows, lambda n: (n, 6)),
    "joined_with_a_constant": of(lambda tg, x, y: tg.cat([x, y]), rows, lambda n: (3, 6)),
    "stacked": of(lambda tg, x: tg.stack([x, x * 2], 1), rows),
    "without_the_first": of(lambda tg, x: x[:, 1:] * x[:, :-1], rows),
    "row_parts": of(lambda tg, x: x[:1] * 2, rows),
    "all_but_one_row": of(lambda tg, x: x[1:].sum(0), lambda n: (n + 1, 6)),
    "flipped": of(lambda tg, x: x.flip(0) * x, rows),
    "running_sums": of(lambda tg, x: x.cumsum(0), rows),
    "rows_of_pairs": of(lambda tg, x: x.unsqueeze(0) - x.unsqueeze(1), rows),
    "two_lengths": of(lambda tg, x, y: x.mean() * y.mean(), rows, lambda n: (2 * n, 3)),
    "einsum": of(lambda tg, x, y: tg.einsum("bi,bj->ij", x, y), rows, lambda n: (n, 4)),
    "expanded": of(lambda tg, x, y: x.expand(y.shape[0], 6) * y, lambda n: (1, 6), rows),
    "chosen": of(lambda tg, x: tg.where(x > 0, x, x.exp()), rows),
    "norm": of(lambda tg, x: x / (x.norm() + 1), rows),
    "made_inside": of(lambda tg, x: x * tg.arange(x.shape[0]).unsqueeze(1) + tg.ones(x.shape[0], 6), rows),
}


def second_order(tg):
    weight = numbers(tg, 0, 6, 4).requires_grad_()

    def step(x):
        out = (x @ weight).tanh().mean()
        (slope,) = tg.autograd.grad(out, weight, create_graph=True)
        (again,) = tg.autograd.grad((slope * slope).sum() + out, weight)
        return out.detach(), again

    return Program(step, lambda i: (numbers(tg, i, SIZES[i], 6),))


def normalised_for_use(tg):
    layer = tg.nn.BatchNorm1d(6).eval()
    return Program(lambda x: layer(x).detach().mean(0), lambda i: (numbers(tg, i, SIZES[i], 6),))


def random_noise(tg):
    return Program(lambda x: x + tg.rand(x.shape[0], 6), lambda i: (numbers(tg, i, SIZES[i], 6),))


WHOLE = [
    linear,
    mlp,
    wide_mlp,
    layer_norm,
    dropout,
    classifier,
    gathered_loss,
    embedding,
    second_order,
    normalised_for_use,
    random_noise,
]


@pytest.mark.parametrize("make", WHOLE, ids=lambda make: make.__name__)
def test_all_sizes_share_one_program(agree, make):
    step = agree(make, calls=len(SIZES))
    assert step.programs.built == 2, step.programs.notes


#: What is broadcast along the batch is not summed over a batch of one in eager mode, not even to +0: another program.
#: So where a gradient of one row needs no memory of its own.
OTHER_FOR_ONE_ROW = (
    "variance_of_columns", "softmax_of_columns", "attention_over_rows", "rows_of_pairs", "expanded", "transposed",
    "mean_of_columns", "einsum",
)  # fmt: skip


@pytest.mark.parametrize("name", PARTS)
def test_parts_of_programs_share_one_for_all_sizes(agree, name):
    step = agree(PARTS[name], calls=len(SIZES))
    assert step.programs.built == (3 if name in OTHER_FOR_ONE_ROW else 2)


def batches(sizes):
    """Arguments of calls with these sizes."""
    return lambda tg: lambda i: (numbers(tg, i, sizes[i], 6), numbers(tg, i, sizes[i], 3, seed=1))


def with_sizes(make, sizes):
    """The program of `make` with calls of other sizes: batches of six features and three targets."""

    def made(tg):
        program = make(tg)
        return Program(program.step, batches(sizes)(tg), program.state)

    return made


@pytest.mark.parametrize("sizes", [(1, 7, 2, 1, 7), (5, 0, 3, 0, 5), (0, 4, 0, 9), (64, 1, 64, 2), (3, 1000, 5000, 2)])
@pytest.mark.parametrize("make", [linear, mlp, layer_norm], ids=lambda make: make.__name__)
def test_single_rows_no_rows_and_many_rows(agree, make, sizes):
    step = agree(with_sizes(make, sizes), calls=len(sizes))
    assert step.programs.built == 2, step.programs.notes


def test_batch_statistics_are_those_of_each_batch(agree):
    sizes = (32, 7, 33, 2, 100, 32, 7, 2, 64)
    step = agree(with_sizes(batch_norm, sizes), calls=len(sizes))
    assert step.programs.built == 2, step.programs.notes


def test_what_eager_mode_refuses_is_refused_for_its_size_only(tg):
    program = batch_norm(tg)
    step = tg.compile(program.step)
    for n in (8, 5, 3):
        step(numbers(tg, n, n, 6), numbers(tg, n, n, 3))
    with pytest.raises(ValueError, match="more than 1 value per channel"):
        step(numbers(tg, 0, 1, 6), numbers(tg, 0, 1, 3))
    step(numbers(tg, 0, 6, 6), numbers(tg, 0, 6, 3))
    assert step.programs.built == 2, step.programs.notes


def branching(choose):
    """A program whose Python code looks at the size."""

    def make(tg):
        return Program(lambda x: choose(x), lambda i: (numbers(tg, i, SIZES[i], 6),))

    return make


@pytest.mark.parametrize(
    "choose",
    [
        lambda x: x * 2 if x.shape[0] % 2 else x + 1,
        lambda x: x.sum() if len(x) > 50 else x.mean(),
        lambda x: x[:10] * 3,
        lambda x: x[-10:].sum(0),
        lambda x: x * float(len(x)) if x.size(0) == 7 else x * 7,
        lambda x: x / x.numel() ** 0.5 + len(x) ** 2,
        lambda x: x.chunk(3)[0] * 2,
        lambda x: x[: len(x) // 2] * 2,
        lambda x: x[::2].sum(),
        lambda x: x.split(5)[-1] * 2,
    ],
)
def test_code_that_looks_at_the_size_is_asked_for_each(agree, choose):
    agree(branching(choose), calls=len(SIZES))


def test_numbers_made_of_the_size_have_a_value_for_each(agree):
    step = agree(branching(lambda x: (x / len(x) ** 0.5).sum() + 1 / (len(x) + 3.0)), calls=len(SIZES))
    assert step.programs.built == 2, step.programs.notes


def test_two_sizes_vary_on_their_own(agree):
    lengths = ((8, 5), (3, 9), (8, 9), (1, 5), (3, 2), (20, 30), (8, 5), (5, 8), (9, 9), (4, 4))

    def make(tg):
        weight = numbers(tg, 0, 6, 4).requires_grad_()

        def step(x):
            weight.grad = None
            loss = (x.reshape(-1, 6) @ weight).tanh().reshape(*x.shape[:2], 4).mean(1).softmax(1).pow(2).mean()
            loss.backward()
            return loss

        return Program(step, lambda i: (numbers(tg, i, *lengths[i], 6),), lambda: [weight])

    step = agree(make, calls=len(lengths))
    assert step.programs.built == 2, step.programs.notes


def test_sizes_that_meet_by_chance(agree):
    """The batch is as wide as a layer, as the number of classes, as a constant in the code."""
    sizes = (10, 17, 40, 6, 3, 17, 130, 2, 40)
    step = agree(with_sizes(mlp, sizes), calls=len(sizes))
    assert step.programs.built == 2, step.programs.notes


def test_other_dtypes_have_programs_of_their_own(tg):
    def step(x):
        return (x * 2).mean()

    compiled = tg.compile(step)
    for n in (4, 5, 6, 7):
        for dtype in (tg.float32, tg.float64):
            x = numbers(tg, n, n, 3).to(dtype)
            out, expected = compiled(x), step(x)
            assert out.dtype is dtype
            np.testing.assert_allclose(out.numpy(), expected.numpy(), rtol=1e-6)
    assert compiled.programs.built == 4


def test_many_sizes_are_no_endless_series(tg):
    compiled = tg.compile(lambda x: x.mean())
    for n in [*range(1, 60), *range(1, 60)]:
        x = numbers(tg, n, n, 3)
        np.testing.assert_allclose(compiled(x).item(), x.numpy().mean(), rtol=1e-5, atol=1e-7)
    assert compiled.programs.built == 2


def test_a_size_is_recorded_once(tg, c_calls):
    runs = []
    compiled = tg.compile(lambda x: runs.append(1) if False else x * 2)

    for n in (4, 5, 6, 6, 5, 4, 6):
        compiled(numbers(tg, n, n))
    assert len(c_calls) == 4


def test_indices_out_of_range_raise_the_eager_error(tg):
    table = numbers(tg, 0, 7, 3)
    compiled = tg.compile(lambda index: table[index] * 2)
    for n in (4, 5, 6, 6):
        compiled(labels(tg, n, n, 7))
    wrong = tg.tensor([0, 1, 2, 3, 4, 7])
    with pytest.raises(IndexError) as eager:
        table[wrong]
    with pytest.raises(IndexError) as found:
        compiled(wrong)
    assert str(found.value) == str(eager.value)


def test_indices_into_the_batch_are_checked_against_its_size(tg):
    compiled = tg.compile(lambda x, index: x.index_select(0, index))
    for n in (4, 5, 6):
        compiled(numbers(tg, n, n, 3), tg.tensor([n - 1, 0]))
    for n in (5, 6):
        x = numbers(tg, n, n, 3)
        np.testing.assert_array_equal(compiled(x, tg.tensor([n - 1, 0])).numpy(), x.numpy()[[n - 1, 0]])
        with pytest.raises(IndexError):
            compiled(x, tg.tensor([n, 0]))


def test_threads_with_other_sizes_share_the_arena(tg):
    weight = numbers(tg, 0, 6, 50)
    compiled = tg.compile(lambda x: ((x @ weight).tanh() @ weight.t()).sum(1))
    inputs = {n: numbers(tg, n, n, 6) for n in range(3, 60)}
    expected = {n: compiled(x).numpy().copy() for n, x in inputs.items()}
    wrong = []

    def work(sizes):
        for n in sizes * 20:
            if not np.allclose(compiled(inputs[n]).numpy(), expected[n], rtol=1e-5, atol=1e-6):
                wrong.append(n)

    threads = [threading.Thread(target=work, args=(list(inputs)[k::4],)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_program_shows_its_sizes_by_name(tg):
    compiled = tg.compile(lambda x: (x * 2).sum())
    for n in (4, 5):
        compiled(numbers(tg, n, n, 3))
    assert "f32[n0,3]" in str(compiled.graph)
    assert "i0 < n0" in str(compiled.schedule)
    assert "const long n0 = sizes[0];" in compiled.source
    assert not re.search(r"\d{20}", compiled.source + str(compiled.schedule) + str(compiled.graph))


def joined(tg):
    """A compiled model in an eager loop: forward and backward are one program each, for all sizes."""
    nn = tg.nn
    model = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.LayerNorm(12), nn.Linear(12, 3))
    return Program(model, lambda i: (numbers(tg, i, SIZES[i], 6),), lambda: list(model.parameters()))


def test_compiled_models_in_eager_loops_share_programs(tg):
    outcomes = []
    for compiled in (False, True):
        tg.manual_seed(0)
        program = joined(tg)
        model = tg.compile(program.step) if compiled else program.step
        noted = []
        for i in range(len(SIZES)):
            out = model(*program.args(i))
            (out * out).mean().backward()
            noted.append([out.detach().numpy().copy(), *(p.grad.numpy().copy() for p in program.state())])
        outcomes.append(noted)
    for one, other in zip(*outcomes, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    assert (model.programs.built, model.programs.backward.built) == (2, 2)


def test_parts_of_re_recorded_calls_share_programs(agree):
    sizes = (4, 5, 6, 7) * 6

    def make(tg):
        def step(x, y):
            loss = ((x.tanh() - 1) ** 2).mean()
            scale = 2 if loss.item() > 0 else 3
            return (y * scale).sum() / loss

        return Program(step, batches(sizes)(tg))

    step = agree(make, calls=len(sizes))
    segments = step._rerun.segments
    assert (len(segments.programs), segments.sizes.built) == (4, 2)


def test_gradients_of_the_joined_backward_take_numbers_made_of_the_size(tg):
    """The backward of a mean divides by the number of rows, in a program of its own."""
    notes = []
    for wrap in (tg.compile, lambda f: f):
        w = tg.ones(3, dtype=tg.float64, requires_grad=True)
        loss = wrap(lambda x, w=w: ((w - x) ** 2).mean())
        notes.append([])
        for i, n in enumerate((5, 5, 2, 2, 3, 5, 3)):
            loss(numbers(tg, i, n, 3).double()).backward()
            notes[-1].append(w.grad.tolist())
    np.testing.assert_allclose(*notes, rtol=1e-12)


def test_a_part_of_a_re_recorded_call_with_another_number_of_axes_has_a_program_of_its_own(tg):
    def step(x):
        return x * 2 if x.sum() > 0 else x * 3

    compiled = tg.compile(step)
    for i, shape in enumerate([(3, 1)] * 4 + [(4, 1)] * 4 + [()] * 4 + [(2,)] * 3):
        x = tg.tensor(np.random.RandomState(i).standard_normal(shape).astype(np.float32))
        np.testing.assert_array_equal(compiled(x).numpy(), step(x).numpy())
