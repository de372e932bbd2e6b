"""Checkpointed calls: numbers, the order in which parts of functions run again, and errors."""

import contextlib
import warnings

BODIES = {
    "exp": lambda tg, x, w, log: x.exp(),
    "exp, then linear": lambda tg, x, w, log: noted(x.exp(), log) * 2,
    "product": lambda tg, x, w, log: x * w,
    "nothing is saved": lambda tg, x, w, log: noted(x, log) * 2,
    "chain": lambda tg, x, w, log: noted((x * w).exp(), log).sin(),
    "linear at the end": lambda tg, x, w, log: noted((x * w).sin(), log) + 1,
    "softmax": lambda tg, x, w, log: tg.softmax(x * w, 0) * w,
    "layer_norm": lambda tg, x, w, log: tg.nn.functional.layer_norm(x * w, (2,), w),
    "gelu": lambda tg, x, w, log: noted(tg.nn.functional.gelu(x), log) * w,
    "matmul": lambda tg, x, w, log: (x[:, None] @ w[None]).sum(0),
    "where": lambda tg, x, w, log: tg.where(x > 1, x * w, noted(x, log).exp()),
    "index": lambda tg, x, w, log: x[tg.tensor([1, 0, 1])].exp()[:2] * w,
    "norm": lambda tg, x, w, log: x.norm() * w,
    "logsumexp": lambda tg, x, w, log: noted(tg.logsumexp(x * w, 0), log) * w,
    "cat": lambda tg, x, w, log: tg.cat([x.exp(), noted(w, log).sin()]).exp(),
    "inverse": lambda tg, x, w, log: tg.linalg.inv(tg.diag(x * w)) @ w,
    "detach": lambda tg, x, w, log: (x * w).detach() * x,
    "cross_entropy": lambda tg, x, w, log: tg.nn.functional.cross_entropy((x * w)[None], tg.tensor([1])),
    "dropout": lambda tg, x, w, log: tg.nn.functional.dropout(x * w, 0.5) * w,
    "in place": lambda tg, x, w, log: noted(x * 1, log).mul_(w).sin(),
}  # fmt: skip


def noted(value, log):
    """`value`; that the function has come here is in the log."""
    log.append("middle")
    return value


def steps(body, **options):
    """A training step called three times."""

    def program(tg, log, wrap):
        x, w = leaves(tg)

        def function(x):
            log.append("begin")
            out = body(tg, x, w, log)
            log.append("end")
            return out

        def step(x):
            x.grad = w.grad = None
            loss = tg.utils.checkpoint.checkpoint(function, x, use_reentrant=False, **options).sum()
            log.append("backward")
            loss.backward()
            return loss.detach()

        step, found = wrap(step), []
        for _ in range(3):
            found += [step(x), x.grad, w.grad]
        return found

    return program


def leaves(tg):
    return [tg.tensor(numbers, dtype=tg.float64, requires_grad=True) for numbers in ([0.5, 1.5], [2.0, 3.0])]


def again(function, **options):
    """A function that knows which of its calls this is; then its backward pass."""

    def program(tg, log, wrap):
        x, _ = leaves(tg)

        def called(x):
            log.append("call")
            return function(tg, x, log.count("call"))

        tg.utils.checkpoint.checkpoint(called, x, use_reentrant=False, **options).sum().backward()
        return x.grad

    return program


OTHERWISE = {
    "fewer": lambda tg, x, n: x.exp().sin() if n == 1 else x.exp(),
    "more": lambda tg, x, n: x.exp().sin() if n == 2 else x.exp(),
    "none": lambda tg, x, n: x.exp() if n == 1 else x,
    "shapes": lambda tg, x, n: x[:n].exp(),
    "types": lambda tg, x, n: x.exp() if n == 1 else x.float().exp(),
    "numbers": lambda tg, x, n: (x * n).exp(),
    "error": lambda tg, x, n: x.exp() if n == 1 else 1 / 0,
}
OPTIONS = {
    "": {}, ", to its end": {"early_stop": False}, ", unchecked": {"determinism_check": "none"},
    ", unchecked to its end": {"determinism_check": "none", "early_stop": False},
}  # fmt: skip


def retained(tg, log, wrap):
    x, _ = leaves(tg)
    y = tg.utils.checkpoint.checkpoint(lambda x: noted(x.exp(), log).sin(), x, use_reentrant=False).sum()
    for keep in (True, True, False):
        y.backward(retain_graph=keep)
        log.append("done")
    y.backward()


