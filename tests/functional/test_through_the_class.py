"""Operators called through the class, and in-place products whose tensor has not the result's size: as PyTorch does."""

import operator

import pytest

import tracegrad as tg

NAMES = "add sub mul truediv pow matmul mod floordiv and or xor lshift rshift".split()
COMPARISONS = "eq ne lt le gt ge".split()
METHODS = [f"__{form}{name}__" for name in NAMES for form in ("", "r", "i") if form + name != "imatmul"]
METHODS += [f"__{name}__" for name in COMPARISONS]
#: PyTorch has these in Python: they compute with a number in front, and leave what is none to the other side.
OF_NUMBERS = {"__rpow__", "__rmod__", "__floordiv__", "__rfloordiv__", "__rlshift__", "__rrshift__"}
LEFT = OF_NUMBERS | {"__rsub__", "__rmatmul__", "__pow__", "__ipow__"}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("self", [2, "a", None], ids=repr)
def test_self_is_no_tensor(method, self):
    called = getattr(tg.Tensor, method)
    x = tg.tensor([1, 2])
    if method in OF_NUMBERS and self == 2:
        name = method.strip("_").removeprefix("r")
        compute = getattr(operator, name)
        operands = (2, x) if method[2] != "r" else (x, 2)
        assert called(2, x).tolist() == compute(*operands).tolist()
    elif method in LEFT:
        assert called(self, x) is NotImplemented
    elif method == "__rtruediv__":
        with pytest.raises(AttributeError, match="has no attribute 'reciprocal'"):
            called(self, x)
    else:
        with pytest.raises(TypeError, match=r"descriptor '__\w+__' for .* objects doesn't apply to a"):
            called(self, x)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "matmul"])
def test_reflected_operators_compute_through_the_class(name):
    x = tg.tensor([1, 2])
    compute = getattr(operator, {"and": "and_", "or": "or_"}.get(name, name))
    got, expected = getattr(tg.Tensor, f"__r{name}__")(x, 5), compute(5, x)
    assert got.dtype is expected.dtype and got.tolist() == expected.tolist()


IN_PLACE = {
    "addmm_": ((3, 4), (4, 3), [(3,), (1, 3), (1,)]),
    "addmv_": ((3, 4), (4,), [(1,), ()]),
    "baddbmm_": ((2, 3, 4), (2, 4, 3), [(3, 1), (1,), (1, 3, 3)]),
}


@pytest.mark.parametrize("name, size", [(name, size) for name in IN_PLACE for size in IN_PLACE[name][2]])
def test_added_products_keep_the_size_of_their_tensor(name, size):
    first, second, _ = IN_PLACE[name]
    x = tg.zeros(size)
    with pytest.raises(RuntimeError, match="Bad in-place call: input tensor size .* and output tensor size .* match"):
        getattr(x, name)(tg.ones(first), tg.ones(second))
    assert not x.any()


@pytest.mark.parametrize("size, match", [((1,), "2D tensor expected, got 1D"), ((3, 1), "size mismatch, input: ")])
def test_addr_wants_its_own_size(size, match):
    with pytest.raises(RuntimeError, match=match):
        tg.zeros(size).addr_(tg.ones(3), tg.ones(4))


@pytest.mark.parametrize("size", [(3,), (1,), (1, 3), (), (3, 3)])
def test_addbmm_makes_its_tensor_as_large_as_the_result(size):
    factors = tg.ones(2, 3, 4), tg.ones(2, 4, 3)
    x = tg.ones(size)
    assert x.addbmm_(*factors) is x
    assert x.tolist() == tg.addbmm(tg.ones(size), *factors).tolist() == [[9.0] * 3] * 3


def test_addbmm_is_resized_in_the_memory_that_is_there():
    memory = tg.zeros(9)
    memory[:1].addbmm_(tg.ones(2, 3, 4), tg.ones(2, 4, 3))
    assert memory.tolist() == [8.0] * 9


def test_addbmm_of_another_size_has_its_gradients():
    weight = tg.ones(2, 3, 4, requires_grad=True)
    start = tg.ones(1, requires_grad=True)
    x = start * 2
    x.addbmm_(weight, tg.ones(2, 4, 3))
    x.sum().backward()
    assert start.grad.tolist() == [18.0] and weight.grad.unique().tolist() == [3.0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        start.addbmm_(weight, tg.ones(2, 4, 3))


def test_addbmm_of_another_size_is_compiled_as_it_is_eager():
    def step(a, b):
        x = tg.ones(1)
        y = x.addbmm_(a, b)
        return x * 2, y.shape

    compiled = tg.compile(step)
    for call in range(3):
        a, b = tg.full((2, 3, 4), call + 1.0), tg.ones(2, 4, 3)
        (got, shape), (expected, own) = compiled(a, b), step(a, b)
        assert got.tolist() == expected.tolist() and shape == own
