"""Regions, parts, picks and stacks that plain eager mode makes in one go are those of the ops, with their histories."""

import pytest

import tracegrad as tg
from tracegrad.ops.array import Evaluator
from tracegrad.ops.core import interpreted
from tracegrad.tape.tape import Tape
from tracegrad.tensors.tensor import make

KEYS = [0, -1, 3, slice(1, 3), slice(None, None, 2), slice(2, 1), None, ..., (0, 1), (..., 0), (slice(None), 1)]
KEYS += [(None, 1, slice(1, None)), (1, ..., None), ()]
#: A list is a tensor of its items, a tuple of one item a list.
PICKING = [
    *[([0, 2], [-1, 1]), ([[0], [2]], [1, 1, 0]), ([0, 1], 1), (1, [0, -1]), (-1, [[0, 1]]), ([0, 1], slice(1, 3))],
    *[(slice(None), [2, 0]), (slice(0, 2), [0, 1], ...), (..., [0, 1]), (None, [0, 1]), ([0], None), (1, ..., [0, 1])],
    *[([0, 9], [0, 0]), ([0, 1], [0, 9]), ([0, 1], [0, 1, 0]), ([], []), ([0, 1], [True, False, False, True])],
    *[2, -1, 7, (1, 2), (1, slice(None)), (slice(1, 3),), ((0, 2),), ((0, -1), (1, 0)), ((0, 7),), ((0, 1), slice(2))],
    *[([True, False, True],), ([True, False, True], 1), ([True, False], 1), ([0, 1], slice(None, None, -1)), ([0.5],)],
]


def _picking(key):
    """Numbers and lists as tensors, tuples as lists."""
    if isinstance(key, tuple):
        items = tuple(list(item) if isinstance(item, tuple) else _picking(item) for item in key)
        return items if len(items) > 1 else items[0]
    return tg.tensor(key, dtype=None if key else tg.int64) if isinstance(key, (int, list)) else key


OF_ONE = {
    **{f"x[{key}]": lambda x, key=key: x[key] for key in KEYS},
    "picks": lambda x: x[tg.tensor([2, 0, -1, 2])],
    "picks by a matrix": lambda x: x[tg.tensor([[0, 1], [1, 1]])],
    **{f"x[{key}]": lambda x, key=key: x[_picking(key)] for key in PICKING},
    "no picks": lambda x: x[tg.tensor([], dtype=tg.int64)],
    "mask": lambda x: x[tg.tensor([True, False, True])],
    "mask of all axes": lambda x: x[tg.ones(x.shape, dtype=tg.bool)],
    "unbind": lambda x: x.unbind(),
    "unbind 1": lambda x: x.unbind(1),
    "split": lambda x: x.split(2),
    "split sizes": lambda x: x.split([1, 0, 2]),
    "chunk 1": lambda x: x.chunk(2, 1),
    "tensor_split": lambda x: x.tensor_split(2),
    "iteration": lambda x: tuple(x),
    "narrow": lambda x: x.narrow(1, 1, 2),
    "select": lambda x: x.select(-1, 0),
    "squeeze": lambda x: x[:1].squeeze(0),
    "squeeze all": lambda x: x[:1, :1].squeeze(),
    "unsqueeze": lambda x: x.unsqueeze(-1),
    "transpose": lambda x: x.transpose(0, -1),
    "t": lambda x: x.t() if x.ndim < 3 else x[0].t(),
    "T": lambda x: x.mT,
    "expand": lambda x: x[:1].expand(4, *x.shape[1:]),
    "sum": lambda x: x.sum(),
    "sum 1": lambda x: x.sum(1),
    "sum of all axes": lambda x: x.sum(tuple(range(x.ndim)), keepdim=True),
    "max": lambda x: tuple(x.max(1)),
    "min": lambda x: tuple(x.min(0, keepdim=True)),
    "max of ties": lambda x: tuple((x * 0).max(-1)),
    "max of the whole": lambda x: x.max(),
    "triu": lambda x: x.triu(),
    "tril": lambda x: x.tril(-1),
    "tril of a row": lambda x: x.reshape(-1).tril(),
    "repeat": lambda x: x.repeat(2, *[1] * (x.ndim - 1)),
    "repeat to more axes": lambda x: x.repeat(2, *[2] * x.ndim),
    "repeat to nothing": lambda x: x.repeat(0, *[2] * (x.ndim - 1)),
    "repeat too few": lambda x: x.repeat(2),
}  # fmt: skip
OF_SEVERAL = {
    "stack": lambda xs: tg.stack(xs),
    "stack -1": lambda xs: tg.stack(xs, -1),
    "stack of one": lambda xs: tg.stack(xs[:1], 1),
    "stack of numbers": lambda xs: tg.stack([x.sum() for x in xs]),
    "stack with a constant": lambda xs: tg.stack([xs[0], xs[1].detach(), xs[0]]),
    "cat": lambda xs: tg.cat(xs, 1),
    "hstack": lambda xs: tg.hstack(xs),
    "vstack": lambda xs: tg.vstack([x[0, 0] for x in xs]),
}
WHOLES = {
    "leaf": lambda: tg.arange(12.0).view(3, 4).clone().requires_grad_(),
    "parameter": lambda: tg.nn.Parameter(tg.arange(12.0).view(3, 4)),
    "computed": lambda: tg.arange(12.0).view(3, 4).requires_grad_() * 2,
    "turned": lambda: tg.arange(12.0).view(4, 3).requires_grad_().t(),
    "view": lambda: tg.arange(24.0).view(4, 6).requires_grad_()[1:, ::2][:, :],
    "three axes": lambda: tg.arange(24.0).view(3, 4, 2).clone().requires_grad_(),
    "complex": lambda: tg.ones(3, 4, dtype=tg.complex64).requires_grad_() * 1j,
    "integers": lambda: tg.arange(12).view(3, 4),
    "no history": lambda: tg.arange(12.0).view(3, 4).clone(),
}


