"""Settings of the process that programs ask for, set between calls; warnings of the library, under each filter."""

import itertools
import warnings

import pytest

from tracegrad.tracing.settings import Setting
from tracegrad.tracing.user_warning import once

CALLS = 8


def switched(module, name, asked):
    return lambda on: getattr(module, name)(on), getattr(module, asked)


def settings(tg):
    """By name: what sets it to one of two values, and what a program asks."""
    cuda, mha, shared = tg.backends.cuda, tg.backends.mha, tg.multiprocessing
    found = {
        "deterministic": switched(tg, "use_deterministic_algorithms", "are_deterministic_algorithms_enabled"),
        "warn_only": (
            lambda on: tg.use_deterministic_algorithms(True, warn_only=on),
            tg.is_deterministic_algorithms_warn_only_enabled,
        ),
        "debug_mode": (lambda on: tg.set_deterministic_debug_mode(int(on)), tg.get_deterministic_debug_mode),
        "precision": (
            lambda on: tg.set_float32_matmul_precision("high" if on else "highest"),
            lambda: tg.get_float32_matmul_precision() == "high",
        ),
        "warn_always": switched(tg, "set_warn_always", "is_warn_always_enabled"),
        "fastpath": switched(mha, "set_fastpath_enabled", "get_fastpath_enabled"),
        "sharing": (
            lambda on: shared.set_sharing_strategy("file_system" if on else "file_descriptor"),
            lambda: shared.get_sharing_strategy() == "file_system",
        ),
        "autocast": (lambda on: tg.set_autocast_enabled("cpu", on), lambda: tg.is_autocast_enabled("cpu")),
        "grad mode": switched(tg, "set_grad_enabled", "is_grad_enabled"),
    }
    for kind in ("flash", "math", "mem_efficient", "cudnn"):
        found[f"{kind} attention"] = switched(cuda, f"enable_{kind}_sdp", f"{kind}_sdp_enabled")
    return found


NAMES = (
    "deterministic", "warn_only", "debug_mode", "precision", "warn_always", "fastpath", "sharing", "autocast",
    "grad mode", "flash attention", "math attention", "mem_efficient attention", "cudnn attention",
)  # fmt: skip
DEFAULTS = {"fastpath", "grad mode", "flash attention", "math attention", "mem_efficient attention", "cudnn attention"}


@pytest.fixture
def put_back(tg):
    """All settings are afterwards as they were."""
    strategy = tg.multiprocessing.get_sharing_strategy()
    yield
    for name, (put, _) in settings(tg).items():
        put(name in DEFAULTS)
    tg.use_deterministic_algorithms(False)
    tg.multiprocessing.set_sharing_strategy(strategy)


@pytest.mark.parametrize("name", NAMES)
def test_a_program_that_asks_for_a_setting_sees_what_it_is_now(tg, put_back, name):
    put, asked = settings(tg)[name]
    step = tg.compile(lambda x: x * 2 + 1 if asked() else x * 2)
    for i, period in itertools.product(range(CALLS), (3, 1)):
        on = i // period % 2 == 1
        put(on)
        assert step(tg.ones(2)).tolist() == [3.0 if on else 2.0] * 2, (i, period)


def test_all_settings_are_asked_for():
    """Those that are of one class: a new one comes into the table above."""
    assert set(NAMES) == set(settings(__import__("tracegrad")))
    assert isinstance(once.always, Setting)


def test_a_function_that_sets_one_is_not_replayed(tg, put_back):
    def function(x):
        tg.set_float32_matmul_precision("high")
        return x * 2

    step = tg.compile(function)
    for _ in range(4):
        tg.set_float32_matmul_precision("highest")
        step(tg.ones(2))
        assert tg.get_float32_matmul_precision() == "high"


# ---------------------------------------------------------------------------------------------------------- warnings


def square(tg):
    return lambda x: tg.nn.functional.mse_loss(x, x.sum(0, keepdim=True))


def softmax(tg):
    return lambda x: tg.nn.functional.softmax(x)


def gradient_of_a_result(tg):
    w = tg.ones(3, requires_grad=True)

    def function(x):
        y = x * w
        return y.detach() if y.grad is None else y

    return function


def old_name(tg):
    return lambda x: x * 2 if tg.is_autocast_cpu_enabled() else x * 3


def old_option(tg):
    return lambda x: tg.nn.functional.mse_loss(x, x * 2, size_average=True)


def once_in_a_process(tg):
    return lambda x: tg.stack([x, x]).T.sum()


def in_a_step(tg):
    model = tg.nn.Linear(3, 1)
    tg.nn.init.ones_(model.weight), tg.nn.init.zeros_(model.bias)
    optimizer = tg.optim.SGD(model.parameters(), lr=0.01)

    def function(x):
        optimizer.zero_grad()
        loss = tg.nn.functional.mse_loss(model(x), x.sum(1))
        loss.backward()
        optimizer.step()
        return loss.detach()

    return function


WARNING = (square, softmax, gradient_of_a_result, old_name, old_option, once_in_a_process, in_a_step)
FILTERS = {name: [name] for name in ("always", "default", "once", "error", "ignore")}
FILTERS["changing"] = ["ignore", "always", "error", "default"]


def told(tg, make, filters, way):
    """What each call gives, an error's class among it, and the warnings that come with it."""
    warnings.resetwarnings()
    globals().pop("__warningregistry__", None)
    once.texts.clear()
    step, found = make(tg), []
    step = tg.compile(step) if way == "compiled" else step
    with warnings.catch_warnings(record=True) as caught:
        for i in range(CALLS):
            warnings.simplefilter(filters[i % len(filters)])
            before = len(caught)
            try:
                outcome = step(tg.ones(2, 3) * i).reshape(-1).tolist()
            except Warning as error:
                outcome = type(error)
            found.append((outcome, [(str(w.message), w.category, w.filename, w.lineno) for w in caught[before:]]))
    return found


@pytest.mark.parametrize("filters", FILTERS.values(), ids=FILTERS)
@pytest.mark.parametrize("make", WARNING, ids=lambda make: make.__name__)
def test_the_same_warnings_come_at_each_call(tg, make, filters):
    for (expected, said), (actual, also) in zip(
        told(tg, make, filters, "eager"), told(tg, make, filters, "compiled"), strict=True
    ):
        assert actual == expected if isinstance(expected, type) else actual == pytest.approx(expected, rel=1e-5)
        assert also == said


def _crc32(tg, i):
    tg.serialization.set_crc32_options(i % 2 == 0)


def _trust(tg, i):
    tg.serialization.clear_safe_globals()
    tg.serialization.add_safe_globals([complex] * (i % 2))


@pytest.mark.parametrize(
    ("change", "ask"),
    [
        (_crc32, lambda tg: 1 + tg.serialization.get_crc32_options()),
        (_trust, lambda tg: 1 + len(tg.serialization.get_safe_globals())),
    ],
)
def test_settings_of_files_are_read_at_each_call(tg, change, ask):
    step = tg.compile(lambda x: x * ask(tg))
    try:
        for i in range(6):
            change(tg, i)
            assert step(tg.ones(2)).tolist() == [ask(tg)] * 2
    finally:
        change(tg, 0)
