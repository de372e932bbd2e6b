"""Checkpointed calls with ``use_reentrant=True``: what the function does, what requires gradients, how they are asked.

Each program is a step that is done several times; what it notes of the first and of the last is what is stored. Steps
that note nothing are there, too: those are what a compiled function may do without Python.
"""

import collections
import warnings

Pair = collections.namedtuple("Pair", "first second")
STEPS = 3


class Nothing:
    """A log that keeps nothing."""

    def append(self, what):
        pass

    def clear(self):
        pass


def checkpoint(tg, function, *args, **options):
    return tg.utils.checkpoint.checkpoint(function, *args, **{"use_reentrant": True, **options})


class Call:
    """What functions have at hand: a variable that they read, the log, a module."""

    def __init__(self, tg, w, log):
        self.tg, self.w, self.log = tg, w, log
        self.norm = tg.nn.BatchNorm1d(2).double()


def drawn(call, x, y):
    numbers = call.tg.rand(2, dtype=call.tg.float64)
    call.log.append(numbers.tolist())
    return x * numbers * call.w


def unrecorded(call, x, y):
    with call.tg.no_grad():
        z = x * 2
    return z * y * call.w


def recorded(call, x, y):
    """Recorded in the first run, too, of which nothing remains."""
    with call.tg.enable_grad():
        z = x * call.w
    call.log.append(z.requires_grad)
    return z * y


def differentiated(call, x, y):
    with call.tg.enable_grad():
        z = x.detach().requires_grad_()
        (g,) = call.tg.autograd.grad((z * z).sum(), z)
    return g * x * call.w


def passed_back(call, x, y):
    with call.tg.enable_grad():
        (call.w * 3).sum().backward()
    return x * call.w


def hooked(call, x, y):
    z = x * call.w
    if z.requires_grad:
        z.register_hook(lambda g: call.log.append(g.tolist()))
    return z * y


def written(call, x, y):
    z = x * 1
    z.mul_(call.w)
    return z, z[0]


def written_argument(call, x, y):
    return x.mul_(2) * call.w


def cast(call, x, y):
    with call.tg.autocast("cpu", dtype=call.tg.bfloat16):
        z = call.tg.outer(x.float(), y.float())
    call.log.append(str(z.dtype).rpartition(".")[2])
    return z.double() * call.w


def nested(**options):
    def function(call, x, y):
        inner = lambda x: BODIES["product"](call, x, y).sin()  # noqa: E731
        return checkpoint(call.tg, inner, x * 2, **options) * call.w

    return function


def normalised(call, x, y):
    out = call.norm(call.tg.stack([x, y, call.w]))
    call.log.append(int(call.norm.num_batches_tracked))
    return out


def other(first, later):
    """What is done in the first run of each step, and what in the others, which have a graph."""

    def function(call, x, y):
        return (later if call.tg.is_grad_enabled() else first)(call, x, y)

    return function


BODIES = {
    "product": lambda call, x, y: x * y * call.w,
    "of the first": lambda call, x, y: x * call.w,
    "of the variable": lambda call, x, y: call.w * 2,
    "constant": lambda call, x, y: call.tg.ones(2, dtype=call.tg.float64),
    "detached": lambda call, x, y: (x * call.w).detach(),
    "tuple": lambda call, x, y: (x * call.w, y * 3, (x * y).sum()),
    "tuple of one": lambda call, x, y: (x * call.w,),
    "tuple with a constant": lambda call, x, y: (x * 2, call.tg.ones(2, dtype=call.tg.float64), call.w * y),
    "named tuple": lambda call, x, y: Pair(x * call.w, y * 3),
    "list": lambda call, x, y: [x * call.w, y * 3],
    "dict": lambda call, x, y: {"a": x * call.w, "b": y * 3},
    "nest": lambda call, x, y: (x * call.w, [y * 3], {"a": x * 5}),
    "what is no tensor": lambda call, x, y: (x * call.w, 3, None, "text"),
    "nothing": lambda call, x, y: None,
    "integers": lambda call, x, y: (x.long(), x * call.w, x > 1),
    "the argument": lambda call, x, y: x,
    "the argument, and more": lambda call, x, y: (x, x * call.w),
    "a view": lambda call, x, y: (x[0], (x * call.w)[1:]),
    "one twice": lambda call, x, y: (z := x * call.w, z)[:1] * 2,
    "in place": written,
    "argument written": written_argument,
    "dropout": lambda call, x, y: call.tg.nn.functional.dropout(x * call.w, 0.5) * y,
    "drawn": drawn,
    "no_grad inside": unrecorded,
    "enable_grad inside": recorded,
    "grad() inside": differentiated,
    "backward() inside": passed_back,
    "hook": hooked,
    "autocast": cast,
    "statistics": normalised,
    "nested": nested(),
    "another kind within": nested(use_reentrant=False),
    "another type": other(lambda call, x, y: x * call.w, lambda call, x, y: (x * call.w).float()),
    "another shape": other(lambda call, x, y: x * call.w, lambda call, x, y: (x * call.w)[:1]),
    "fewer": other(lambda call, x, y: (x * call.w, y * 3), lambda call, x, y: (x * call.w,)),
    "more": other(lambda call, x, y: (x * call.w,), lambda call, x, y: (x * call.w, y * 3)),
    "error": other(lambda call, x, y: x * call.w, lambda call, x, y: 1 / 0),
    "error at once": lambda call, x, y: x.view(3),
}  # fmt: skip


