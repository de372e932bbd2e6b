"""What PyTorch's modules have imported themselves is found there, and names that are nowhere are refused."""

import importlib
import sys
from types import ModuleType

import pytest

from tracegrad import shim
from tracegrad.shim.finder import is_shown
from tracegrad.shim.paths import library_names, table

SHOWN = [path for path in table() if is_shown(path)]


@pytest.fixture(autouse=True)
def torch():
    if isinstance(sys.modules.get("torch"), ModuleType) and not hasattr(sys.modules["torch"], "__homes__"):
        pytest.skip("PyTorch itself has been imported into this process")
    with shim.install():
        yield importlib.import_module("torch")


@pytest.mark.parametrize("path", [path for path in library_names() if is_shown(path)])
def test_names_of_pythons_library_are_the_librarys(path):
    """``from torch.nn.functional import math``: the module's own imports, where this Python has them."""
    if path.startswith("torch.utils.tensorboard"):
        pytest.importorskip("tensorboard")
    shown = importlib.import_module(path)
    for place, names in library_names()[path].items():
        for name in names.split():
            library = None if place == "" else importlib.import_module(place)
            if library is None:
                assert getattr(shown, name) is importlib.import_module(name)
            elif hasattr(library, name):
                assert getattr(shown, name) == getattr(library, name)


@pytest.mark.parametrize("path", SHOWN)
def test_a_name_that_is_nowhere_is_refused(path):
    """``try: from torch.nn.modules.linear import _LinearWithBias`` falls back to what a program does without it."""
    if path.startswith("torch.utils.tensorboard"):
        pytest.importorskip("tensorboard")
    shown = importlib.import_module(path)
    for name in ("_NowhereToBeFound", "nowhere_to_be_found"):
        assert not hasattr(shown, name)
        with pytest.raises(ImportError):
            exec(f"from {path} import {name}", {})
        with pytest.raises(ImportError):
            importlib.import_module(f"{path}.{name}")


def found_at(path, *names):
    """What ``from path import names`` gives."""
    scope = {}
    exec(f"from {path} import {', '.join(names)}", scope)
    return scope[names[0]] if len(names) == 1 else tuple(scope[name] for name in names)


@pytest.mark.parametrize(
    "name",
    "_size_any_t _size_1_t _size_2_t _size_3_t _size_4_t _size_6_t _size_2_opt_t _ratio_2_t _ratio_any_t".split(),
)
def test_types_of_sizes_are_annotations(name):
    found = found_at("torch.nn.common_types", name)
    assert int in found.__args__ or float in found.__args__
    assert found | None


def test_types_of_sizes_are_where_layers_import_them():
    size = found_at("torch.nn.common_types", "_size_2_t")
    assert found_at("torch.nn.modules.conv", "_size_2_t") is found_at("torch.nn.modules.pooling", "_size_2_t") is size
    assert found_at("torch.distributions.distribution", "_size") is found_at("torch.types", "_size")


@pytest.mark.parametrize("numels", [(1,), (3,), (1, 2, 1), (2, 2), (1, 4, 2)])
def test_the_standard_basis_is_an_identity_in_parts(torch, numels):
    basis = found_at("torch.autograd.functional", "_construct_standard_basis_for")
    parts = basis([torch.zeros(n) for n in numels], numels)
    assert [part.shape[1] for part in parts] == list(numels)
    assert torch.equal(torch.cat(parts, 1), torch.eye(sum(numels)))


@pytest.mark.parametrize("outer", [True, False])
@pytest.mark.parametrize("inner", [True, False])
def test_tuples_are_unpacked_as_they_were_packed(outer, inner):
    nest = ((1,), (2,))
    expected = nest if inner else (1, 2)
    unpacked = found_at("torch.autograd.functional", "_tuple_postprocess")(nest, (outer, inner))
    assert unpacked == (expected if outer else expected[0])


