"""Hooks that the library calls, of code whose globals are no module's that Python knows: loaded by importlib without
being entered in ``sys.modules``, or run by exec()."""

import sys
import types

import pytest

SOURCE = """
heard = []

def note(*_):
    heard.append(len(heard))

model = tg.nn.Sequential(tg.nn.Linear(3, 3), tg.nn.ReLU())
optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

def step(x):
    optimizer.zero_grad()
    loss = model(x).sum()
    loss.backward()
    optimizer.step()
    return loss

def hooked(register):
    handle = register()
    compiled = tg.compile(step)
    for i in range(5):
        compiled(tg.full((2, 3), float(i)))
    handle.remove()
    return len(heard)
"""

HOOKS = {
    "all optimizers, before": lambda tg, of: tg.optim.optimizer.register_optimizer_step_pre_hook(of["note"]),
    "all optimizers, after": lambda tg, of: tg.optim.optimizer.register_optimizer_step_post_hook(of["note"]),
    "all modules, before": lambda tg, of: tg.nn.modules.module.register_module_forward_pre_hook(of["note"]),
    "all modules, after": lambda tg, of: tg.nn.modules.module.register_module_forward_hook(of["note"]),
    "all modules, backward": lambda tg, of: tg.nn.modules.module.register_module_full_backward_hook(of["note"]),
    "an optimizer, before": lambda tg, of: of["optimizer"].register_step_pre_hook(of["note"]),
    "an optimizer, after": lambda tg, of: of["optimizer"].register_step_post_hook(of["note"]),
    "a module, before": lambda tg, of: of["model"].register_forward_pre_hook(of["note"]),
    "a module, after": lambda tg, of: of["model"][1].register_forward_hook(of["note"]),
    "a module, backward": lambda tg, of: of["model"][1].register_full_backward_hook(of["note"]),
    "a leaf": lambda tg, of: of["model"][0].weight.register_hook(of["note"]),
    "a leaf, accumulated": lambda tg, of: of["model"][0].weight.register_post_accumulate_grad_hook(of["note"]),
}
CALLED = {"all modules, before": 3, "all modules, after": 3, "all modules, backward": 3}  # times a step; others once


@pytest.fixture(params=["a known module", "a module", "another module's name", "a dict", "a dict without builtins"])
def namespace(request, monkeypatch):
    if request.param == "a dict":
        return {}
    if request.param == "a dict without builtins":
        return {"__builtins__": {"float": float, "len": len, "range": range}}
    made = types.ModuleType("__main__" if request.param == "another module's name" else "plugin_of_the_test")
    if request.param == "a known module":
        monkeypatch.setitem(sys.modules, "plugin_of_the_test", made)
    return vars(made)


@pytest.mark.parametrize("hook", HOOKS)
def test_hooks_are_called_at_each_step(tg, namespace, hook):
    namespace["tg"] = tg
    exec(compile(SOURCE, "plugin_of_the_test.py", "exec"), namespace)
    called = namespace["hooked"](lambda: HOOKS[hook](tg, namespace))
    assert called == 5 * CALLED.get(hook, 1)