def _seen(made, sources, recorded):
    """What can be told of tensors: numbers, memory, their nodes, first and second gradients."""
    outs = made if isinstance(made, tuple) else (made,)
    found = [_facts(out) for out in outs]
    if recorded and sources and any(out.requires_grad for out in outs):
        for create in (True, False):
            total = sum((out * out.conj() * out).real.sum() for out in outs)
            first = tg.autograd.grad(total, sources, retain_graph=True, create_graph=create, allow_unused=True)
            found += [g if g is None else _facts(g)[:3] for g in first]
            if create:
                total = sum((g * g.conj()).real.sum() for g in first if g is not None)
                second = tg.autograd.grad(total, sources, retain_graph=True, allow_unused=True)
                found += [g if g is None else _facts(g)[:3] for g in second]
    return found


def _facts(x):
    node = x.grad_fn
    behind = None if node is None else [each and each.name() for each, _ in node.next_functions]
    steps = () if x.base is None else x.steps  # how a fold's own memory came to its shape is its own affair
    seen = steps, x.base is None, x.viewed_without_grad, x.view_of_several, x._version, node and node.name(), behind
    return x.detach().numpy().tobytes(), x.shape, x.stride(), *seen, x.requires_grad


def _outcome(function, recorded, *whole):
    sources = tuple(make_one() for make_one in whole)
    with tg.set_grad_enabled(recorded):
        try:
            made = function(sources if len(sources) > 1 else sources[0])
        except (IndexError, RuntimeError, ValueError) as error:
            return type(error), str(error)
    return _seen(made, [x for x in sources if x.requires_grad], recorded)


def _by_ops(*args):
    return interpreted(Tape(Evaluator(), make), *args)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("whole", WHOLES)
def test_what_is_made_of_one(whole, recorded):
    for name, function in OF_ONE.items():
        args = function, recorded, WHOLES[whole]
        assert _outcome(*args) == _by_ops(_outcome, *args), name


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("whole", WHOLES)
def test_what_is_made_of_several(whole, recorded):
    for name, function in OF_SEVERAL.items():
        args = function, recorded, WHOLES[whole], WHOLES[whole]
        assert _outcome(*args) == _by_ops(_outcome, *args), name


def test_a_write_to_the_whole_is_followed():
    """A view's node is that of what its base is now."""

    def run():
        x = tg.ones(3, 4, requires_grad=True) * 1
        part, rows = x[1], x[:, 1:3]
        x.mul_(3)
        part.add_(1)
        x[0, 0] = 5
        loss = (part.sum() + rows.sum() + x[0].sum() + tg.stack(list(x)).sum()) ** 2
        return loss.item(), part.grad_fn.name(), rows.grad_fn.name(), x.grad_fn.name()

    assert run() == _by_ops(run)


def test_hooks_and_retained_gradients_of_regions():
    x = tg.ones(2, 3, requires_grad=True)
    y, seen = (x * 2)[0, 1:], []
    y.register_hook(lambda g: seen.append(g.tolist()) or g * 10)
    y.retain_grad()
    y.sum().backward()
    assert seen == [[1, 1]] and y.grad.tolist() == [10, 10] and x.grad.tolist() == [[0, 20, 20], [0, 0, 0]]


def test_a_region_is_one_node_and_a_stack_is_one():
    x = tg.ones(3, 4, requires_grad=True)
    for made, count in [(x[0, 1], 1), (tg.stack([x[0], x[1]]), 2), (x.unbind()[0], 1), (x[:, None, 1:], 1)]:
        assert len(made.grad_fn.edges) == count
        leaf = made.grad_fn.edges[0].node
        assert leaf.name() == ("SelectBackward0" if count == 2 else "torch::autograd::AccumulateGrad")


def test_regions_keep_nothing_so_a_pass_may_come_twice():
    x = tg.ones(3, requires_grad=True)
    y = x[1]
    y.backward()
    y.backward()
    assert x.grad.tolist() == [0, 2, 0]


def test_a_graph_of_eager_mode_ends_in_a_compiled_step():
    x = tg.ones(3, 4, requires_grad=True)

    def step(scale):
        x.grad = None
        loss = (tg.stack([part * scale for part in (*eager, *x[1:, 0])]) ** 2).sum()
        loss.backward()
        return x.grad.clone()

    compiled = tg.compile(step)
    for scale in (1.0, 2.0, 3.0):
        eager = [x[0, 0] * 2, x.unbind()[1][2], x[tg.tensor([0, 2])].sum()]
        expected = step(scale)
        eager = [x[0, 0] * 2, x.unbind()[1][2], x[tg.tensor([0, 2])].sum()]
        assert tg.allclose(compiled(scale), expected)
