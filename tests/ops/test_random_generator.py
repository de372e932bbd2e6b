"""Generators: seeds, states, forks, and what a recording learns of them."""

import copy
import pickle
import threading

import numpy as np
import pytest

from tracegrad.compiler.capture import Recorder
from tracegrad.compiler.evaluate import evaluate_graph
from tracegrad.compiler.graph import Graph, Result
from tracegrad.compiler.origins import Whereabouts
from tracegrad.functional.statistics.weighted_draws import multinomial
from tracegrad.ops.core import interpreting
from tracegrad.ops.types import float32, float64, int64, uint8
from tracegrad.tensors import generator as generators
from tracegrad.tensors import random
from tracegrad.tensors.drawing import integers
from tracegrad.tensors.generator import Generator, default_generator
from tracegrad.tensors.tensor import make
from tracegrad.tracing.watch import Watcher, watched


def numbers(generator, count=4):
    return random.randn((count,), float64, generator).ndarray.tolist()


@pytest.mark.parametrize(
    "seed, initial", [(0, 0), (2**63, 2**63), (2**64 - 1, 2**64 - 1), (-1, 2**64 - 1), (-(2**63), 2**63), (True, 1)]
)
def test_seeds_count_modulo_two_to_the_64(seed, initial):
    assert Generator().manual_seed(seed).initial_seed() == initial


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_seeds_that_do_not_fit_are_refused(seed):
    with pytest.raises(ValueError, match="Overflow when unpacking long"):
        Generator().manual_seed(seed)


def test_a_new_generator_has_pytorchs_seed():
    assert Generator().initial_seed() == 67280421310721


def test_seed_gives_a_new_seed():
    generator = Generator()
    first, second = generator.seed(), generator.seed()
    assert first != second and generator.initial_seed() == second


def test_module_functions_serve_the_default_generator():
    assert generators.manual_seed(7) is default_generator
    assert generators.initial_seed() == 7
    state = generators.get_rng_state()
    first = numbers(None)
    generators.set_rng_state(state)
    assert numbers(None) == first
    assert generators.seed() == generators.initial_seed()


def test_generators_are_independent():
    a, b = Generator().manual_seed(1), Generator().manual_seed(1)
    first = numbers(a)
    numbers(default_generator)
    assert numbers(b) == first


def test_seeding_forgets_the_cached_normal_number():
    generator = Generator().manual_seed(1)
    first = numbers(generator, 1)
    assert generator.has_cached
    assert numbers(generator.manual_seed(1), 1) == first


@pytest.mark.parametrize("drawn", [0, 1, 3, 700])
def test_states_are_restored(drawn):
    generator = Generator().manual_seed(5)
    numbers(generator, 3)
    random.rand((drawn,), float32, generator)
    state = generator.get_state()
    assert state.dtype is uint8 and state.shape == (5056,)
    expected = numbers(generator)
    other = Generator()
    other.set_state(state)
    assert numbers(other) == expected and other.initial_seed() == 5
    other.set_state(state.ndarray.astype(np.uint8))
    assert numbers(other) == expected


def test_states_of_another_kind_are_refused():
    with pytest.raises(RuntimeError, match="Expected a CPUGeneratorImplState of size 5056 .* size to be 4"):
        Generator().set_state(make(np.zeros(4, np.int64)))
    for wrong in (make(np.zeros(5056)), [1, 2], None):
        with pytest.raises(TypeError, match="RNG state must be"):
            Generator().set_state(wrong)


@pytest.mark.parametrize("clone", [copy.deepcopy, copy.copy, lambda g: pickle.loads(pickle.dumps(g))])
def test_copies_go_on_from_the_same_state(clone):
    generator = Generator().manual_seed(5)
    numbers(generator, 3)
    other = clone(generator)
    assert numbers(other) == numbers(generator)


def test_fork_rng_restores_the_default_generator_also_after_an_error():
    generators.manual_seed(3)
    numbers(None, 1)
    with generators.fork_rng():
        inside = numbers(None, 6)
    with pytest.raises(KeyError), generators.fork_rng():
        numbers(None)
        raise KeyError
    with generators.fork_rng(enabled=False):
        assert numbers(None, 6) == inside
    assert numbers(None, 6) != inside


def test_threads_share_a_generator_without_drawing_a_number_twice():
    generator = Generator()
    drawn = []

    def draw():
        for _ in range(50):
            drawn.extend(integers.random((4,), int64, generator).ndarray.tolist())

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drawn)) == len(drawn) == 800


# ---------------------------------------------------------------------------------------------------------- recording


class Reads(Watcher):
    """A recording that keeps what was read."""

    def __init__(self):
        self.guards = []

    def read(self, describe, get, value):
        self.guards.append((describe, get, value))


@pytest.fixture
def reads():
    return Reads()


@pytest.mark.parametrize("drawn_before", [0, 1])
def test_the_cached_number_is_a_guard_at_the_entry_only(reads, drawn_before):
    generator = Generator()
    numbers(generator, drawn_before)
    watched(reads, numbers, generator, 3)
    watched(reads, numbers, generator, 3)
    ((describe, get, value),) = reads.guards
    assert (describe, value) == ("generator.has_cached", bool(drawn_before))
    numbers(generator, 1)
    assert get() is not value


def test_large_draws_and_seeded_programs_guard_nothing(reads):
    generator = Generator()
    random.randn((16,), float32, generator)
    random.rand((3,), float32, generator)
    assert reads.guards == []
    generator.manual_seed(3)
    numbers(generator, 3)
    assert reads.guards == []


def program(generator):
    """All ways to draw, and a seed in between."""
    first = [random.rand((3, 4), float32, generator), random.randn((3,), float32, generator)]
    with_tail = [random.randn((17,), float64, generator), integers.randperm(7, int64, generator)]
    generator.manual_seed(11)
    weights = make(np.array([1.0, 2.0, 0.5]))
    after = [random.randn((4,), float64, generator), multinomial(weights, 5, True, generator)]
    return [*first, *with_tail, *after, integers.randint(-3, 2**40, (5,), int64, generator)]


def recorded(generator):
    recorder = Recorder(Whereabouts())
    with interpreting(recorder):
        values = [recorder.node(value) for value in program(generator)]
    results = [Result(str(i), node) for i, node in enumerate(values)]
    written = [Result(root.node.label, root.region.node) for root in recorder.roots if root.region.written]
    return Graph("draws", tuple(root.node for root in recorder.roots), (*results, *written)), recorder.roots


def test_a_recorded_program_continues_the_generator():
    """Its graph, run from another state, draws what the eager program draws there and leaves the same state."""
    recording, generator = Generator().manual_seed(1), Generator().manual_seed(2)
    graph, roots = recorded(recording)
    before = {tensor.label: tensor for tensor in (generator.state, generator.cached, generator.seeded)}
    inputs = {r.node.label: before.get(r.node.label, r.array).ndarray.copy() for r in roots}
    expected = [value.ndarray for value in program(generator)]
    outcome = evaluate_graph(graph, inputs)
    for i, value in enumerate(expected):
        np.testing.assert_array_equal(outcome[str(i)], value)
    for label, tensor in before.items():
        np.testing.assert_array_equal(outcome[label], tensor.ndarray)
