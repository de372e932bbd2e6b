"""Dicts of hooks, which programs read and change: the hooks themselves under the numbers of their handles."""

import copy
import itertools
import pickle
from collections import OrderedDict

import pytest


def before(module, args):
    return tuple(x + 1 for x in args)


def before_with_kwargs(module, args, kwargs):
    return tuple(x + 2 for x in args), kwargs


def after(module, args, output):
    return output * 3


def after_with_kwargs(module, args, kwargs, output):
    return output * 5


def backwards(module, grad_input, grad_output):
    return tuple(g if g is None else g * 7 for g in grad_input)


def before_backward(module, grad_output):
    return tuple(g * 11 for g in grad_output)


def of_state(module, *rest):
    return None


def of_own_state(module, *rest):
    return None


#: name: (the dict, how a hook comes into it, the hook, in which other dicts it is marked)
REGISTERED = {
    "pre": ("_forward_pre_hooks", lambda m, h: m.register_forward_pre_hook(h), before, ()),
    "pre_kwargs": (
        "_forward_pre_hooks", lambda m, h: m.register_forward_pre_hook(h, with_kwargs=True), before_with_kwargs,
        ("_forward_pre_hooks_with_kwargs",),
    ),
    "after": ("_forward_hooks", lambda m, h: m.register_forward_hook(h), after, ()),
    "after_kwargs": (
        "_forward_hooks", lambda m, h: m.register_forward_hook(h, with_kwargs=True), after_with_kwargs,
        ("_forward_hooks_with_kwargs",),
    ),
    "always": (
        "_forward_hooks", lambda m, h: m.register_forward_hook(h, always_call=True), after,
        ("_forward_hooks_always_called",),
    ),
    "both": (
        "_forward_hooks", lambda m, h: m.register_forward_hook(h, always_call=True, with_kwargs=True, prepend=True),
        after_with_kwargs, ("_forward_hooks_with_kwargs", "_forward_hooks_always_called"),
    ),
    "backward_pre": ("_backward_pre_hooks", lambda m, h: m.register_full_backward_pre_hook(h), before_backward, ()),
    "backward": ("_backward_hooks", lambda m, h: m.register_full_backward_hook(h), backwards, ()),
    "old_backward": ("_backward_hooks", lambda m, h: m.register_backward_hook(h), backwards, ()),
    "state_pre": ("_state_dict_pre_hooks", lambda m, h: m.register_state_dict_pre_hook(h), of_state, ()),
    "state": ("_state_dict_hooks", lambda m, h: m.register_state_dict_post_hook(h), of_state, ()),
    "own_state": ("_state_dict_hooks", lambda m, h: m._register_state_dict_hook(h), of_own_state, ()),
    "loaded": ("_load_state_dict_post_hooks", lambda m, h: m.register_load_state_dict_post_hook(h), of_state, ()),
}  # fmt: skip
MARKS = ("_forward_pre_hooks_with_kwargs", "_forward_hooks_with_kwargs", "_forward_hooks_always_called")
COPIES = {"same": lambda m: m, "deepcopy": copy.deepcopy, "pickle": lambda m: pickle.loads(pickle.dumps(m))}


def outcome(tg, module):
    """What a call and its backward pass give."""
    x = tg.arange(3.0).requires_grad_()
    out = module(x)
    out.sum().backward()
    return out.tolist(), x.grad.tolist()


@pytest.mark.filterwarnings("ignore:Using")
@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("kind", REGISTERED)
def test_a_table_holds_the_hook(tg, kind, way):
    table, register, hook, marks = REGISTERED[kind]
    module = tg.nn.Hardtanh()
    plain = outcome(tg, module)
    handle = register(module, hook)
    hooked = outcome(tg, module)
    copied = COPIES[way](module)
    found = getattr(copied, table)
    assert isinstance(found, OrderedDict) and dict(found) == {handle.id: hook}
    for mark in MARKS:
        assert dict(getattr(copied, mark)) == ({handle.id: True} if mark in marks else {})
    assert outcome(tg, copied) == hooked and (hooked == plain) is (hook in (of_state, of_own_state))
    assert copied.load_state_dict(copied.state_dict()) is not None
    handle.remove()
    assert all(not getattr(module, name) for name in (table, *marks)) and outcome(tg, module) == plain


@pytest.mark.parametrize("clear", ["clear", "pop", "del", "assign"])
@pytest.mark.parametrize("kind", ["pre", "pre_kwargs", "after", "both", "backward"])
def test_a_table_is_emptied_and_filled(tg, kind, clear):
    table, register, hook, marks = REGISTERED[kind]
    module = tg.nn.Hardtanh()
    plain = outcome(tg, module)
    handle = register(module, hook)
    hooked, hooks = outcome(tg, module), getattr(module, table)
    if clear == "clear":
        hooks.clear()
    elif clear == "pop":
        hooks.pop(handle.id)
    elif clear == "del":
        del hooks[handle.id]
    else:
        setattr(module, table, OrderedDict())
    assert outcome(tg, module) == plain
    getattr(module, table)[handle.id] = hook  # the marks are still there
    assert outcome(tg, module) == hooked


def test_a_hook_of_states_is_of_one_kind(tg):
    module = tg.nn.Hardtanh()
    module.register_state_dict_post_hook(of_state)
    with pytest.raises(RuntimeError, match="Cannot register the same function as the state dict post hook"):
        module._register_state_dict_hook(of_state)


