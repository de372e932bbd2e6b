"""What happens outside of the compiled function: optimizers, schedulers, numbers that change, other functions."""

from __future__ import annotations

from typing import Any

from .author import Author
from .expressions import options

# Adam divides gradients by their size: with its usual eps of 1e-8 it would make a step of a rounding error.
OPTIMIZERS = """
SGD({p}, lr=0.1)|SGD({p}, lr=0.05, momentum=0.9)|SGD({p}, lr=0.05, momentum=0.8, nesterov=True, weight_decay=0.1)
SGD({p}, lr=0.05, weight_decay=0.1)|SGD({p}, lr=0.05, momentum=0.9, dampening=0.3, maximize=True)|Adam({p}, lr=0.05, eps=0.1)
AdamW({p}, lr=0.05, eps=0.1, weight_decay=0.1)|Adam({p}, lr=0.05, eps=0.1, amsgrad=True, betas=(0.7, 0.9))
Adam({p}, lr=0.05, eps=0.1, weight_decay=0.1, maximize=True)|AdamW({p}, lr=0.05, eps=0.1, amsgrad=True)
SGD({p}, lr=0.05, momentum=0.9, maximize=True)|SGD({p}, lr=0.05, differentiable=False, foreach=False)
RMSprop({p}, lr=0.02, eps=0.1)|RMSprop({p}, lr=0.02, eps=0.1, centered=True, momentum=0.5)|Adagrad({p}, lr=0.05, eps=0.1)
Adadelta({p}, lr=0.5, eps=0.1)|Adamax({p}, lr=0.02, eps=0.1)|NAdam({p}, lr=0.02, eps=0.1)|RAdam({p}, lr=0.05, eps=0.1)
ASGD({p}, lr=0.05)|Adafactor({p}, lr=0.02, eps=(0.1, 0.1))|LBFGS({p}, lr=0.05, max_iter=1, history_size=2)
"""
# Not drawn: SparseAdam, which takes sparse gradients only, Muon, whose products in bfloat16 enlarge roundings, and Rprop,
# which goes by the signs of gradients: those of a gradient that would be zero are roundings.
SCHEDULERS = """
StepLR({o}, 2, gamma=0.5)|MultiStepLR({o}, [1, 3], gamma=0.3)|ExponentialLR({o}, 0.8)|LambdaLR({o}, lambda e: 1 / (1 + e))
CosineAnnealingLR({o}, 3)|LinearLR({o}, 0.3, total_iters=3)|ConstantLR({o}, 0.3, total_iters=2)|PolynomialLR({o}, 4, power=1.5)
OneCycleLR({o}, 0.1, total_steps=20)|CosineAnnealingWarmRestarts({o}, 2)|MultiplicativeLR({o}, lambda e: 0.9)
CyclicLR({o}, 0.01, 0.1, step_size_up=2, cycle_momentum=False)
ChainedScheduler([tg.optim.lr_scheduler.ExponentialLR({o}, 0.8), tg.optim.lr_scheduler.ConstantLR({o}, 0.3, total_iters=2)])
SequentialLR({o}, [tg.optim.lr_scheduler.ExponentialLR({o}, 0.8), tg.optim.lr_scheduler.StepLR({o}, 2)], [2])
"""
# What a scheduler or a user sets between calls, by the kind of the optimizer that knows it.
SETTINGS = {
    "": "['lr'] *= 0.9|['lr'] = 0.1 / (i + 1)|['weight_decay'] = 0.05 * i|['maximize'] = i % 3 == 1|['lr'] = 0.0 if i == 2 else 0.1",
    "SGD": "['momentum'] = 0.9 - 0.1 * i|['momentum'] = 0.5 * (i % 2)|['dampening'] = 0.1 * i",
    "Adam": "['betas'] = (0.9 - 0.05 * i, 0.95)|['eps'] = 0.1 + 0.05 * i|['betas'] = (0.5, 0.9)",
}
# The numbers of rows of a batch, call by call: short last batches, none at all, sizes that come back.
BATCHES: list[tuple[int, ...]] = [
    (5, 5, 5, 2, 5, 5, 2), (5, 5, 2, 2, 3, 3, 5), (6, 6, 1, 1, 6, 5, 1), (5, 5, 7, 7, 3, 5, 7, 3),
    (5, 5, 0, 0, 5, 2, 0), (6, 3, 6, 3, 3, 1, 6), (5, 1, 1, 2, 2, 5, 1),
]  # fmt: skip
NUMBERS = ["0.5 + 0.25 * i", "1 + i % 3", "1.5", "i", "-0.5 * i", "0.25 * (i % 2)", "1.0 if i < 3 else 2", "i > 2", "i % 2",
           "THRESHOLD if i % 2 else 1.5 * (i + 1) / (i + 1)", "(HALF, 0.25, float('0.5'))[i % 3]"]  # fmt: skip


