"""The benchmarks' workloads, each in a process of its own: the most memory that it ever had, in bytes.

Limits: T10 300 MB with its data (273 measured: a quotient is computed again for its derivative, as in PyTorch). All
others 80 MB besides their data: batches, parameters, gradients, the optimizer's state, and the memory that a
program works in. A process that compiles a program itself, and does not take it from the cache, holds the compiler's
modules and templates besides, some 9 MB: it may have 85 MB (84 measured, T7).
"""

import json
import subprocess
import sys

import pytest

from tracegrad.benchmarks.workloads import BUILDERS

LIMIT, LIMIT_OF_COMPILING, LIMIT_OF_T10 = 80, 85, 300  # MB as the benchmarks count: 2**20 bytes
STEPS = 20

CODE = """if True:
    import json
    from tracegrad.benchmarks import programs
    from tracegrad.benchmarks.workloads import workload
    import tracegrad

    def built():
        work = workload("{name}")
        program = programs.build(tracegrad, work)
        return program, programs.train_step(tracegrad, program, work), programs.batches(tracegrad, work)

    program, train_step, batches = built()
    step = tracegrad.compile(train_step)
    for i in range({steps}):
        step(*batches[i % len(batches)])

    status = dict(line.split(":") for line in open("/proc/self/status"))
    resident, peak = (int(status[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))
    parameters = list(program.model.parameters())
    state = [t for values in program.optimizer.state.values() for t in values.values()]
    given = [t for batch in batches for t in batch]
    tensors = [*parameters, *given, *(t.grad for t in (*parameters, *given)), *state]
    data = sum(t.numpy(force=True).nbytes for t in tensors if isinstance(t, tracegrad.Tensor))
    arena = sum(s.program.schedule.arena_bytes for s in step.specialisations)
    print(json.dumps(dict(data=data, arena=arena, way=step.way, resident=resident, peak=peak)))
    """


@pytest.mark.long(every=7)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("name", BUILDERS)
def test_resident_memory(name, monkeypatch, tmp_path):
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path / "cache"))
    for limit in (LIMIT_OF_COMPILING, LIMIT):
        mb = megabytes(name)
        if name == "T10":
            assert mb["peak"] < LIMIT_OF_T10
        else:
            assert mb["resident"] - mb["data"] - mb["arena"] < limit


def megabytes(name):
    """What a process holds that trains for some steps, and what it held at most."""
    code = CODE.format(name=name, steps=STEPS)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = json.loads(run.stdout)
    assert found.pop("way") == "replay"
    mb = {key: value / 2**20 for key, value in found.items()}
    print(name, {key: round(value) for key, value in mb.items()})
    return mb