def partial(tg, log, wrap):
    x, w = leaves(tg)

    def function(x):
        a = noted(x.exp(), log)
        return a, noted(w.sin() * a, log)

    a, b = tg.utils.checkpoint.checkpoint(function, x, use_reentrant=False)
    a.sum().backward(retain_graph=True)
    log.append("done")
    b.sum().backward()
    return x.grad, w.grad


def twice(tg, log, wrap):
    x, _ = leaves(tg)
    y = tg.utils.checkpoint.checkpoint(lambda x: noted(x.exp(), log).sin(), x, use_reentrant=False).sum()
    (g,) = tg.autograd.grad(y, x, create_graph=True)
    log.append("done")
    g.sum().backward()
    return g, x.grad


def nested(tg, log, wrap):
    x, _ = leaves(tg)

    def region(depth):
        def function(x):
            log.append(depth)
            y = x.sin()
            y = tg.utils.checkpoint.checkpoint(region(depth - 1), y, use_reentrant=False) if depth else y
            return noted(y.cos(), log) * y

        return function

    step = wrap(lambda x: tg.utils.checkpoint.checkpoint(region(2), x, use_reentrant=False).sum().backward())
    for _ in range(3):
        step(x)
    return x.grad


def one_node_inside(tg, log, wrap):
    x, _ = leaves(tg)
    checkpoint = tg.utils.checkpoint.checkpoint

    def outer(x):
        return checkpoint(lambda x: noted(x.sin(), log).exp(), noted(x.cos(), log), use_reentrant=True).sin()

    checkpoint(outer, x, use_reentrant=False).sum().backward()
    return x.grad


def gradient_inside(retain, **options):
    def program(tg, log, wrap):
        x, _ = leaves(tg)

        def function(x):
            z = noted(x.sin(), log).cos()
            (g,) = tg.autograd.grad(z.sum(), x, retain_graph=retain)
            return noted(x.cos(), log) * g

        tg.utils.checkpoint.checkpoint(function, x, use_reentrant=False, **options).sum().backward()
        return x.grad

    return program