def owned(parts: Any) -> str:
    """All parameters, each once: modules may share some."""
    names = ", ".join([*parts.parameters, *(f"*{m}.parameters()" for m in parts.modules)])
    return f"list(dict.fromkeys([{names}]))" if parts.shared else f"[{names}]"


# -------------------------------------------------------------------------------------------------------------- setup


def add_optimizer(a: Author, parts: Any) -> None:
    if not (parts.parameters or parts.modules) or not a.chance(0.85):
        return
    text = a.choice(options(OPTIMIZERS))
    everything = owned(parts)
    if len(parts.parameters) > 1 and not parts.shared and a.chance(0.15):
        first, rest = parts.parameters[0], everything.replace(f"{parts.parameters[0]}, ", "", 1)
        everything = f"[{{'params': [{first}]}}, {{'params': {rest}, 'lr': 0.02, 'weight_decay': 0.03}}]"
    parts.optimizer = a.run(f"opt = tg.optim.{text.replace('{p}', everything)}")
    if parts.optimizer and a.chance(0.06):
        a.numbers.append("opt.param_groups[0]['lr']")
    parts.closure = "lambda: tg.zeros(())" if text.startswith("LBFGS") else ""
    parts.settings = SETTINGS[""] + "|" + SETTINGS["SGD" if text.startswith("SGD") else "Adam"]
    if parts.optimizer and a.chance(0.2):
        name = a.choice(options(SCHEDULERS)).replace("{o}", "opt")
        parts.scheduler = a.run(f"plan = tg.optim.lr_scheduler.{name}")


def add_numbers(a: Author, parts: Any) -> None:
    """Python numbers that the step reads from outside and the caller changes."""
    if not a.chance(0.12):
        return
    kind, start, new = a.choice(["dict", "cell", "attribute"]), a.choice(["0.5", "2", "-1.25"]), a.choice(NUMBERS)
    if kind == "cell":
        name = a.new_name("k")
        a.run(f"{name} = {start}")
        parts.cells.append(name)
    else:
        name = "config['k']" if kind == "dict" else "box.k"
        a.run(f"config = {{'k': {start}}}" if kind == "dict" else f"class box:\n    k = {start}")
    a.numbers.append(name)
    parts.changing.append(f"{name} = {new}")


def add_generator(a: Author, parts: Any) -> None:
    if a.chance(0.06):
        parts.generator = a.run("gen = tg.Generator().manual_seed(7)")
        a.functions += [
            "(lambda p: p + tg.randn(p.shape, generator=gen))",
            "(lambda p: p * tg.rand(p.shape, generator=gen))",
        ]


