"""Views that one call returns together: as in PyTorch, none is written to, nor used once its base was."""

import pytest

#: How parts are taken, with what PyTorch says made them; the last one is a view of a part.
WAYS = {
    "x.unbind()": "Unbind",
    "x.unbind(1)": "Unbind",
    "list(x)": "Unbind",
    "[*x]": "Unbind",
    "x.split(1)": "Split",
    "x.split((1, 2))": "SplitWithSizes",
    "x.split_with_sizes([2, 1])": "SplitWithSizes",
    "x.chunk(2)": "Split",
    "tg.split(x, 2)": "Split",
    "[part[0] for part in x.unbind()]": "Select",
}
WRITES = ["part.mul_(2)", "part.zero_()", "part.copy_(w[0])", "part += w[0]", "part.sigmoid_()"]
REFUSED = "is a view and is being modified inplace. This view is the output of a function that returns multiple views"
BEHIND = "is a view and its base or another view of its base has been modified inplace. This view is the output of a fu"
WITHOUT = "A view was created in no_grad mode and {} modified inplace with grad mode enabled. This view is the output"
USES = ["part * 2", "part.sum()", "part[...]", "part.grad_fn", "part.register_hook(print)", "part.retain_grad()"]


def parts_of(tg, x, way):
    parts = eval(way, {"tg": tg, "x": x})
    return parts, [0] * len(parts) if "part[0]" in way else range(len(parts))


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("way", WAYS)
def test_a_write_is_refused(tg, way, write):
    for x in (tg.ones(3, 2, requires_grad=True), tg.ones(3, 2, requires_grad=True) * 1):
        parts, numbers = parts_of(tg, x, way)
        for number, part in zip(numbers, parts, strict=True):
            with pytest.raises(RuntimeError, match=f"Output {number} of {WAYS[way]} {REFUSED}"):
                exec(write, {"part": part, "w": tg.ones(2)})
            with pytest.raises(RuntimeError, match=REFUSED):  # of a view of the part
                part[...] = 1
        assert x.tolist() == [[1.0, 1.0]] * 3


@pytest.mark.parametrize("way", WAYS)
def test_a_write_that_brings_a_history_is_refused(tg, way):
    x, w = tg.ones(3, 2), tg.tensor(2.0, requires_grad=True)
    for part in parts_of(tg, x, way)[0]:
        part.mul_(3)  # without one it is a write like others
        with pytest.raises(RuntimeError, match=WITHOUT.format("is being")):
            part.mul_(w)
    assert not x.requires_grad


@pytest.mark.parametrize("way", WAYS)
def test_none_can_be_used_once_its_base_was_written_to(tg, way):
    def later(x):
        parts, numbers = parts_of(tg, x, way)
        before = [part * 3 for part in parts]
        with tg.set_grad_enabled(not x.is_leaf):
            x.mul_(2)
        return zip(parts, before, numbers, strict=True)

    for x in (tg.ones(3, 2, requires_grad=True), tg.ones(3, 2, requires_grad=True) * 1):
        for part, before, number in later(x):
            for use in USES:
                with pytest.raises(RuntimeError, match=f"Output {number} of {WAYS[way]} {BEHIND}"):
                    eval(use, {"part": part})
            assert part.requires_grad and not part.detach().requires_grad and "grad_fn=<Invalid>" in str(part)
            before.sum().backward(retain_graph=True)  # what was computed earlier has its history


@pytest.mark.parametrize("way", WAYS)
def test_none_can_be_used_once_its_base_has_a_history(tg, way):
    x = tg.ones(3, 2)
    parts = parts_of(tg, x, way)[0]
    x.mul_(tg.tensor(2.0, requires_grad=True))
    for part in parts:
        with pytest.raises(RuntimeError, match=WITHOUT.format("its base or another view of its base has been")):
            part * 2


def test_parts_have_one_node_between_them(tg):
    x = tg.ones(3, 2, requires_grad=True)
    for way, name in [*WAYS.items()][:-1]:
        parts = parts_of(tg, x, way)[0]
        assert {part.grad_fn for part in parts} == {parts[0].grad_fn}
        assert [(part.grad_fn.name(), part.output_nr) for part in parts] == [
            (f"{name}Backward0", i) for i in range(len(parts))
        ]
    empty = tg.ones(0, 2, requires_grad=True)
    assert empty.split(0)[0].grad_fn.name() == "SplitBackward0"
    assert [part.grad_fn.name() for part in empty.chunk(2)] == ["SplitWithSizesBackward0"] * 2


def test_rows_of_a_loop(tg, maybe_compile):
    def step(x):
        total = 0
        for i, row in enumerate(x):
            total = total + (i + 1) * row.square()
        total.sum().backward()
        return total.detach()

    run = maybe_compile(step)
    for _ in range(3):
        x = tg.arange(6.0).view(3, 2).requires_grad_()
        assert run(x).tolist() == [56.0, 94.0]
        assert x.grad.tolist() == [[0.0, 2.0], [8.0, 12.0], [24.0, 30.0]]


def test_a_compiled_function_notices_a_write_behind_a_view(tg):
    w = tg.ones(3, 2, requires_grad=True)
    part = w.unbind()[1]
    step = tg.compile(lambda x: (x * part).sum())
    for _ in range(2):
        assert step(tg.ones(2)).item() == 2.0
    with tg.no_grad():
        w.mul_(2)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=f"Output 1 of Unbind {BEHIND}"):
            step(tg.ones(2))


def test_extents_of_an_axis_without_elements(tg):
    for axis, shape in ((0, (0, 2)), (-1, (2, 0))):
        for count in (1, 2, 3):
            assert [tuple(part.shape) for part in tg.zeros(shape).chunk(count, axis)] == [shape] * count


def test_rows_of_a_class_that_indexes_in_a_way_of_its_own(tg):
    class Sevens(tg.Tensor):
        def __getitem__(self, index):
            return 7

    class Sevenths(tg.nn.Parameter):
        def __getitem__(self, index):
            return 7

    assert [row.tolist() for row in tg.ones(2, 2).as_subclass(Sevens)] == [[1.0, 1.0]] * 2
    with tg.no_grad():
        assert [row.tolist() for row in Sevenths(tg.ones(2, 2))] == [[1.0, 1.0]] * 2


def test_rows_without_a_history_are_made_when_they_are_asked_for(tg):
    x = tg.zeros(3, 2)
    for i, row in enumerate(x):
        row += i
        if i < 2:
            x[i + 1] += 1
    assert x.tolist() == [[0.0, 0.0], [2.0, 2.0], [3.0, 3.0]]
