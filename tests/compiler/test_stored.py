"""The compile cache by recorded graph: a hit is the very program that a miss makes, and what is in doubt is a miss."""

import dataclasses
import itertools
import json
import math
import os
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sample_graphs import CASES
from sample_steps import classifier_step

import tracegrad as tg
from tracegrad.compiler import pipeline, stored
from tracegrad.compiler.graph import Builder, Graph, Node, Origin, Result
from tracegrad.compiler.graph_key import _OWN, NoKey, description, graph_key
from tracegrad.ops import movement
from tracegrad.ops.core import REGISTRY, Primitive, interpreting
from tracegrad.ops.pointwise import cast
from tracegrad.ops.sources import full_primitive
from tracegrad.ops.types import ALL_DTYPES, DType, Type, float32, float64, set_default_dtype

CORPUS = Path(__file__).with_name("compile_corpus.py")


@pytest.fixture
def cache_dir(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


# ------------------------------------------------------------------------------------------------- a second process


def compiled_in_a_process(*arguments):
    command = [sys.executable, str(CORPUS), *map(str, arguments)]
    package = Path(pipeline.__file__).parents[2]
    result = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(package)})
    assert result.returncode == 0, result.stderr[-4000:]
    return json.loads(result.stdout)


@pytest.mark.long(fast="first", every=2)
@pytest.mark.parametrize("what", [("graphs", 23), ("programs",), ("graphs", 1)], ids=str)
def test_a_second_process_takes_the_same_programs_without_making_them(what, cache_dir):
    """Recorded steps, programs for all sizes, segments, forward and backward passes; and the graphs of all tests."""
    first, second = compiled_in_a_process(*what), compiled_in_a_process(*what)
    assert first.keys() == second.keys() and len(first) >= 7
    for name, made in first.items():
        found, done = second[name], made["done"]
        asked = {"of": done["of"]} if "of" in done else {}
        assert done["simplify"] and done["make_schedule"] and done["render"] and done["_run"], name
        assert found.pop("done") == asked, name
        del made["done"]
        assert found == made, name


def test_a_start_imports_no_stage():
    code = "import sys, tracegrad; print(*(m for m in sys.modules if m.startswith(('jinja2', 'tracegrad.compiler.'))))"
    package = str(Path(pipeline.__file__).parents[2])
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": package})
    loaded = {name.removeprefix("tracegrad.compiler.").partition(".")[0] for name in result.stdout.split()}
    assert "pipeline" in loaded and not loaded & {"codegen", "stages", "jinja2"}


# ------------------------------------------------------------------------------------------------------------- keys


GRAPHS = {**CASES, "step": classifier_step("step", 4, 6, 5, 3)}
ORIGINS = (Origin("model.py", 4), Origin("model.py", 4, "fc"), Origin("model.py", 4, "", True), Origin("model.py", 5))


def replaced(graph, node, new):
    """The graph with `new` in the place of a node, inputs too."""
    changed = graph.rewritten({node: new})
    return dataclasses.replace(changed, inputs=tuple(new if i is node else i for i in changed.inputs))


def other_values(value):
    """Parameters near to `value`: what differs in the least."""
    if isinstance(value, bool):
        return [not value, int(value)]
    if isinstance(value, int):
        return [value + 1, -value - 1, float(value), str(value)]
    if isinstance(value, float):
        nans = [struct.unpack("<d", bytes.fromhex(bits))[0] for bits in ("000000000000f87f", "010000000000f87f")]
        near = [math.nextafter(value, math.inf), -value, 0.0, -0.0, math.inf, *nans, -nans[0]]
        return [other for other in near if struct.pack("<d", other) != struct.pack("<d", value)]
    if isinstance(value, str):
        return [value + " ", value.upper() + "_", None]
    if isinstance(value, DType):
        return [other for other in ALL_DTYPES if other is not value]
    if isinstance(value, Type):
        return [dataclasses.replace(value, **{f.name: o}) for f in dataclasses.fields(Type) for o in others(value, f)]
    if isinstance(value, tuple):
        inner = [(*value[:i], o, *value[i + 1 :]) for i, item in enumerate(value) for o in other_values(item)]
        return [*inner, (*value, 1), value[:-1] if value else (1, 1), (value,)]
    assert value is None
    return ["", 0, False]