def other_function(a: Author, parts: Any) -> list[str]:
    """A second compiled function over the same state."""
    if not a.chance(0.08):
        return []
    trained = [p for p in parts.parameters if a[p].requires_grad]
    if trained and parts.optimizer and a.chance(0.6):
        w = a.choice(trained)
        body = ["opt.zero_grad()", f"loss = ({w} * {w}).sum() * 0.1", "loss.backward()", f"opt.step({parts.closure})"]
        body.append("return loss")
    else:
        tensors = [*parts.parameters, *parts.buffers] or ["tg.ones(2)"]
        body = [f"return [{', '.join(t + ' * 2' for t in tensors)}]"]
    parts.other = True
    return ["    def second():", *("        " + line for line in body), "    compiled_second = compile(second)", ""]


# ---------------------------------------------------------------------------------------------------- around the calls


def between(a: Author, parts: Any) -> list[str]:
    """What happens outside, before a call."""
    lines = list(parts.changing)
    if a.chance(0.2):
        lines.append(a.choice(["tg.rand(3)", "tg.rand(3)", "tg.randn(2)", "tg.manual_seed(i)"]))
    if parts.buffers and a.chance(0.15):
        lines.append(f"{a.choice(parts.buffers)}.add_(0.5)")
    if parts.buffers and a.chance(0.08):
        name = a.choice(parts.buffers)
        parts.cells.append(name)  # bound to another tensor
        lines.append(f"{name} = {name}" + a.choice([".clone()", " * 0.5", ".detach()", "[...]"]))
    if parts.optimizer and a.chance(0.25):
        lines.append(f"opt.param_groups[-1]{a.choice(options(parts.settings))}")
    if parts.optimizer and a.chance(0.04):
        lines.append("opt.load_state_dict(opt.state_dict())")
    if parts.modules and a.chance(0.2):
        lines.append(f"{a.choice(parts.modules)}.train(i % 2 == 0)")
    if parts.modules and a.chance(0.08):
        m = a.choice(parts.modules)
        lines.append(a.choice([f"{m}.eps = 0.1 + 0.05 * i", f"{m}.p = 0.1 * i", f"{m}.momentum = 0.1 * i",
                               f"{m}.requires_grad_(i % 2 == 0)", f"{m}.zero_grad()"]))  # fmt: skip
    if parts.parameters and a.chance(0.2):
        p = a.choice(parts.parameters)
        lines.append(a.choice([f"{p}.grad = None", f"{p}.requires_grad_(i % 2 == 0)", f"{p}.data = {p}.data * 0.9",
                               f"{p}.grad = tg.ones_like({p}) if i % 2 else None", f"{p}.data.mul_(0.9)"]))  # fmt: skip
    return lines


PLAIN_FORM = "compiled_step = compile(step)"
# What is compiled: mostly the step itself, or what calls it.
FORMS = [
    "compiled_step = compile(lambda *args: step(*args))",
    "compiled_step = compile(functools.partial(step))",
    "def forwarding(*args, **kwargs):\n    return step(*args, **kwargs)\ncompiled_step = compile(forwarding)",
    "@compile\n@functools.wraps(step)\ndef compiled_step(*args):\n    return step(*args)",
    "class Trainer:\n    calls = 0\n\n    def step(self, *args):\n        self.calls += 1\n        return step(*args)\ncompiled_step = compile(Trainer().step)",
    "class Caller:\n    def __call__(self, *args):\n        return step(*args)\ncompiled_step = compile(Caller())",
    "class Whole(nn.Module):\n    def forward(self, *args):\n        return step(*args)\ncompiled_step = compile(Whole())",
    "def packed(given):\n    return step(*given['args'])\ncompiled_packed = compile(packed)\ncompiled_step = lambda *args: compiled_packed({'args': args})",
    "compiled_step = tg.deferred()(step) if compile is tg.compile else step",
]
CALLS = [
    "with concurrent.futures.ThreadPoolExecutor(1) as pool:\n    result = pool.submit({f}, {a}).result()",
    "with tg.deferred() if compile is tg.compile else contextlib.nullcontext():\n    result = {f}({a})",
    "with tg.deferred() if compile is tg.compile else contextlib.nullcontext():\n    result = step({a})",
    "result = {f}(*[{a}])",
    "result = {f}({k})",
    "with warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n    result = {f}({a})",
]


