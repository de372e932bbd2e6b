"""Whatever goes wrong between C and a loaded program: no result is lost, nothing is done twice, one warning says why.

Each kind of program (function, sizes, backward pass, part of a backward pass, segments, parts) is met by each fault,
from the first build on or from a later one, and must then do what the function does eagerly, call by call.
"""

import itertools
import math
import shutil
import stat
import warnings

import pytest

from tracegrad.compiled.lazy import backward_program as joined
from tracegrad.runtime import provide
from tracegrad.runtime.errors import CacheUnusable, CompileFailed, LoadFailed, RuntimeFault, ToolchainMissing

CALLS = 5


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """An empty cache, and a process that has not warned yet."""
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(provide, "_said", set())
    monkeypatch.setattr(provide, "_not_loaded_from", {})
    private = {}
    monkeypatch.setattr(provide, "_private", private)
    yield
    for folder in private.values():
        shutil.rmtree(folder, ignore_errors=True)


# ---------------------------------------------------------------------------------------------- programs of each kind


def function(tg, compiled):
    w = tg.ones(3)
    step = compiled(lambda x: w.add_(x).sum())
    for i in range(CALLS):
        yield step(tg.full((3,), float(i))).tolist(), w.tolist()


def sizes(tg, compiled):
    total = tg.zeros(1)
    step = compiled(lambda x: total.add_((x * x).sum()))
    for i in range(2 * CALLS):
        yield step(tg.full((3 + i % CALLS,), 2.0)).tolist(), total.tolist()


def backward(tg, compiled):
    w = tg.full((3,), 2.0, requires_grad=True)
    model = compiled(lambda x: (x * w * w).sum())
    for i in range(CALLS):
        loss = model(tg.full((3,), float(i)))
        loss.backward()
        yield loss.item(), w.grad.tolist()


def part_of_backward(tg, compiled):
    w, v = (tg.full((3,), value, requires_grad=True) for value in (2.0, 3.0))
    model = compiled(lambda x: ((x * w).sum(), (x * v * w).sum()))
    for i in range(CALLS):
        model(tg.full((3,), float(i)))[i % 2].backward()
        yield [None if t.grad is None else t.grad.tolist() for t in (w, v)]


def segments(tg, compiled):
    w, seen = tg.ones(3), []

    def one(x):
        y = (w * x).exp().sum()
        if y > 0:
            seen.append(y.item())
        w.mul_(0.5).add_(x * 0.25).sub_(0.125)
        return y

    step = compiled(one)
    for i in range(CALLS):
        yield step(tg.full((3,), i / 4)).item(), w.tolist(), list(seen)


def parts(tg, compiled):
    model = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.Tanh(), tg.nn.Linear(4, 4), tg.nn.Tanh(), tg.nn.Linear(4, 1))
    with tg.no_grad():
        for i, p in enumerate(model.parameters()):
            p.fill_(0.1 * (i + 1))
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    def one(x):
        optimizer.zero_grad()
        loss = (model(x) ** 2).mean()
        loss.backward()
        if loss.item() > 0:
            optimizer.step()
        return loss

    step = compiled(one)
    for i in range(CALLS + 2):
        yield step(tg.full((2, 3), i / 4)).item(), [p.tolist() for p in model.parameters()]


KINDS = [function, sizes, backward, part_of_backward, segments, parts]


def flat(tree):
    if isinstance(tree, list | tuple):
        return list(itertools.chain.from_iterable(map(flat, tree)))
    return [math.nan if tree is None else tree]  # no gradient