def others(record, field):
    return other_values(getattr(record, field.name))


def other_nodes(node, graph):
    """For each field of a node, nodes that differ in it alone."""
    strangers = [other for other in graph.inputs if other not in node.args][:1]
    for position, argument in enumerate(node.args):
        constant = Node(full_primitive, (), (("shape", ()), ("value", 0.8125), ("dtype", float32)), Type(float32, ()))
        for other in (*strangers, constant):
            yield "args", dataclasses.replace(node, args=(*node.args[:position], other, *node.args[position + 1 :]))
        if any(other is not argument for other in node.args):
            yield "args", dataclasses.replace(node, args=(*node.args[:position], *node.args[position + 1 :]))
    if node.args[::-1] != node.args:
        yield "args", dataclasses.replace(node, args=node.args[::-1])
    for position, (name, value) in enumerate(node.params):
        for pair in [(name, other) for other in other_values(value)] + [(f"{name}_", value)]:
            params = (*node.params[:position], pair, *node.params[position + 1 :])
            yield "params", dataclasses.replace(node, params=params)
    for other in itertools.islice((op for op in REGISTRY.values() if op is not node.op), 0, None, 12):
        yield "op", dataclasses.replace(node, op=other)
    for other in other_values(node.type):
        yield "type", dataclasses.replace(node, type=other)
    for other in ORIGINS:
        yield "origin", dataclasses.replace(node, origin=other)


def other_results(result, graph):
    for name in ("name", "into"):
        for other in other_values(getattr(result, name)):
            if other is None or isinstance(other, str):
                yield name, dataclasses.replace(result, **{name: other})
    yield "is_check", dataclasses.replace(result, is_check=not result.is_check)
    for node in graph.inputs[:2]:
        if node is not result.node:
            yield "node", dataclasses.replace(result, node=node)


def other_graphs(graph):
    """Graphs that differ from `graph` in one field of one record."""
    for node in graph.nodes():
        for field, other in other_nodes(node, graph):
            yield f"node {field}", replaced(graph, node, other)
    for position, result in enumerate(graph.results):
        rest = graph.results[:position], graph.results[position + 1 :]
        for field, other in other_results(result, graph):
            yield f"result {field}", dataclasses.replace(graph, results=(*rest[0], other, *rest[1]))
        yield "graph results", dataclasses.replace(graph, results=(*rest[0], *rest[1]))
        yield "graph results", dataclasses.replace(graph, results=(*graph.results, result))
    for other in other_values(graph.name)[:2]:
        yield "graph name", dataclasses.replace(graph, name=other)
    yield "graph inputs", dataclasses.replace(graph, inputs=(*graph.inputs, Builder().input("more", Type(float32, ()))))
    if len(graph.inputs) > 1:
        yield "graph inputs", dataclasses.replace(graph, inputs=graph.inputs[::-1])
    if len(graph.results) > 1:
        yield "graph results", dataclasses.replace(graph, results=graph.results[::-1])


def keys_of_others(graphs):
    """By field: how many graphs differ in it, all of them with keys of their own."""
    counts = {}
    for graph in graphs:
        usual = graph_key(graph)
        for field, other in other_graphs(graph):
            assert graph_key(other) != usual, (graph.name, field)
            counts[field] = counts.get(field, 0) + 1
    return counts


#: Each field of what a graph is made of; a new one must be part of the key, and of this test.
RECORDS = {"node": Node, "result": Result, "graph": Graph}
FIELDS = {f"{kind} {field.name}" for kind, of in RECORDS.items() for field in dataclasses.fields(of)}


def test_each_field_of_a_graph_changes_its_key():
    names = ("softmax", "swap", "special_numbers", "rows", "random_numbers", "old_values", "without_dimensions")
    counts = keys_of_others(GRAPHS[name] for name in names)
    assert set(counts) == FIELDS and min(counts.values()) >= 5, counts


@pytest.mark.long(every=12)
@pytest.mark.parametrize("part", range(12))
def test_each_field_of_all_graphs_changes_their_keys(part):
    assert set(keys_of_others(list(GRAPHS.values())[part::12])) == FIELDS


