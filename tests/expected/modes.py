"""Grad and inference modes that are entered and left in any order: what holds after each step.

A program is four steps: a new object of a kind is made and entered, or one of those before is entered again or left.
"""

KINDS = {
    "no_grad": lambda tg: tg.no_grad(),
    "enable_grad": lambda tg: tg.enable_grad(),
    "set_grad_enabled(True)": lambda tg: tg.set_grad_enabled(True),
    "set_grad_enabled(False)": lambda tg: tg.set_grad_enabled(False),
    "inference_mode(True)": lambda tg: tg.inference_mode(True),
    "inference_mode(False)": lambda tg: tg.inference_mode(False),
}
STEPS = 4


def programs(kind, length=STEPS):
    """All programs that begin with an object of the kind: tuples of ("new", kind), ("enter" or "leave", number)."""
    return list(_continued((("new", kind),), length))


def _continued(steps, length):
    if len(steps) == length:
        yield steps
        return
    made = sum(name == "new" for name, _ in steps)
    further = [("new", kind) for kind in KINDS]
    further += [(name, number) for number in range(made) for name in ("enter", "leave")]
    for step in further:
        yield from _continued((*steps, step), length)


def take(tg, step, objects):
    name, which = step
    if name == "new":
        objects.append(KINDS[which](tg))
        objects[-1].__enter__()
    elif name == "enter":
        objects[which].__enter__()
    else:
        objects[which].__exit__(None, None, None)


def state(tg, w):
    """One hexadecimal digit."""
    y = w * 2
    bits = tg.is_grad_enabled(), tg.is_inference_mode_enabled(), y.requires_grad, y.is_inference()
    return f"{sum(2**i for i, bit in enumerate(bits) if bit):x}"


def digits(tg, program, w):
    """The state after each step, and when the objects are gone, the oldest first."""
    objects, found = [], ""
    for step in program:
        take(tg, step, objects)
        found += state(tg, w)
    while objects:
        del objects[0]
    return found + state(tg, w)


def digits_from_the_start(tg, program, w):
    """The same from the modes in which a thread begins, which are put back."""
    with tg.inference_mode(False):
        return digits(tg, program, w)


def make(tg):
    w = tg.ones(1, requires_grad=True)
    return {kind: "".join(digits_from_the_start(tg, program, w) for program in programs(kind)) for kind in KINDS}
