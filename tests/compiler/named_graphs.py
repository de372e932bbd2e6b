"""Graphs of each kind of kernel with given names for what they read and write, and the names that C gives a meaning."""

import keyword
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, reduce
from pathlib import Path

import numpy as np
from c_compilers import COMPILERS
from sample_graphs import CASES, parse_type

from tracegrad.compiler.codegen.environment import TEMPLATES
from tracegrad.compiler.codegen.render import render
from tracegrad.compiler.graph import Builder, Graph, Result
from tracegrad.compiler.pipeline import FLAGS
from tracegrad.compiler.schedule.plan import make_schedule
from tracegrad.ops.arithmetic import maximum
from tracegrad.ops.core import interpreting
from tracegrad.ops.elementary import exp
from tracegrad.ops.indexing import gather, index_add, put, scatter, scatter_add, take
from tracegrad.ops.movement import concatenate, reshape, transpose
from tracegrad.ops.places.folding import scatter_amin, scatter_prod
from tracegrad.ops.places.searching import search, search_right
from tracegrad.ops.products import dot
from tracegrad.ops.random import permutation, random_seed, random_words
from tracegrad.ops.reductions import amax, argmax, argmin, sum
from tracegrad.ops.scans import argsort, cumsum
from tracegrad.ops.spatial.convolution import conv, conv_input, conv_weight
from tracegrad.ops.spatial.pooling import window_argmax
from tracegrad.runtime.build import INCLUDE

IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
#: Of C17, C23 and GNU C; what compilers predefine is asked of them.
KEYWORDS = """
    alignas alignof asm auto bool break case char const constexpr continue default do double else enum extern false
    float for fortran goto if inline int long nullptr register restrict return short signed sizeof static static_assert
    struct switch thread_local true typedef typeof typeof_unqual union unsigned void volatile while _Alignas _Alignof
    _Atomic _BitInt _Bool _Complex _Decimal128 _Decimal32 _Decimal64 _Float128 _Float16 _Float32 _Float64 _Generic
    _Imaginary _Noreturn _Static_assert _Thread_local __asm__ __attribute__ __auto_type __builtin_expect __extension__
    __func__ __FUNCTION__ __int128 __label__ __real__ __imag__ __typeof__ __volatile__ __thread main
""".split()
#: What else Python allows, and paths of parameters: each sanitised in another way, or like another one.
ODD = (
    """
    α größe 变量 _ __ ___ _x x_ __x__ x x_2 x_2_ X a_b a__b a.b a_b_ fc1.weight fc1_weight 0.weight layers.0.bias 1 7up
    weight_grad weight.grad value layer_1 result tracegrad_step tracegrad_step_ u8 L R in0 out1 v1 i0 n0 n1 z0 p_1 E
    dot_add_0 dot_add_0_tile_rows dot_scalar0 dot_scalar_0 sum_0 spare_0 copy_0 check_0 sum_acc1 amax_acc1_nan exp_row2
""".split()
    + ["x" * 5000, "x" * 5000 + ".y", "a*/b", "a b", 'quote"', "back\\slash", "??/", "/*"]
)


@dataclass(frozen=True)
class Kind:
    """A kind of kernel: the types of what it reads, how many results `compute` gives, and whether the first of the
    types is that of as many operands as there are names."""

    types: tuple[str, ...]
    results: int
    compute: Callable
    many: bool = False


def _total(nodes):
    """A balanced sum: the depth of a chain decides where it is cut."""
    nodes = list(nodes)
    while len(nodes) > 1:
        nodes = [reduce(lambda a, b: a + b, nodes[n : n + 2]) for n in range(0, len(nodes), 2)]
    return nodes[0]


def _softmax(*inputs):
    x = _total(inputs)
    e = exp(x - reshape(amax(x, (1,)), (3, 1)))
    return e / reshape(sum(e, (1,)), (3, 1)), sum(x * x, (1,))


def _columns(*inputs):
    x = _total(inputs)
    centred = x - sum(x, (0,)) / 3
    return centred * sum(centred * centred, (0,)), amax(x, (0,))


def _product(*inputs, swap=False):
    *others, a, b = inputs
    result = dot(a, transpose(b, (1, 0)) if swap else b) + _total(others)
    return result, maximum(result, 0)


def _scaled_product(*inputs):
    """Scalars of a product are read once, before all elements."""
    *others, a, b = inputs
    result = reduce(lambda x, y: x * y, others[:4], dot(a, b)) + _total(others)
    return result, result * 2


def _three(function):
    return lambda x, index, src: (function(x, index, src),)