def served(tg, kind):
    """What the calls give, compared with eager ones; the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = list(kind(tg, tg.compile))
    expected = list(kind(tg, lambda f: f))
    assert flat(found) == pytest.approx(flat(expected), rel=1e-5, nan_ok=True)  # sums and exp differ in roundings
    return [w for w in caught if issubclass(w.category, RuntimeWarning)]


# ------------------------------------------------------------------------------------------------------------- faults

COMPILER = (
    'case "$*" in *-dM*) exec {cc} "$@";; esac\nout=; for a in "$@"; do [ "$last" = -o ] && out=$a; last=$a; done\n'
)
BODIES = {"fails": "echo no licence >&2; exit 3", "writes nothing": "exit 0", "writes garbage": "echo garbage > $out"}
BODIES |= {"is killed": "kill -9 $$"}


def compiler(folder, body, good):
    """A compiler that works `good` times and then no more."""
    real = shutil.which("gcc") or shutil.which("clang") or pytest.skip("there is no C compiler")
    path, log = folder / "cc", folder / "log"
    log.touch()
    count = f'if [ $(wc -l < {log}) -lt {good} ]; then echo x >> {log}; exec {real} "$@"; fi\n'
    path.write_text("#!/bin/sh\n" + COMPILER.format(cc=real) + count + body + "\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def usual_or_long(*groups):
    """All combinations of values; those that differ from the first one in more than one place take long together."""
    cases = []
    for values in itertools.product(*groups):
        differing = sum(one is not group[0] for one, group in zip(values, groups, strict=True))
        cases.append(pytest.param(*values, marks=pytest.mark.long(every=5) if differing > 1 else []))
    return cases


@pytest.mark.parametrize(("kind", "body", "good"), usual_or_long(KINDS, list(BODIES), [0, 1, 2, 3, 4]))
def test_a_compiler_that_fails(tg, kind, body, good, tmp_path, monkeypatch):
    monkeypatch.setenv("CC", compiler(tmp_path, BODIES[body], good))
    said = served(tg, kind)
    assert len(said) <= 1 and (said or good)
    for warning in said:
        text = str(warning.message)
        assert "runs eagerly: the C compiler" in text and "command:" in text
        assert warning.filename == __file__


def test_a_part_of_a_backward_pass_that_has_no_program(tg, tmp_path, monkeypatch):
    done, run = [], joined.BackwardProgram._evaluated

    def counted(self, given):
        done.append(given)
        return run(self, given)

    monkeypatch.setattr(joined.BackwardProgram, "_evaluated", counted)
    monkeypatch.setenv("CC", compiler(tmp_path, "exit 3", 1))  # forward; backward is built when it is first done
    assert len(served(tg, part_of_backward)) == 1
    assert done


def test_a_compiler_that_may_not_be_used(tg, monkeypatch):
    monkeypatch.setenv("CC", "gcc -ffast-math")
    (warning,) = served(tg, function)
    assert "'-ffast-math'" in str(warning.message)


def below_a_file(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path / "file" / "cache"))


def others_may_write(tmp_path, monkeypatch):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache").chmod(0o777)


def not_executable(tmp_path, monkeypatch):
    load = provide.load

    def refusing(path, stands_at=None):
        if tmp_path in path.parents:
            raise LoadFailed(f"failed to map segment\n  {path}\n  set TRACEGRAD_CACHE_DIR")
        return load(path, stands_at)

    monkeypatch.setattr(provide, "load", refusing)


def full(tmp_path, monkeypatch):
    command = compiler(
        tmp_path, f'case "$*" in *{tmp_path}/cache*) echo "No space left on device" >&2; exit 1;; esac', 0
    )
    with open(command, "a") as script:
        script.write(f'exec {shutil.which("gcc") or shutil.which("clang")} "$@"\n')
    monkeypatch.setenv("CC", command)


def no_size(tmp_path, monkeypatch):
    monkeypatch.setenv("TRACEGRAD_CACHE_SIZE", "large")


@pytest.mark.parametrize(
    ("kind", "fault"), usual_or_long(KINDS, [below_a_file, others_may_write, not_executable, full, no_size])
)
def test_a_cache_that_cannot_serve(tg, kind, fault, tmp_path, monkeypatch, c_calls):
    fault(tmp_path, monkeypatch)
    (warning,) = served(tg, kind)
    text = str(warning.message)
    assert "temporary folder" in text and ("TRACEGRAD_CACHE_DIR" in text or "TRACEGRAD_CACHE_SIZE" in text)
    assert c_calls  # C has run all the same
    (private,) = provide._private.values()
    assert stat.S_IMODE(private.stat().st_mode) == 0o700


def test_neither_the_cache_nor_a_temporary_folder(tg, tmp_path, monkeypatch):
    below_a_file(tmp_path, monkeypatch)
    monkeypatch.setattr(provide.tempfile, "tempdir", str(tmp_path / "nowhere"))
    (warning,) = served(tg, function)
    assert "runs eagerly" in str(warning.message) and "TRACEGRAD_CACHE_DIR" in str(warning.message)


def test_the_reason_is_explained(tg, tmp_path, monkeypatch):
    monkeypatch.setenv("CC", compiler(tmp_path, "exit 3", 0))
    step = tg.compile(lambda x: x * 2)
    with pytest.warns(RuntimeWarning):
        step(tg.ones(2))
    step(tg.ones(2))
    assert step.way == "eager"
    assert "exit status 3" in step.explain()


def test_programs_that_exist_go_on_to_serve(tg, tmp_path, monkeypatch):
    monkeypatch.setenv("CC", compiler(tmp_path, "exit 3", 1))
    step = tg.compile(lambda x: x * 2)
    step(tg.ones(2))
    with pytest.warns(RuntimeWarning):
        step(tg.ones(2, 2))
    ways = []
    for shape in ((2,), (2, 2), (2,)):
        step(tg.ones(*shape))
        ways.append(step.way)
    assert ways == ["replay", "eager", "replay"]


# --------------------------------------------------------------------------------------------------------- fullgraph


@pytest.mark.parametrize("body", BODIES.values())
def test_fullgraph_asks_before_the_call(tg, body, tmp_path, monkeypatch):
    monkeypatch.setenv("CC", compiler(tmp_path, body, 0))
    w = tg.ones(2)
    step = tg.compile(lambda x: w.add_(x), fullgraph=True)
    for _ in range(3):
        with pytest.raises(CompileFailed, match="the C compiler"):
            step(tg.ones(2))
    assert w.tolist() == [1, 1]


def test_fullgraph_without_a_compiler_or_a_folder(tg, tmp_path, monkeypatch):
    w = tg.ones(2)
    step = tg.compile(lambda x: w.add_(x), fullgraph=True)
    monkeypatch.setenv("CC", "gcc -Ofast")
    with pytest.raises(ToolchainMissing, match="-Ofast"):
        step(tg.ones(2))
    monkeypatch.delenv("CC")
    below_a_file(tmp_path, monkeypatch)
    monkeypatch.setattr(provide.tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(CacheUnusable, match="cannot be written"):
        step(tg.ones(2))
    assert w.tolist() == [1, 1]
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path / "cache"))
    step(tg.ones(2))
    assert step(tg.ones(2)).tolist() == [3, 3]
    assert step.way == "replay"


def test_fullgraph_keeps_the_result_of_a_failure_that_shows_afterwards(tg, tmp_path, monkeypatch):
    monkeypatch.setenv("CC", compiler(tmp_path, "exit 3", 1))  # the empty program is built
    w = tg.ones(2)
    step = tg.compile(lambda x: w.add_(x), fullgraph=True)
    with pytest.warns(RuntimeWarning, match="exit status 3"):
        assert step(tg.ones(2)).tolist() == [2, 2]
    for _ in range(2):
        with pytest.raises(RuntimeFault, match="exit status 3"):
            step(tg.ones(2))
    assert w.tolist() == [2, 2]