def test_the_old_vmap_lets_none_through(torch):
    vmap = found_at("torch._vmap_internals", "_vmap")
    w, unused = (torch.ones(3, requires_grad=True) for _ in range(2))
    cubes = w**3

    def vjp(v):
        return torch.autograd.grad(cubes, [w, unused], v, retain_graph=True, allow_unused=True)

    of_w, of_unused = vmap(vjp, allow_none_pass_through=True)(torch.eye(3))
    assert torch.equal(of_w, 3 * torch.eye(3)) and of_unused is None
    assert torch.equal(vmap(lambda v: vjp(v)[0])(torch.eye(3)), 3 * torch.eye(3))


@pytest.mark.parametrize("name", "functionalize grad grad_and_value hessian jacfwd jacrev jvp vjp vmap".split())
def test_functorch_is_torch_func(name, torch):
    assert found_at("functorch", name) is getattr(torch.func, name)


def test_functorch_makes_functions_of_modules(torch):
    make, with_buffers, combine = found_at(
        "functorch", "make_functional", "make_functional_with_buffers", "combine_state_for_ensemble"
    )
    x = torch.randn(4, 3)
    linear, norms = torch.nn.Linear(3, 2), [torch.nn.BatchNorm1d(3).eval() for _ in range(2)]
    function, parameters = make(linear)
    assert torch.equal(function(parameters, x), linear(x)) and parameters[0] is not linear.weight
    assert not make(linear, disable_autograd_tracking=True)[1][0].requires_grad
    function, parameters, buffers = with_buffers(norms[0])
    assert torch.equal(function(parameters, buffers, x), norms[0](x))
    function, parameters, buffers = combine(norms)
    out = torch.func.vmap(function, in_dims=(0, 0, None))(parameters, buffers, x)
    assert torch.equal(out, torch.stack([norm(x) for norm in norms]))
    with pytest.raises(RuntimeError, match="`model` has buffers"):
        make(norms[0])
    with pytest.raises(RuntimeError, match="of the same class"):
        combine([linear, norms[0]])


def test_names_of_overrides_are_where_programs_look(torch):
    """Code that was copied from ``torch/nn/functional.py`` asks there."""
    functional = torch.nn.functional
    assert functional.has_torch_function is torch.overrides.has_torch_function
    assert functional.handle_torch_function is torch.overrides.handle_torch_function


def cubic(x):
    """A cubic with its least value at 1 and its largest at -1, and its slope."""
    return x**3 / 3 - x, x**2 - 1


@pytest.mark.parametrize("left, right", [(0.0, 2.0), (2.0, 0.0), (0.5, 3.0), (0.9, 1.0)])
def test_the_least_value_of_a_cubic_between_two_points(left, right):
    interpolated = found_at("torch.optim.lbfgs", "_cubic_interpolate")
    ends = (left, *cubic(left), right, *cubic(right))
    assert interpolated(*ends) == pytest.approx(1.0)
    assert interpolated(*ends, bounds=(1.2, 1.5)) == 1.2
    assert interpolated(0.0, 0.0, 1.0, 2.0, 4.0, 1.0, bounds=(0.0, 2.0)) == pytest.approx(0.0)
    assert interpolated(0.0, 0.0, 1.0, 2.0, 1.5, 1.0, bounds=(0.5, 1.5)) == 1.0  # no least value: the middle


@pytest.mark.parametrize("length", [0.001, 0.1, 1.0, 10.0])
def test_a_line_search_ends_where_the_conditions_hold(torch, length):
    def evaluated(x, t, d):
        at = (x + t * d).requires_grad_()
        loss = (at**4).sum() + (3 * at).sin().sum()
        loss.backward()
        return loss.item(), at.grad

    x = torch.linspace(-1, 2, 5)
    f, g = evaluated(x, 0, x)
    d = -g
    loss, gradient, t, count = found_at("torch.optim.lbfgs", "_strong_wolfe")(evaluated, x, length, d, f, g, g.dot(d))
    assert loss <= f + 1e-4 * t * float(g.dot(d)) and abs(float(gradient.dot(d))) <= -0.9 * float(g.dot(d))
    assert (loss, count > 0) == (evaluated(x, t, d)[0], True)
