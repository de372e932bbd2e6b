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


CLASSES = """
class Counter:
    count = 0

    def next(self):
        self.count += 1
        return self.count

class Model(tg.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.calls = tg.nn.Parameter(tg.ones(3)), 0

    def forward(self, x):
        self.calls += 1
        return x * self.weight * self.calls

class Own(tg.optim.Optimizer):
    def __init__(self, parameters, lr):
        super().__init__(parameters, {"lr": lr})

class Growing(Own):
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                self.taken = getattr(self, "taken", 0.0) + 0.1
                with tg.no_grad():
                    p.sub_(p.grad * group["lr"] * self.taken)

def counting():
    counter = Counter()
    return lambda x: x * counter.next()

def calling():
    model = Model()
    return lambda x: model(x).sum()

def optimizing():
    weight = tg.nn.Parameter(tg.ones(3))
    optimizer = Growing([weight], lr=0.1)

    def step(x):
        optimizer.zero_grad()
        (weight * x).sum().backward()
        optimizer.step()
        return weight.detach().clone()

    return step
"""


@pytest.mark.parametrize("program", ["counting", "calling", "optimizing"])
def test_attributes_change_at_each_call(tg, namespace, program):
    namespace["tg"] = tg
    namespace["__builtins__"] = __builtins__
    exec(compile(CLASSES, "plugin_of_the_test.py", "exec"), namespace)
    eager, compiled = namespace[program](), tg.compile(namespace[program]())
    for i in range(6):
        assert compiled(tg.full((3,), float(i))).tolist() == eager(tg.full((3,), float(i))).tolist()