SPECIALS = {
    "argmax": Kind(("f32[2,3,4]",), 1, lambda x: (argmax(x, 1),)),
    "argmin": Kind(("i32[4,3]",), 1, lambda x: (argmin(x, 0),)),
    "argsort": Kind(("f32[2,5]",), 1, lambda x: (argsort(x, 1),)),
    "argsort_descending": Kind(("f64[5,2]",), 1, lambda x: (argsort(x, 0, True),)),
    "cumsum": Kind(("f32[2,3,2]",), 1, lambda x: (cumsum(x, 1),)),
    "scatter": Kind(("f32[4,5]", "index[4,2]", "f32[4,2]"), 1, _three(lambda x, i, s: scatter(x, i, s, 1))),
    "scatter_add": Kind(("f32[4,5]", "index[4,2]", "f32[4,2]"), 1, _three(lambda x, i, s: scatter_add(x, i, s, 1))),
    "scatter_prod": Kind(("f32[4,5]", "index[4,2]", "f32[4,2]"), 1, _three(lambda x, i, s: scatter_prod(x, i, s, 1))),
    "scatter_amin": Kind(
        ("f32[4,5]", "index[4,2]", "f32[4,2]"), 1, _three(lambda x, i, s: scatter_amin(x, i, s, 1, False))
    ),
    "put": Kind(("f32[5,3]", "index[2]", "f32[2,3]"), 1, _three(put)),
    "index_add": Kind(("f32[5,3]", "index[2]", "f32[2,3]"), 1, _three(index_add)),
    "search_right": Kind(("ascending[2,6]", "f64[2,3]"), 1, lambda c, w: (search_right(c, w),)),
    "search": Kind(("ascending[2,6]", "f64[2,3]"), 1, lambda c, w: (search(c, w),)),
    "random_seed": Kind(("i64[]",), 1, lambda seed: (random_seed(seed),)),
    "random_words": Kind(("state[625]",), 2, lambda state: random_words(state, 5)),
    "permutation": Kind(("i32[7]",), 1, lambda words: (permutation(words, 8),)),
    "check_and_gather": Kind(("f32[4,5]", "index[4,1]"), 1, lambda x, i: (gather(x, i, 1),)),
    "check_and_take": Kind(("f32[5,4]", "index[3]"), 1, lambda x, i: (take(x, i) * 2,)),
    "conv": Kind(("f32[2,3,6]", "f32[4,3,3]"), 1, lambda x, w: (conv(x, w, (3,), (2,), (1,), (1,)),)),
    "conv_input": Kind(("f32[2,4,3]", "f32[4,3,3]"), 1, lambda y, w: (conv_input(y, w, (6,), (2,), (1,), (1,)),)),
    "conv_weight": Kind(("f32[2,3,6]", "f32[2,4,3]"), 1, lambda x, y: (conv_weight(x, y, (3,), (2,), (1,), (1,)),)),
    "conv_weight_few": Kind(("f32[2,3,6]", "f32[2,1,3]"), 1, lambda x, y: (conv_weight(x, y, (3,), (2,), (1,), (1,)),)),
    "window_argmax": Kind(("f32[2,7]",), 1, lambda x: (window_argmax(x, (3,), (4,), (2,), (1,), (1,)),)),
    "window_argmax_small": Kind(("f32[2,6]",), 1, lambda x: (window_argmax(x, (2,), (3,), (2,), (1,), (0,)),)),
    "one_hot": Kind(("f32[4,5]", "index[4,1]", "f32[4,1]"), 1, _three(lambda x, i, s: scatter_add(x, i, s, 1))),
}
MANY = {
    "flat_loop": Kind(("f32[5]",), 3, lambda *x: (_total(x), _total(x) * 2, exp(_total(x) * 0.01)), many=True),
    "row_loop": Kind(("f32[3,4]",), 2, _softmax, many=True),
    "column_loop": Kind(("f32[3,4]",), 2, _columns, many=True),
    "pieces": Kind(("f32[2,3]",), 1, lambda *x: (concatenate(x, 0) * 2,), many=True),
    "long_sum": Kind(("f32[5000]",), 1, lambda *x: (sum(_total(x), (0,)),), many=True),
    "integer_product": Kind(("i64[4]", "i64[3,2]", "i64[2,4]"), 2, _product, many=True),
    "plain_product": Kind(("f32[3]", "f32[2,3]", "f32[3,3]"), 2, _product, many=True),
    "scalars_of_product": Kind(("f32[]", "f32[4,3]", "f32[3,10]"), 2, _scaled_product, many=True),
    "row_product": Kind(("f32[40]", "f32[1,30]", "f32[30,40]"), 2, _product, many=True),
    "tiled_product": Kind(("f32[20]", "f32[9,12]", "f32[12,20]"), 2, _product, many=True),
    "transposed_product": Kind(
        ("f64[20]", "f64[9,12]", "f64[20,12]"), 2, lambda *x: _product(*x, swap=True), many=True
    ),
    "batched_product": Kind(("f32[33]", "f32[2,9,12]", "f32[2,12,33]"), 2, _product, many=True),
    "packed_product": Kind(("f32[150]", "f32[20,40]", "f32[150,40]"), 2, lambda *x: _product(*x, swap=True), many=True),
    "blocked_product": Kind(("f32[40]", "f32[20,1100]", "f32[1100,40]"), 2, _product, many=True),
    "large_product": Kind(("f32[260]", "f32[270,9]", "f32[9,260]"), 2, _product, many=True),
}
KINDS = SPECIALS | MANY
#: Names of one kernel with many operands, and of one graph with many kernels.
IN_A_KERNEL, IN_A_GRAPH = 80, 160