def tensors(tg, nest):
    """All tensors in what a function has returned."""
    if isinstance(nest, tg.Tensor):
        return [nest]
    parts = nest.values() if isinstance(nest, dict) else nest if isinstance(nest, (list, tuple)) else ()
    return [x for part in parts for x in tensors(tg, part)]


def noted(tg, found, log):
    kinds = [[x.requires_grad, x.dtype.is_floating_point, type(x.grad_fn).__name__] for x in tensors(tg, found)]
    log.append([type(found).__name__, kinds])


def not_noted(tg, found, log):
    """In the place of `noted`, whose text alone makes a compiled function re-record its calls."""


def sums(tg, found):
    return [x.sum() for x in tensors(tg, found) if x.requires_grad]


def of_first(tg, found, leaves):
    sums(tg, found)[0].backward()


def of_last(tg, found, leaves):
    sums(tg, found)[-1].backward()


def of_all(tg, found, leaves):
    tg.autograd.backward(sums(tg, found))


def weighted(tg, found, leaves):
    (sum(sums(tg, found)) ** 2).backward()


def kept(tg, found, leaves):
    total = sum(sums(tg, found))
    total.backward(retain_graph=True)
    total.backward()


def again(tg, found, leaves):
    total = sum(sums(tg, found))
    total.backward()
    total.backward()


def recorded_pass(tg, found, leaves):
    (sum(sums(tg, found)) ** 2).backward(create_graph=True)
    return [x.grad.requires_grad for x in leaves if x.grad is not None]


def second_order(tg, found, leaves):
    (sum(sums(tg, found)) ** 2).backward(create_graph=True)
    sum((x.grad**2).sum() for x in leaves if x.grad is not None).backward()


def by_grad(tg, found, leaves):
    outputs = sums(tg, found)
    return tg.autograd.grad(sum(outputs), leaves, allow_unused=True) if outputs else None


def by_inputs(tg, found, leaves):
    sum(sums(tg, found)).backward(inputs=leaves)


def not_at_all(tg, found, leaves):
    return None


ASKS = (of_first, of_last, of_all, weighted, kept, again, recorded_pass, second_order, by_grad, by_inputs, not_at_all)
#: Which of x, y and the variable w require gradients, and whether the arguments are leaves.
REQUIRING = {"xyw": True, "xw": False, "yw": True, "w": True, "xy": False, "": True}
#: Everything by one way to ask, one function in all ways, and the rest by turns.
PROGRAMS = {
    f"{body}, {ask.__name__} by {requiring}": (body, ask, requiring)
    for i, body in enumerate(BODIES)
    for j, ask in enumerate(ASKS)
    for k, requiring in enumerate(REQUIRING)
    if (ask is of_all and requiring in ("xyw", "w"))
    or (body in ("product", "tuple") and requiring == "xyw")
    or (i + j + k) % 7 == 0
}


def step_of(tg, name, log):
    """The step of a program: what it returns is what can be looked at in a compiled function, too."""
    body, ask, requiring = PROGRAMS[name]
    first, second, w = (
        tg.tensor(numbers, dtype=tg.float64, requires_grad=letter in requiring)
        for letter, numbers in zip("xyw", ([0.5, 1.5], [2.0, 3.0], [-1.0, 4.0]), strict=True)
    )
    leaves = [each for letter, each in zip("xyw", (first, second, w), strict=True) if letter in requiring]
    call, note = Call(tg, w, log), noted if isinstance(log, list) else not_noted

    def function(x, y):
        log.append(["called", tg.is_grad_enabled(), x.requires_grad, x.is_leaf])
        return BODIES[body](call, x, y)

    def step():
        first.grad = second.grad = w.grad = None
        x, y = (first * 1, second * 1) if not REQUIRING[requiring] or body == "argument written" else (first, second)
        found = checkpoint(tg, function, x, y)
        note(tg, found, log)
        more = ask(tg, found, leaves)
        gradients = [None if x.grad is None else x.grad.detach().clone() for x in (first, second, w)]
        return [x.detach() for x in tensors(tg, found)], gradients, more

    return step


def plain(value):
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value.tolist() if hasattr(value, "tolist") else value


def outcome(tg, name, wrap=lambda step: step, notes=True):
    """Of the first and the last step: results, gradients, what was noted and warned; or the error."""
    tg.manual_seed(0)
    log = [] if notes else Nothing()
    step, found = wrap(step_of(tg, name, log)), []
    for _ in range(STEPS):
        log.clear()
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                result = plain(step())
            except Exception as error:
                # The first line: before Python 3.11 notes are part of the text.
                result = [type(error).__name__, str(error).partition("\n")[0][:40]]
        texts = sorted({str(each.message)[:40] for each in warned if "None of the inputs" in str(each.message)})
        found.append([result, plain(log) if notes else None, texts])
    return [found[0], found[-1]]


def make(tg):
    return {name: outcome(tg, name) for name in PROGRAMS}