def test_keys_depend_on_nothing_else():
    """Another process, and the same graph made anew, have the same key; all graphs of the tests have one, their own."""
    again = classifier_step("step", 4, 6, 5, 3)
    assert again is not GRAPHS["step"] and graph_key(again) == graph_key(GRAPHS["step"])
    assert len({graph_key(graph) for graph in GRAPHS.values()}) == len(GRAPHS)


def test_one_node_and_two_equal_ones_are_told_apart():
    builder = Builder()
    x = builder.input("x", Type(float32, (2,)))
    with interpreting(builder):
        one, two = cast(x, float64), cast(x, float64)
    shared, apart = (Graph("g", (x,), (Result("a", one), Result("b", node))) for node in (one, two))
    assert graph_key(shared) != graph_key(apart)


# --------------------------------------------------------------------------------------------- what has no key


def test_ops_of_tests_have_no_key():
    """Nobody knows what their names will stand for in another process."""
    x = Builder().input("x", Type(float32, (2,)))
    own = REGISTRY["tanh"]
    stranger = Primitive("tanh", own.inputs, own.type_rule, own.evaluate, own.derivatives, own.lower)
    for op, is_known in ((own, True), (stranger, False)):
        graph = Graph("g", (x,), (Result("y", Node(op, (x,), (), x.type)),))
        if is_known:
            assert graph_key(graph)
        else:
            with pytest.raises(NoKey, match="tanh is not one of the package's ops"):
                graph_key(graph)


def test_all_ops_of_the_package_have():
    assert {name for name, op in REGISTRY.items() if op.type_rule.__module__.startswith("tracegrad.")} <= set(_OWN)


@pytest.mark.parametrize("value", [np.float64(1.0), np.int64(1), [1], {"a": 1}, 1j, (1, np.float32(2))])
def test_parameters_of_other_types_have_no_key(value):
    x = Builder().input("x", Type(float32, (2,)))
    graph = Graph("g", (x,), (Result("y", Node(REGISTRY["tanh"], (x,), (("more", value),), x.type)),))
    with pytest.raises(NoKey):
        description(graph)


@pytest.mark.parametrize("op", ["reshape", "broadcast"])
def test_a_tensors_size_is_a_shape_as_any_other(op):
    with interpreting(Builder()) as builder:
        x = builder.input("x", Type(float32, (2,)))
        made = [getattr(movement, op)(x, shape) for shape in ((2,), tg.Size([2]))]
    keys = [graph_key(Graph("g", (x,), (Result("y", node),))) for node in made]
    assert keys[0] == keys[1]


LAYERS = {
    "RNN": (lambda: tg.nn.RNN(3, 4, batch_first=True), (2, 5, 3)),
    "LSTM": (lambda: tg.nn.LSTM(3, 4, 2), (5, 2, 3)),
    "GRU": (lambda: tg.nn.GRU(3, 4, bidirectional=True), (5, 2, 3)),
    "LSTMCell": (lambda: tg.nn.LSTMCell(3, 4), (2, 3)),
    "Transformer": (lambda: tg.nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), (2, 5, 4)),
    "Conv2d": (lambda: tg.nn.Sequential(tg.nn.Conv2d(2, 3, 3), tg.nn.BatchNorm2d(3), tg.nn.MaxPool2d(2)), (2, 2, 6, 6)),
}


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("layer", LAYERS)
def test_training_steps_have_keys(layer, cache_dir, monkeypatch):
    """Without one each process goes through all stages again."""
    make, shape = LAYERS[layer]
    model, kept = make(), []
    optimizer, keep = tg.optim.SGD(model.parameters(), lr=0.1), stored.Kept.keep
    monkeypatch.setattr(stored.Kept, "keep", lambda self, *built: (kept.append(self), keep(self, *built)))

    @tg.compile
    def step(x):
        optimizer.zero_grad()
        out = model(x)
        (out[0] if isinstance(out, tuple) else out).square().sum().backward()
        optimizer.step()

    for _ in range(2):
        step(tg.ones(shape))
    assert kept and all(each.interface is not None for each in kept)


