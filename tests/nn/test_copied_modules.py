"""``copy.deepcopy`` of modules gives what it gives of any object, whatever classes say of being copied."""

import copy
import copyreg

import pytest


def plain(tg):
    class Plain(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.scale = tg.nn.Linear(2, 3), tg.nn.Parameter(tg.ones(3))
            self.register_buffer("offset", tg.zeros(3), persistent=False)
            self.sizes, self.name, self.options = [1, [2]], "plain", {"a": {1, 2}}
            self.nothing, self.empty = None, set()

        def forward(self, x):
            return self.layer(x) * self.scale + self.offset

    return Plain


def own_getstate(tg):
    class Own(plain(tg)):
        def __getstate__(self):
            return {**super().__getstate__(), "name": "copied"}

    return Own


def own_setstate(tg):
    class Own(plain(tg)):
        def __setstate__(self, state):
            super().__setstate__(state)
            self.name = "set"

    return Own


def state_of_another_kind(tg):
    class Own(plain(tg)):
        def __getstate__(self):
            return list(self.__dict__.items())

        def __setstate__(self, state):
            super().__setstate__(dict(state))

    return Own


def no_state(tg):
    class Own(plain(tg)):
        def __getstate__(self):
            return None

    return Own


def own_reduce(tg):
    class Own(plain(tg)):
        def __reduce__(self):
            return made_by, (type(self), "reduced")

    return Own


def own_reduce_ex(tg):
    class Own(plain(tg)):
        def __reduce_ex__(self, protocol):
            return made_by, (type(self), f"reduced for {protocol}")

    return Own


def itself(tg):
    class Own(plain(tg)):
        def __reduce__(self):
            return "Own"

    return Own


def new_arguments(tg):
    class Own(plain(tg)):
        def __new__(cls, name="new"):
            made = super().__new__(cls)
            made.__dict__["given"] = name
            return made

        def __init__(self, name="new"):
            super().__init__()

        def __getnewargs__(self):
            return ("again",)

    return Own


def registered(tg):
    Own = plain(tg)
    copyreg.pickle(Own, lambda module: (made_by, (type(module), "registered")))
    return Own


def a_dict(tg):
    class Own(plain(tg), dict):
        __hash__ = tg.nn.Module.__hash__

        def __init__(self):
            super().__init__()
            self["entry"] = [1, 2]

    return Own


def behind(tg):
    class Copied:
        def __deepcopy__(self, memo):
            made = type(self)()
            made.name = "of the class behind"
            return made

    class Own(plain(tg), Copied):
        pass

    return Own


def own_deepcopy(tg):
    class Own(plain(tg)):
        def __deepcopy__(self, memo):
            made = type(self)()
            made.name = "its own"
            return made

    return Own


def made_by(kind, name):
    made = kind()
    made.name = name
    return made


KINDS = (
    plain, own_getstate, own_setstate, state_of_another_kind, no_state, own_reduce, own_reduce_ex, itself,
    new_arguments, registered, a_dict, behind, own_deepcopy,
)  # fmt: skip


def as_it_is(tg, model):
    pass


def hooks(tg, model):
    model.hook = model.register_forward_hook(lambda module, args, out: out)
    model.register_state_dict_pre_hook(lambda *args: None)


def shared(tg, model):
    model.again, model.lists = model.layer, [model.sizes, model.sizes, model.layer, model.scale]


def a_circle(tg, model):
    model.options["model"] = model
    model.layer.lists = [model]


def tables_beside(tg, model):
    model.tables = [model._forward_hooks, model.layer._buffers, model.empty]


def frozen(tg, model):
    model.eval().requires_grad_(False)
    model.layer.weight.grad = tg.ones(3, 2)


CHANGES = (as_it_is, hooks, shared, a_circle, tables_beside, frozen)


def described(value, seen, tg):
    """All that hangs on an object, with what is one object in it."""
    if id(value) in seen:
        return f"number {seen[id(value)]}"
    atomic = (int, float, str, bytes, type(None), tg.dtype)
    if isinstance(value, atomic) or callable(value) and not isinstance(value, tg.nn.Module):
        return value
    seen[id(value)] = len(seen)
    kind = type(value).__qualname__
    if isinstance(value, tg.Tensor):
        return kind, value.tolist(), value.requires_grad, None if value.grad is None else value.grad.tolist()
    items = []
    if isinstance(value, dict):
        items += [(str(k), described(v, seen, tg)) for k, v in dict.items(value)]
    elif isinstance(value, (list, tuple)):
        items += [described(each, seen, tg) for each in value]
    elif isinstance(value, set):
        items += sorted(value)
    own = getattr(value, "__dict__", {})
    return kind, items, [(k, described(v, seen, tg)) for k, v in dict.items(own)]


def copied(tg, model):
    tg.manual_seed(1)  # some kinds make their copies by calling the class
    return copy.deepcopy({"first": model, "second": [model, model.layer]})


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_copy_is_what_a_copy_of_any_object_is(tg, monkeypatch, change):
    for kind in KINDS:
        tg.manual_seed(0)
        model = kind(tg)()
        change(tg, model)
        given = copied(tg, model)
        if kind is behind:
            assert given["first"].name == "of the class behind"
        with monkeypatch.context() as patched:
            patched.delattr(tg.nn.Module, "__deepcopy__")
            wanted = copied(tg, model)
        assert described(given, {}, tg) == described(wanted, {}, tg), kind.__name__
        assert given["second"][0] is given["first"]
        assert (given["first"] is model) is (kind is itself)


def test_a_parametrized_module_is_copied_by_its_own_method_or_its_class(tg):
    """Where a class has a ``__deepcopy__`` of the program's, wherever it stands, that is used."""

    class Doubled(tg.nn.Module):
        def forward(self, x):
            return x * 2

    for kind in (plain, behind, own_deepcopy):
        model = kind(tg)()
        tg.nn.utils.parametrize.register_parametrization(model, "scale", Doubled())
        if kind is plain:
            copied = copy.deepcopy(model)
            assert type(copied) is not type(model) and copied.scale.tolist() == [2.0] * 3
        else:
            assert "__deepcopy__" not in vars(type(model))
