"""Kernels that threads share, and the pool, under the sanitizers of threads, addresses and undefined behaviour.

Each kernel is computed in three pieces at a time that know nothing of each other, each with scratch memory of exactly
the size that it asks for: what two pieces write, or one writes and another one reads, is a race whatever happens first.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import test_sanitized as sanitized
from c_compilers import WARNINGS

from tracegrad.compiler.pipeline import FLAGS
from tracegrad.compiler.schedule import threads
from tracegrad.runtime.build import INCLUDE

sys.path.insert(0, str(Path(__file__).parent / "compiler"))  # where the tests of the compiler keep theirs
from convolution_graphs import window_graphs  # noqa: E402
from row_graphs import row_graphs  # noqa: E402
from sample_graphs import CASES, sample_inputs  # noqa: E402
from sample_steps import classifier_step, moons_step, step_inputs  # noqa: E402
from test_threads import PRODUCTS, assert_close, product  # noqa: E402

pytestmark = pytest.mark.long(every=2)

SANITIZERS = ("thread", "address,undefined")
POOL = INCLUDE.parent / "pool.c"
SAMPLES = ("softmax", "column_statistics", "batched_products", "movement", "rows", "rows_normalised_in_place", "linear")

THREE_PIECES = r"""
#include <pthread.h>
#include <stdlib.h>
#include "tg_pool.h"

struct piece { const tg_work *work; char *scratch; long begin, end; };

static void *computed(void *of)
{
    const struct piece *const piece = of;
    piece->work->share(piece->work->arguments, piece->scratch, piece->begin, piece->end);
    return NULL;
}

static void run(const tg_work *work, long threads)
{
    const long grains = TG_PIECES(work->extent, work->grain);
    pthread_t others[threads];
    struct piece pieces[threads];
    for (long n = 0; n < threads; ++n)
    {
        const long begin = grains * n / threads * work->grain, end = grains * (n + 1) / threads * work->grain;
        pieces[n] = (struct piece){work, work->scratch, begin, end < work->extent ? end : work->extent};
        if (n && posix_memalign((void **)&pieces[n].scratch, 64, (size_t)work->scratch_bytes))
            abort();
        if (n && pthread_create(&others[n], NULL, computed, &pieces[n]))
            abort();
    }
    computed(&pieces[0]);
    for (long n = 1; n < threads; ++n)
    {
        pthread_join(others[n], NULL);
        free(pieces[n].scratch);
    }
}

__attribute__((constructor)) static void prepare(void)
{
    static const tg_threads three = {3, run};
    tracegrad_threads = &three;
}
"""

# Regions of all sizes one after the other, with numbers of threads that change; a second caller meanwhile; a fork.
DRIVER = r"""
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tg_pool.h"

tg_pool_run tracegrad_pool_run;

static void share(void *const *arguments, char *scratch, long begin, long end)
{
    int *const seen = arguments[0];
    memset(scratch, 1, 64);
    for (long i = begin; i < end; ++i)
        seen[i] += 1;
}

static long wrong(int regions)
{
    int seen[500];
    char scratch[64];
    void *const arguments[] = {seen};
    long count = 0;
    for (int region = 0; region < regions; ++region)
    {
        const tg_work work = {share, arguments, scratch, 64, region % 500, 1 + region % 7, 1000};
        memset(seen, 0, sizeof seen);
        tracegrad_pool_run(&work, 2 + region / 100 % 3);
        for (long i = 0; i < 500; ++i)
            count += seen[i] != (i < work.extent);
    }
    return count;
}

static void *second(void *count)
{
    *(long *)count = wrong(2000);
    return NULL;
}

int main(int count, char **words)
{
    long also = 0;
    pthread_t other;
    pthread_create(&other, NULL, second, &also);
    const long here = wrong(3000);
    pthread_join(other, NULL);
    if (count > 1 && words[1][0] == 'f')
    {
        const pid_t child = fork();
        int status = 1;
        if (!child)
            _exit(wrong(500) != 0);
        waitpid(child, &status, 0);
        also += status;
    }
    return printf("%ld wrong\n", here + also) < 0;
}
"""


def graphs():
    """Each with the values of its inputs."""
    yield from (product(*case) for case in PRODUCTS[::3])
    yield from [(g, x) for g, x in row_graphs() if "64_10_" in g.name or "300_" in g.name or "turned" in g.name][:12]
    yield from window_graphs(2)
    yield from [(CASES[name], sample_inputs(CASES[name])) for name in SAMPLES]
    steps = moons_step(batch=33), classifier_step("classifier", 19, 24, 40, 10)
    yield from [(step, step_inputs(step)) for step in steps]


def built(folder, sanitizer, *sources):
    """A program from C files, with warnings as errors; skipped where gcc has no such sanitizer."""
    flags = [f for f in FLAGS if f not in WARNINGS] + [*WARNINGS, "-O1", "-g1", f"-fsanitize={sanitizer}"]
    command = [
        "gcc",
        *flags,
        "-fno-sanitize-recover=all",
        f"-I{INCLUDE}",
        *map(str, sources),
        "-o",
        str(folder / "program"),
    ]
    done = subprocess.run([*command, "-pthread", "-lm"], cwd=folder, capture_output=True, text=True, check=False)
    if "cannot find" in done.stderr or "unrecognized" in done.stderr:
        pytest.skip(f"gcc without -fsanitize={sanitizer}")
    assert done.returncode == 0, done.stderr[:4000]
    return folder / "program"


@pytest.fixture(scope="module")
def subjects():
    """Every graph of this file by name, as C in which all kernels are shared that can be."""
    before, threads.GRAIN = threads.GRAIN, 0.01
    found = {graph.name: sanitized.subject(graph, inputs) for graph, inputs in graphs()}
    threads.GRAIN = before
    assert sum("tg_parallel(" in one.source for one in found.values()) > 50
    return found


@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_kernels_in_three_pieces_at_a_time(sanitizer, subjects, tmp_path, monkeypatch):
    monkeypatch.setattr(sanitized, "subjects", lambda: subjects)
    (tmp_path / "main.c").write_text(sanitized.driver(list(enumerate(subjects.values()))))
    (tmp_path / "threads.c").write_text(THREE_PIECES)
    for number, one in enumerate(subjects.values()):
        (tmp_path / f"graph{number}.c").write_text(one.source.replace("tracegrad_step", f"step_{number}"))
    program = built(tmp_path, sanitizer, *sorted(tmp_path.glob("*.c")))
    for name, one in subjects.items():
        names = [r.name for r in one.graph.results if r.into is None]
        updated = {r.into: r.name for r in one.graph.results if r.into}
        for code, inputs, results in sanitized.run(program, name, one.inputs):
            assert code == 0
            found = dict(zip(names, results, strict=True))
            after = dict(zip([node.label for node in one.graph.inputs], inputs, strict=True))
            assert_close(one.graph, one.inputs, found | {updated[label]: after[label] for label in updated})


@pytest.mark.parametrize("sanitizer, word", [("thread", ""), ("address,undefined", "fork")])
def test_the_pool(sanitizer, word, tmp_path):
    (tmp_path / "main.c").write_text(DRIVER)
    program = built(tmp_path, sanitizer, tmp_path / "main.c", POOL)
    environment = {**os.environ, **sanitized.ENVIRONMENT}
    done = subprocess.run(
        [str(program), word], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 wrong\n", "")
