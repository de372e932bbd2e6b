"""Long programs are compiled in several units side by side: the same numbers, and the same refusals, as from one."""

import numpy as np
import pytest
from sample_steps import classifier_step, step_inputs

from tracegrad.compiled.execution.binding import Binding, CheckFailed
from tracegrad.compiler import pipeline
from tracegrad.compiler.codegen import render
from tracegrad.runtime import build

STEP = classifier_step("deep", 8, 12, *[16] * 4, 10)


@pytest.fixture
def program_in(monkeypatch, tmp_path):
    """``program_in(letters)``: the step's program in units of so many letters, and the inputs of compiler processes."""
    commands, command = [], build._command

    def noting(compiler, flags, inputs, output):
        commands.append(inputs)
        return command(compiler, flags, inputs, output)

    monkeypatch.setattr(build, "_command", noting)
    # What is compared does not depend on how much the C compiler does.
    monkeypatch.setattr(pipeline, "FLAGS", tuple("-O0" if flag == "-O2" else flag for flag in pipeline.FLAGS))

    def make(letters, graph=STEP):
        monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path / str(letters)))
        monkeypatch.setattr(render, "UNIT_LETTERS", letters)
        commands.clear()
        program = pipeline.compile_graph(graph)
        program.built  # noqa: B018
        return program, [name for inputs in commands for name in inputs]

    return make


def results(program, **changed):
    binding, graph = Binding(program), program.recorded
    arrays = {label: np.array(value, order="C") for label, value in {**step_inputs(graph), **changed}.items()}
    fresh = [np.zeros(r.node.type.shape, r.node.type.dtype.numpy) for r in graph.results if r.is_returned]
    for label, array in arrays.items():
        binding.point(binding.slot_of[label], array)
    for number, array in enumerate(fresh):
        binding.point(binding.first_result + number, array)
    binding.run()
    return [array.tobytes() for array in (*arrays.values(), *fresh)]


def test_several_units_give_the_bits_of_one(program_in):
    whole, inputs = program_in(10**9)
    assert len(whole.code.made.units) == len(inputs) == 1
    expected = results(whole)
    for letters in (len(whole.source) // 2, len(whole.source) // 3, 1):
        program, inputs = program_in(letters)
        units = program.code.made.units
        assert 1 < len(units) <= min(len(whole.source) // letters, render.MOST_UNITS)
        assert len([name for name in inputs if name.endswith(".c")]) == len(units)
        assert len([name for name in inputs if name.endswith(".o")]) == len(units)  # linked
        assert [path.read_text() for path in program.built.sources] == list(units)
        assert results(program) == expected
        # The text to look at is one and the same, and the units share what it says.
        assert program.source == whole.source
        assert sum("int tracegrad_step(void *const *slots)\n{" in unit for unit in units) == 1
        kernels = {kernel.name for kernel in whole.schedule.kernels if f"void {kernel.name}(" in whole.source}
        assert kernels and all(any(f"void {name}(" in unit for unit in units) for name in kernels)


def test_a_unit_is_no_larger_than_what_it_calls(program_in):
    whole, _ = program_in(10**9)
    program, _ = program_in(len(whole.source) // 4)
    assert max(map(len, program.code.made.units)) < 0.6 * len(whole.source)


def test_checks_refuse_in_each_unit(program_in):
    program, _ = program_in(1)
    wrong = step_inputs(STEP)["index"].copy()
    wrong[3] = 99
    with pytest.raises(CheckFailed, match="index 99 is out of bounds"):
        results(program, index=wrong)


def test_units_are_found_again(program_in):
    first, inputs = program_in(1)
    assert inputs
    second, inputs = program_in(1)
    assert inputs == [] and second.built.from_cache
    assert second.code._kept.texts() == first.code.made.units and second.source == first.source
    assert results(second) == results(first)


def test_short_programs_are_one_unit():
    assert [render.number_of_units("x" * n) for n in (0, 1, 199_999, 200_000, 10**7)] == [1, 1, 1, 2, render.MOST_UNITS]