def named_graphs(kind, names):
    """Graphs of one kind, in which each of `names` is given to something, with their inputs' values.

    Where a kernel has few operands, each name takes the place of each of them and of each result in turn.
    """
    kind_of = KINDS[kind]
    together = IN_A_KERNEL if kind_of.many else IN_A_GRAPH
    places = min(together, len(names)) if kind_of.many else len(kind_of.types) + kind_of.results
    for start in range(0, len(names), together):
        chunk = _filled_up(names[start : start + together], places)
        for shift in range(1 if kind_of.many else places):
            turned = [*chunk[shift:], *chunk[:shift]]
            yield _graph(kind_of, chunk[0], [turned[n : n + places] for n in range(0, len(turned), places)])


def _filled_up(names, places):
    more = -len(names) % places
    return [*names, *(f"more{n}" for n in range(more))]


def _graph(kind, name, groups):
    builder, inputs, results, values = Builder(), [], [], {}
    rng = np.random.default_rng(len(groups))
    with interpreting(builder):
        for names in groups:
            types = kind.types
            if kind.many:
                types = (types[0],) * (len(names) - kind.results - len(types) + 1) + types[1:]
            read, written = names[: len(types)], names[len(types) :]
            nodes = []
            for label, text in zip(read, types, strict=True):
                values[label] = _values(text, rng)
                nodes.append(builder.input(label, parse_type(_typed(text))))
            inputs += nodes
            made = kind.compute(*nodes)
            results += [Result(label, node) for label, node in zip(written, made, strict=True)]
    return Graph(name, tuple(inputs), tuple(results)), values


_DTYPES = {"index": "i64", "ascending": "f64", "state": "i32"}


def _typed(text):
    word, extents = text.split("[")
    return f"{_DTYPES.get(word, word)}[{extents}"


def _values(text, rng):
    """Small whole numbers, so that sums are exact; indices and ascending rows where the type says so."""
    of = parse_type(_typed(text))
    if text.startswith("index"):
        return rng.permuted(np.broadcast_to(np.arange(of.shape[-1]), of.shape), axis=-1)
    if text.startswith("ascending"):
        return np.sort(rng.integers(-9, 10, of.shape), -1).astype(of.dtype.numpy)
    if text.startswith("state"):
        return np.append(rng.integers(0, 2**31, 624), 624).astype(np.int32)
    return rng.integers(-4, 5, of.shape).astype(of.dtype.numpy)


# ---------------------------------------------------------------------------------------------------------- names


@lru_cache
def names_with_a_meaning():
    """Every identifier of the templates, of the C that they make, of its headers and theirs, every keyword, and ODD."""
    found = {*ODD, *KEYWORDS, *keyword.kwlist, *words_of_templates(), *words_of_headers()}
    for name in ("linear", "softmax", "column_normalised", "places_and_scans", "single_elements", "other_folds"):
        found.update(IDENTIFIER.findall(render(make_schedule(CASES[name]))))
    return tuple(sorted(found))


def words_of_templates():
    """Those of Jinja are among them."""
    return {word for path in TEMPLATES.glob("*.j2") for word in IDENTIFIER.findall(path.read_text())}


@lru_cache
def words_of_headers():
    """The identifiers of `runtime/include`, and of all that the compilers here make of the generated C's includes."""
    found = {word for path in Path(INCLUDE).glob("*.h") for word in _words(path.read_text())}
    includes = "".join(re.findall(r"#include <.*\n", (TEMPLATES / "module.c.j2").read_text()))
    includes += "".join(f'#include "{path.name}"\n' for path in sorted(Path(INCLUDE).glob("*.h")))
    for compiler in COMPILERS:
        for options in (("-E", "-P"), ("-E", "-dM")):
            command = [compiler, *FLAGS, *options, f"-I{INCLUDE}", "-x", "c", "-"]
            done = subprocess.run(command, input=includes, capture_output=True, text=True, check=True)
            found.update(_words(done.stdout))
    return frozenset(found)


def _words(text):
    """Its identifiers, without parts of them that a macro joins."""
    return IDENTIFIER.findall(re.sub(r"\w*\s*##\s*\w*", " ", text))