# ------------------------------------------------------------------------------------------------ what else is asked


def key(flags=pipeline.FLAGS, **more):
    return stored.Kept(GRAPHS["softmax"], flags, **more)._key


def test_keys_depend_on_the_compiler_and_its_settings(cache_dir, monkeypatch):
    usual = key()
    assert usual is not None and usual == key()
    keys = [usual, key(for_all_sizes=True), key((*pipeline.FLAGS, "-g")), key(pipeline.FLAGS[:-1])]
    for name in stored.VARIABLES:
        with monkeypatch.context() as patch:
            patch.setenv(name, "AVX2")
            keys.append(key())
    with monkeypatch.context() as patch:
        patch.setenv("CPATH", "/nowhere")  # the C compiler searches there
        keys.append(key())
    for name in ("source_hash_at_first", "_template_library"):
        with monkeypatch.context() as patch:
            patch.setattr(stored, name, lambda: "another")
            keys.append(key())
    with monkeypatch.context() as patch:
        patch.setattr(stored.np, "__version__", "0")
        keys.append(key())
    try:
        set_default_dtype(float64)
        keys.append(key())
    finally:
        set_default_dtype(float32)
    assert None not in keys and len(set(keys)) == len(keys)


@pytest.mark.parametrize("name", ["source_hash_at_first", "_template_library"])
def test_nothing_is_kept_where_the_compiler_is_not_known(name, cache_dir, monkeypatch):
    monkeypatch.setattr(stored, name, lambda: None)
    assert key() is None
    pipeline.compile_graph(GRAPHS["swap"]).built  # noqa: B018
    entries, programs = ({path.parent for path in cache_dir.glob(f"*/{name}")} for name in ("entry.json", "step.c"))
    assert entries == programs


def test_nothing_is_kept_of_a_program_whose_compiler_has_changed_meanwhile(cache_dir, monkeypatch):
    program = pipeline.compile_graph(GRAPHS["swap"])
    with monkeypatch.context() as patch:
        patch.setattr(stored, "source_hash", lambda: "another")
        program.built  # noqa: B018
    assert stored.Kept(GRAPHS["swap"], pipeline.FLAGS).interface is None


def test_a_graph_is_described_once(cache_dir, monkeypatch):
    """What else a program depends on may have changed by the time it is built; its graph cannot."""
    described = []
    monkeypatch.setattr(stored, "graph_key", lambda graph: described.append(graph) or graph_key(graph))
    program = pipeline.compile_graph(GRAPHS["swap"])
    assert not program.built.from_cache and described == [GRAPHS["swap"]]
    assert pipeline.compile_graph(GRAPHS["swap"]).built.from_cache and len(described) == 2


def test_a_program_that_lies_in_the_cache_keeps_no_text(cache_dir):
    """It is read for who asks, and is what was compiled."""
    program = pipeline.compile_graph(GRAPHS["swap"])
    built = program.built
    kept = [value for part in (program.code, program.code.made) for value in vars(part).values()]
    assert not [value for value in kept if isinstance(value, (str, tuple)) and "tracegrad_step" in str(value)]
    assert program.source == built.sources[0].read_text() == program.code.made.source


def test_a_program_that_is_gone_is_made_again(cache_dir):
    """The record may outlive the C that it names: eviction knows entries, not what they say."""
    program = pipeline.compile_graph(GRAPHS["swap"])
    text, folder = program.source, program.built.path.parent
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    again = pipeline.compile_graph(GRAPHS["swap"])
    assert again.code._kept.interface == program.interface and again.code._kept.texts() == ()
    assert again.source == text and not again.built.from_cache
    assert stored.Kept(GRAPHS["swap"], pipeline.FLAGS).texts() == (text,)


def test_another_text_in_its_place_is_not_taken(cache_dir):
    program = pipeline.compile_graph(GRAPHS["swap"])
    text = program.source
    program.source_path.write_text(text.replace("0", "1"))
    assert stored.Kept(GRAPHS["swap"], pipeline.FLAGS).texts() == ()
    again = pipeline.compile_graph(GRAPHS["swap"])
    assert again.source == text and not again.built.from_cache