def custom(reads):
    def program(tg, log, wrap):
        class Exp(tg.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = noted(x.exp(), log)
                ctx.save_for_backward(x, y)
                return y

            @staticmethod
            def backward(ctx, g):
                for _ in range(reads):
                    _, y = ctx.saved_tensors
                return g * y

        x, _ = leaves(tg)
        tg.utils.checkpoint.checkpoint(lambda x: noted(Exp.apply(x * 2), log), x, use_reentrant=False).sum().backward()
        return x.grad

    return program


def random(preserve):
    def program(tg, log, wrap):
        x, _ = leaves(tg)

        def function(x):
            drawn = tg.rand(2, dtype=tg.float64)
            log.append(drawn.tolist())
            return (x * drawn).exp()

        tg.manual_seed(0)
        y = tg.utils.checkpoint.checkpoint(function, x, use_reentrant=False, preserve_rng_state=preserve).sum()
        before = tg.rand(1)
        y.backward()
        return before, tg.rand(1), x.grad

    return program


def running_statistics(tg, log, wrap):
    norm = tg.nn.BatchNorm1d(2).double()
    x = tg.tensor([[1.0, 2.0], [3.0, 5.0], [4.0, 4.0]], dtype=tg.float64)
    step = wrap(lambda x: tg.utils.checkpoint.checkpoint(norm, x, use_reentrant=False).exp().sum().backward())
    for _ in range(5):
        step(x)
    return norm.running_mean, norm.running_var, norm.num_batches_tracked, norm.weight.grad


def autocast(tg, log, wrap):
    x, w = leaves(tg)

    def function(x):
        y = tg.outer(x.float(), w.float())
        log.append(str(y.dtype).rpartition(".")[2])
        return y.float().exp()

    with tg.autocast("cpu", dtype=tg.bfloat16):
        y = tg.utils.checkpoint.checkpoint(lambda x: function(x) @ w.float()[:, None], x, use_reentrant=False)
    y.float().sum().backward()
    return [str(y.dtype).rpartition(".")[2]]


class Noting:
    """A context that notes its begin and end."""

    def __init__(self, log, name):
        self.log, self.name = log, name

    def __enter__(self):
        self.log.append(self.name)

    def __exit__(self, *exc_info):
        self.log.append(f"end of {self.name}")


def contexts(tg, log, wrap):
    x, _ = leaves(tg)
    options = {"use_reentrant": False, "context_fn": lambda: (Noting(log, "first"), Noting(log, "second"))}
    y = tg.utils.checkpoint.checkpoint(lambda x: x.exp(), x, **options).sum()
    y.backward(retain_graph=True)
    y.backward()
    with tg.no_grad():
        tg.utils.checkpoint.checkpoint(lambda x: x.exp(), x, **options)
    return x.grad


def suppressing(debug):
    def program(tg, log, wrap):
        found = contextlib.suppress(Exception), contextlib.nullcontext()
        options = {"use_reentrant": False, "context_fn": lambda: found, "debug": debug}
        return tg.utils.checkpoint.checkpoint(lambda x: 1 / 0, leaves(tg)[0], **options)

    return program


def hooks(inside):
    def program(tg, log, wrap):
        x, _ = leaves(tg)
        around = tg.autograd.graph.saved_tensors_hooks(lambda t: noted(t, log), lambda t: noted(t, log))
        nothing = contextlib.nullcontext()

        def function(x):
            with around if inside else nothing:
                y = x.exp()
            return y.sin()

        with nothing if inside else around:
            y = tg.utils.checkpoint.checkpoint(function, x * 3, use_reentrant=False)
        log.append("backward")
        y.sum().backward()
        return x.grad

    return program


def disabled(tg, log, wrap):
    with tg.autograd.graph.disable_saved_tensors_hooks("not here"):
        tg.utils.checkpoint.checkpoint(lambda x: x.exp(), leaves(tg)[0], use_reentrant=False)


def written(which):
    def program(tg, log, wrap):
        x, w = leaves(tg)
        argument = x * 2
        y = tg.utils.checkpoint.checkpoint(lambda x: x * w, argument, use_reentrant=False)
        with tg.no_grad():
            (argument if which == "argument" else w).add_(1)
        y.sum().backward()
        return x.grad, w.grad

    return program


def named_arguments(tg, log, wrap):
    x, w = leaves(tg)

    def function(x, *, factor, more):
        return {"product": x * factor * more["w"], "list": [noted(x, log).exp()]}

    out = tg.utils.checkpoint.checkpoint(function, x, use_reentrant=False, factor=w, more={"w": w * 2})
    (out["product"].sum() + out["list"][0].sum()).backward()
    return x.grad, w.grad


def sequential(tg, log, wrap):
    x, w = leaves(tg)

    class Layer(tg.nn.Module):
        def forward(self, x):
            log.append("layer")
            return (x * w).sin()

    model = tg.nn.Sequential(*[Layer() for _ in range(5)])
    for segments in (1, 2, 3, 5):
        log.append(segments)
        tg.utils.checkpoint.checkpoint_sequential(model, segments, x, use_reentrant=False).sum().backward()
    return x.grad, w.grad


def settings(tg, log, wrap):
    x, _ = leaves(tg)
    for stop in (False, True):
        with tg.utils.checkpoint.set_checkpoint_early_stop(stop):
            y = tg.utils.checkpoint.checkpoint(
                lambda x: noted(x.exp(), log), x, use_reentrant=False, early_stop=not stop
            )
        y.sum().backward()
        log.append("done")
    return x.grad


def bad_check(tg, log, wrap):
    tg.utils.checkpoint.checkpoint(lambda x: x, leaves(tg)[0], use_reentrant=False, determinism_check=len)


PROGRAMS = {
    **{name: steps(body) for name, body in BODIES.items()},
    **{f"{name}, to its end": steps(body, early_stop=False) for name, body in BODIES.items()},
    **{f"{name}{more}": again(f, **options) for name, f in OTHERWISE.items() for more, options in OPTIONS.items()},
    **{each.__name__: each for each in (retained, partial, twice, nested, one_node_inside, running_statistics)},
    **{each.__name__: each for each in (autocast, contexts, disabled, named_arguments, sequential, settings)},
    "gradient inside, kept": gradient_inside(True), "gradient inside": gradient_inside(False),
    "gradient inside, to its end": gradient_inside(False, early_stop=False),
    "bad check": bad_check, "Function": custom(1), "Function that reads twice": custom(2),
    "random": random(True), "random, not preserved": random(False),
    "suppressed": suppressing(False), "debug with contexts": suppressing(True),
    "hooks inside": hooks(True), "hooks outside": hooks(False),
    "argument written": written("argument"), "variable written": written("variable"),
}  # fmt: skip


def plain(value):
    """Tensors as lists."""
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value.tolist() if hasattr(value, "tolist") else value


def outcome(tg, program, wrap=lambda step: step):
    """What it returns, or its error (the class, and how the text begins); and what it has noted."""
    log = []
    tg.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = plain(program(tg, log, wrap))
        except Exception as error:
            found = [type(error).__name__, str(error)[:90]]
    return {"found": found, "log": plain(log)}


def make(tg):
    return {name: outcome(tg, program) for name, program in PROGRAMS.items()}
