"""Compiles the graphs that tests are made of, or whole programs, and prints as JSON what came of each.

    python compile_corpus.py graphs EVERY | programs

What was done is counted: passes over recorded graphs, schedules made, texts rendered, calls of the C compiler.
"""

import hashlib
import json
import sys
from collections import Counter
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

import numpy as np  # noqa: E402
from convolution_graphs import window_graphs  # noqa: E402
from golden.training_steps import PROGRAMS, regression_of_size  # noqa: E402
from row_graphs import row_graphs  # noqa: E402
from sample_graphs import CASES, sample_inputs  # noqa: E402
from sample_steps import classifier_step, moons_step, step_inputs  # noqa: E402
from sanitized_graphs import right_graphs, wrong_indices  # noqa: E402

import tracegrad as tg  # noqa: E402
from tracegrad.compiled.execution.binding import Binding, CheckFailed  # noqa: E402
from tracegrad.compiled.execution.shape_cache import Programs  # noqa: E402
from tracegrad.compiler import pipeline  # noqa: E402
from tracegrad.compiler.sizes import program as sizes  # noqa: E402
from tracegrad.runtime import build  # noqa: E402

DONE = Counter()


def count(owner, name):
    """Let calls of ``owner.name`` be counted."""
    function = getattr(owner, name)

    def counting(*args, **kwargs):
        DONE[name] += 1
        return function(*args, **kwargs)

    setattr(owner, name, counting)


def corpus():
    """Each graph of the tests with the values of its inputs."""
    for graph in CASES.values():
        yield graph, sample_inputs(graph)
    for graph in (classifier_step("deep", 8, 12, 16, 16, 10), moons_step()):
        yield graph, step_inputs(graph)
    yield from row_graphs()
    yield from window_graphs(40)
    yield from right_graphs()
    yield from wrong_indices()


def run(program, values):
    """A hash of all results and of what the C has written to inputs; or the error."""
    binding, graph = Binding(program), program.recorded
    arrays = {label: np.array(value, order="C") for label, value in values.items()}
    fresh = [np.zeros(r.node.type.shape, r.node.type.dtype.numpy) for r in graph.results if r.is_returned]
    for label, array in arrays.items():
        binding.point(binding.slot_of[label], array)
    for number, array in enumerate(fresh):
        binding.point(binding.first_result + number, array)
    try:
        binding.run()
    except CheckFailed as refused:
        return str(refused)
    content = b"".join(array.tobytes() for array in (*arrays.values(), *fresh))
    return hashlib.sha256(content).hexdigest()


def shown(program):
    """All that a program shows of itself."""
    texts = (program.source, str(program.schedule), str(program.graph), program.source_path.read_text())
    return [hashlib.sha256(text.encode()).hexdigest() for text in texts]


def of_graphs(every):
    for number, (graph, values) in enumerate(corpus()):
        if number % every == 0:
            DONE.clear()
            program = pipeline.compile_graph(graph)
            result, interface = run(program, values), program.interface.written()
            done = dict(DONE)
            # What the stages make of the graph now is what the cache has given.
            assert program.source == program.code.made.source and program.interface == program.code.made.interface
            yield (
                f"{number} {graph.name}",
                {"done": done, "result": result, "interface": interface, "text": shown(program)},
            )


def printing():
    """Re-recorded: the number that it prints is needed in the middle."""
    weight = tg.randn(4, 4).requires_grad_()

    def step(x):
        loss = (x @ weight).tanh().sum()
        print(float(loss), file=sys.stderr)
        loss.backward()
        with tg.no_grad():
            weight.sub_(0.1 * weight.grad)
        weight.grad = None
        return loss

    return step, (tg.randn(3, 4),)


def trained(model, x):
    """A training step of layers whose code hands on the shapes of tensors."""
    optimizer = tg.optim.SGD(model.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        out = model(x)
        loss = (out[0] if isinstance(out, tuple) else out).square().sum()
        loss.backward()
        optimizer.step()
        return loss

    return step, (x,)


def recurrent():
    return trained(tg.nn.LSTM(3, 4, 2, bidirectional=True), tg.randn(5, 2, 3))


def attending():
    return trained(tg.nn.TransformerEncoderLayer(4, 2, 8, 0.0, batch_first=True), tg.randn(2, 5, 4))


def in_a_loop():
    """A compiled model in an eager loop: a forward program and a backward program."""
    model = tg.nn.Sequential(tg.nn.Linear(4, 5), tg.nn.Tanh(), tg.nn.Linear(5, 2))
    compiled = tg.compile(model)

    def step(x):
        loss = compiled(x).square().sum()
        loss.backward()
        return loss + sum(p.grad.abs().sum() for p in model.parameters())

    return step, (tg.randn(3, 4),)


def of_programs():
    for name, make in {
        **PROGRAMS,
        "printing": printing,
        "recurrent": recurrent,
        "attending": attending,
        "in_a_loop": in_a_loop,
    }.items():
        DONE.clear()
        tg.manual_seed(0)
        step, arguments = make()
        compiled = step if name == "in_a_loop" else tg.compile(step)
        results = [compiled(*arguments).detach().numpy().tobytes().hex() for _ in range(8)]
        done = dict(DONE)
        text = [] if name in ("printing", "in_a_loop") else shown(compiled.specialisations[0].program)
        yield name, {"done": done, "result": results, "text": text}
    DONE.clear()
    tg.manual_seed(0)
    step, arguments_of = regression_of_size()
    step = tg.compile(step)
    results = [step(*arguments_of(size)).detach().numpy().tobytes().hex() for size in (4, 5, 9, 9, 12, 4)]
    done, programs = dict(DONE), step.specialisations
    text = shown(next(s.program for s in programs if s.program.fit is not None))
    yield "sizes", {"done": done, "result": results, "text": text}


def main():
    for owner, names in (
        (pipeline.stages, ("simplify", "look_up_products", "make_schedule", "render")),
        (sizes.planning, ("plan",)),
        (build, ("_run",)),
        (Programs, ("of",)),
    ):
        for name in names:
            count(owner, name)
    # What is compared does not depend on how much the C compiler does.
    pipeline.FLAGS = tuple("-O0" if flag == "-O2" else flag for flag in pipeline.FLAGS)
    kind, *arguments = sys.argv[1:]
    found = of_graphs(int(arguments[0])) if kind == "graphs" else of_programs()
    print(json.dumps(dict(found)))


if __name__ == "__main__":
    main()