def test_a_hook_under_a_number_of_the_program(tg):
    module = tg.nn.Hardtanh()
    kind = type(module.register_forward_hook(after))
    module._forward_hooks.clear()
    handle = kind(
        module._forward_hooks, extra_dict=[module._forward_hooks_with_kwargs, module._forward_hooks_always_called]
    )
    module._forward_hooks[handle.id] = after_with_kwargs
    module._forward_hooks_with_kwargs[handle.id] = True
    assert module(tg.ones(1)).tolist() == [5.0]
    handle.remove()
    assert not module._forward_hooks and not module._forward_hooks_with_kwargs
    assert module(tg.ones(1)).tolist() == [1.0]


def test_the_order_is_that_of_the_table(tg):
    module = tg.nn.Hardtanh(-100, 100)
    first, second = module.register_forward_hook(after), module.register_forward_hook(lambda m, args, out: out + 1)
    assert module(tg.ones(1)).tolist() == [4.0]
    module._forward_hooks.move_to_end(first.id)
    assert list(module._forward_hooks) == [second.id, first.id] and module(tg.ones(1)).tolist() == [6.0]


@pytest.mark.filterwarnings("ignore:Using")
@pytest.mark.parametrize("full, again", itertools.product([True, False], repeat=2))
def test_backward_hooks_are_of_one_kind_from_the_first_on(tg, full, again):
    kinds = {True: tg.nn.Module.register_full_backward_hook, False: tg.nn.Module.register_backward_hook}
    module = tg.nn.Hardtanh()
    kinds[full](module, backwards).remove()
    assert module._is_full_backward_hook is full
    if again is full:
        kinds[again](module, backwards)
    else:
        with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"):
            kinds[again](module, backwards)


# ------------------------------------------------------------------------------------------------- tensors, optimizers


def tripled(grad):
    return grad * 3


def test_hooks_of_tensors(tg):
    leaf = tg.ones(2, requires_grad=True)
    inner = leaf * 2
    for tensor in (leaf, inner):
        assert tensor._backward_hooks is None
        handle = tensor.register_hook(tripled)
        assert isinstance(tensor._backward_hooks, OrderedDict) and dict(tensor._backward_hooks) == {handle.id: tripled}
    inner.sum().backward(retain_graph=True)
    assert leaf.grad.tolist() == [18.0, 18.0]
    leaf._backward_hooks.clear()
    inner._backward_hooks.popitem()
    leaf.grad = None
    inner.sum().backward()
    assert leaf.grad.tolist() == [2.0, 2.0] and not leaf._backward_hooks


def test_post_accumulate_hooks_of_tensors(tg):
    seen = []
    leaf = tg.ones(2, requires_grad=True)
    assert leaf._post_accumulate_grad_hooks is None
    handle = leaf.register_post_accumulate_grad_hook(seen.append)
    assert dict(leaf._post_accumulate_grad_hooks) == {handle.id: seen.append}
    leaf.sum().backward()
    leaf._post_accumulate_grad_hooks.clear()
    leaf.sum().backward()
    assert len(seen) == 1 and seen[0] is leaf


STEPS = ["_optimizer_step_pre_hooks", "_optimizer_step_post_hooks"]


@pytest.mark.parametrize("table", STEPS)
def test_hooks_of_optimizers(tg, table):
    calls = []

    def hook(optimizer, args, kwargs):
        calls.append(len(args))

    optimizer = tg.optim.SGD([tg.nn.Parameter(tg.ones(1))])
    handle = getattr(optimizer, f"register{table[10:-1]}")(hook)
    assert isinstance(getattr(optimizer, table), OrderedDict) and dict(getattr(optimizer, table)) == {handle.id: hook}
    optimizer.step()
    getattr(optimizer, table).clear()
    optimizer.step()
    assert len(calls) == 1


# ------------------------------------------------------------------------------------------------------------ compiled


@pytest.mark.parametrize("serve", ["replayed", "re-recorded"])
@pytest.mark.parametrize("kind", [kind for kind in REGISTERED if "state" not in kind and kind != "loaded"])
@pytest.mark.filterwarnings("ignore:Using")
def test_compiled_calls_see_what_becomes_of_tables(kind, serve):
    import_tg = pytest.importorskip("tracegrad")
    table, register, hook, marks = REGISTERED[kind]
    module = import_tg.nn.Hardtanh(-100, 100)
    handle = register(module, hook)
    kept = []

    def eager(x):
        x = x.detach().requires_grad_()
        out = module(x)
        out.sum().backward()
        if serve == "re-recorded":
            kept.append(1)
        return out.detach(), x.grad

    step, x = import_tg.compile(eager), import_tg.arange(3.0)

    def agree():
        assert [y.tolist() for y in step(x)] == [y.tolist() for y in eager(x)]

    def changes():
        yield lambda: None
        yield lambda: getattr(module, table).clear()
        yield lambda: getattr(module, table).__setitem__(handle.id, hook)
        for mark in marks:
            yield lambda mark=mark: setattr(module, mark, OrderedDict(getattr(module, mark)))
        yield lambda: setattr(module, table, OrderedDict())
        yield lambda: getattr(module, table).__setitem__(handle.id, hook)
        yield lambda: getattr(module, table).clear()

    for change in changes():
        change()
        for _ in range(3):
            agree()
