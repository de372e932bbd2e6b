"""Names of users in C: they cannot collide with anything, whatever they are."""

import random
import re
import shutil

import numpy as np
import pytest
from c_compilers import COMPILERS
from harness import compile_graphs
from named_graphs import KEYWORDS, KINDS, ODD, named_graphs, names_with_a_meaning, words_of_headers, words_of_templates

from tracegrad.compiler.evaluate import evaluate_graph
from tracegrad.compiler.schedule.memory import Names
from tracegrad.compiler.text import parse
from tracegrad.ops.core import REGISTRY

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="the identifiers of the headers are gcc's")

#: What was wrong once: locals of templates, macros without parameters, types, functions.
KNOWN = "row column line k place before best value linux unix NAN INFINITY M_PI NULL INT64_MAX int64_t memcpy".split()
SAMPLE = 15  # names in each kind of kernel in the fast tier, beside these
#: Calls of tg_expf are a few ulp from numpy's; everything else is exact, since the numbers are small and whole.
TOLERANCE = {"float32": 2e-5, "float64": 1e-12}


def agree(kind, names, compiler):
    """All graphs of a kind, with these names, give in C what numpy gives."""
    graphs = list(named_graphs(kind, names))
    compiled = compile_graphs([graph for graph, _ in graphs], compiler, ("-O0",))
    for program, (graph, values) in zip(compiled, graphs, strict=True):
        expected = evaluate_graph(graph, values)
        results = program.run({name: np.array(value, order="C") for name, value in values.items()})
        for result in graph.results:
            allowed = TOLERANCE.get(str(result.node.type.dtype.numpy), 0)
            wanted = expected[result.name]
            np.testing.assert_allclose(results[result.name], wanted, rtol=allowed, atol=allowed, err_msg=result.name)
    assert {label for graph, values in graphs for label in (*values, *(r.name for r in graph.results))} >= set(names)


@pytest.mark.long(fast=23, by_size=True)
@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_of_all_names_in_each_kind_of_kernel(kind):
    names = names_with_a_meaning()
    some = random.Random(kind).sample(names, SAMPLE) + random.Random(kind).sample(ODD, 6)
    agree(kind, list(dict.fromkeys([*KNOWN, *some])), COMPILERS[0])


@pytest.mark.long(every=113)
@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_name_in_each_kind_of_kernel(kind, compiler):
    agree(kind, names_with_a_meaning(), compiler)


def test_no_word_of_templates_headers_or_the_language_looks_like_a_name_that_is_given():
    ops = "|".join(sorted({*REGISTRY, "spare", "copy", "check", "dot"}, key=len, reverse=True))
    of_ops = re.compile(rf"(?:{ops})(?:_(?:{ops}))*_\d+")
    words = {*words_of_templates(), *words_of_headers(), *KEYWORDS}
    assert len(words) > 1000
    assert [word for word in words if re.fullmatch(r"[A-Za-z]\w*_", word) or of_ops.fullmatch(word)] == []


def test_each_name_is_given_once_and_ends_in_an_underscore():
    names = Names()
    given = [*ODD, *names_with_a_meaning()]
    made = [names.unique(name) for name in given]
    assert len(set(made)) == len(given)
    assert all(re.fullmatch(r"[A-Za-z](\w*[^\W_])?_", name, re.ASCII) for name in made)


def test_graph_text_reads_back_with_all_names():
    for graph, _ in named_graphs("cumsum", names_with_a_meaning()):
        assert parse(str(graph)) == graph