def compiled(a: Author, is_verified: bool) -> list[str]:
    """The lines that make ``compiled_step``."""
    if is_verified or not a.chance(0.12):
        return [PLAIN_FORM]
    return a.choice(FORMS).split("\n")


def called(a: Author, arguments: str, is_plain: bool) -> list[str]:
    """A call of the compiled step; now and then of the function itself, in another way or without derivatives. `is_plain`:
    ``compiled_step`` takes the step's own arguments."""
    function = "(step if i == 3 else compiled_step)" if a.chance(0.12) else "compiled_step"
    if arguments and is_plain and a.chance(0.06):
        named = ", ".join(f"{name}={name}" for name in arguments.split(", "))
        text = a.choice(CALLS).replace("{f}", function).replace("{a}", arguments).replace("{k}", named)
        return text.split("\n")
    call = f"result = {function}({arguments})"
    return [f"with tg.set_grad_enabled(i != {a.choice([1, 3])}):", f"    {call}"] if a.chance(0.03) else [call]


def verified(a: Author, arguments: str) -> list[str]:
    """`verify()` finds nothing, and leaves everything as it is, but for iterators, which nobody can put back. Code that
    asks for its thread has no compiled form."""
    if a.looks or not a.chance(0.04) or any("get_ident() ==" in line or "next(" in line for line in a.lines):
        return []
    call = f"compiled_step.verify({arguments})"
    return [
        f"if i == {a.choice([0, 2])} and compile is tg.compile:",
        f"    report = {call}",
        "    assert report.ok, report",
    ]


def afterwards(a: Author, parts: Any) -> list[str]:
    """What happens with the result: outside training for steps that only compute."""
    lines = []
    if not parts.trains:
        lines = [
            "found = result.values() if isinstance(result, dict) else result if isinstance(result, (list, tuple)) else [result]",
            "ends = [(r * r).sum().double() for r in found if r is not None and r.requires_grad]",
            "if ends:",
            *differentiated(a, parts),
        ]
        if parts.optimizer:
            lines += [f"    opt.step({parts.closure})", "    opt.zero_grad()"]
    if parts.scheduler and not parts.steps_inside:
        lines.append("plan.step()")
    if parts.other:
        lines.append("result = result, compiled_second()")
    return lines


def differentiated(a: Author, parts: Any) -> list[str]:
    """The caller's backward pass over what it was given, now and then of the gradients as well."""
    leaves = ", ".join(parts.parameters)
    if not leaves or not a.chance(0.2):
        return ["    sum(ends).backward()"]
    return [
        f"    asked = [p for p in [{leaves}] if p.requires_grad]",
        "    slopes = tg.autograd.grad(sum(ends), asked, create_graph=True, allow_unused=True) if asked else []",
        "    bends = [(g * g).sum().double() * 0.01 for g in slopes if g is not None and g.requires_grad]",
        "    sum([*ends, *bends]).backward()",
    ]


def looked_at(a: Author, parts: Any) -> str:
    entries = [f"'tensors': [{', '.join([*parts.parameters, *parts.buffers])}]"]
    entries += [f"'{m}': [*{m}.state_dict().values(), *{m}.parameters()]" for m in parts.modules]
    if parts.optimizer:
        entries.append("'opt': opt.state_dict()")
    if parts.scheduler:
        entries.append("'plan': plan.get_last_lr()")
    if parts.generator:
        entries.append("'gen': tg.randint(0, 1000, (3,), generator=gen)")
    if parts.outcomes:
        entries.append(f"'facts': [{', '.join(parts.outcomes)}]")
    if a.looks:
        entries.append("'seen': list(seen), 'counts': dict(counts)")
    return "{" + ", ".join(entries) + "}"
