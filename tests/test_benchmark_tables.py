"""The tables of docs/performance.md: which rows they have, how a run is resumed, what is written. Nothing is timed."""

import argparse

import numpy as np
import pytest

import tracegrad as tg
from tracegrad.benchmarks import off_list, programs
from tracegrad.benchmarks.tables import __main__ as command
from tracegrad.benchmarks.tables import kernels, markdown, plan
from tracegrad.benchmarks.tables.results import CACHED, COLD, Results
from tracegrad.benchmarks.workloads import BUILDERS

SMALL = ["mlp-odd", "norm-37", "conv-transposed", "conv-groupnorm", "conv1d-odd", "lstm-37", "attention-37", "loop-mlp"]


def figures(us, **more):
    return dict(dict(median_us=us, first_step_s=0.5, rss_mb=70, foreign=0.01, loss_n=1.0), **more)


def row_called(name):
    return next(row for row in plan.all_rows() if row.name == name)


def test_the_tables_have_all_workloads_and_more_than_forty_rows_off_the_list():
    names = [row.name for row in plan.all_rows()]
    assert {f"{name}/{threads}" for name in BUILDERS for threads in (1, 2)} <= set(names)
    assert len(off_list.ROWS) >= 40 and len(set(names)) == len(names)
    assert all("tracegrad" in row.peers and len(row.peers) > 2 for row in plan.all_rows())


@pytest.mark.long(fast=4)
@pytest.mark.parametrize("name", SMALL)
def test_rows_are_models_with_a_loss_that_is_differentiated(name):
    work = off_list.workload(name)
    program = programs.build(tg, work)
    x, y = programs.batches(tg, work)[0]
    before = [p.detach().numpy().copy() for p in program.model.parameters()]
    loss = programs.train_step(tg, program, work)(x, y)
    assert np.isfinite(loss.item())
    after = [p.detach().numpy() for p in program.model.parameters()]
    assert all((p != q).any() for p, q in zip(before, after, strict=True))


def test_inference_gives_what_the_model_computes():
    work = off_list.workload("mlp-inference-1")
    out = programs.train_step(tg, programs.build(tg, work), work)(*programs.batches(tg, work)[0])
    assert out.shape == (1, 10) and not out.requires_grad


def test_runs_that_the_file_has_are_not_repeated(tmp_path):
    row, results = row_called("gru/1"), Results(tmp_path / "results.jsonl")
    args = argparse.Namespace(start=None, rounds=2)
    everything = list(command.missing_runs([row], results, args))
    assert len(everything) == 3 * len(row.peers)
    results.add(row, "tracegrad", COLD, figures(9))
    results.add(row, "jax", CACHED, dict(error="over 60 s"))
    left = list(command.missing_runs([row], Results(results.path), args))
    assert sorted(map(str, everything)) == sorted(map(str, [*left, (row, "tracegrad", COLD), (row, "jax", CACHED)]))


PAGE = "".join(f"<!-- table {name} -->\n\nold\n\n<!-- end {name} -->\n" for name in markdown.TABLES)


def test_the_page_of_the_documentation_has_a_place_for_each_table(tmp_path):
    markdown.require_places(command.ROOT / "docs" / "performance.md")
    (tmp_path / "page.md").write_text(PAGE.replace("<!-- end kernels -->", ""))
    with pytest.raises(ValueError, match="no place for a table: <!-- table kernels -->"):
        markdown.require_places(tmp_path / "page.md")


def test_tables_are_written_between_their_markers_and_the_others_stay(tmp_path):
    page, results = tmp_path / "page.md", Results(tmp_path / "results.jsonl")
    page.write_text(PAGE)
    row = row_called("T2/1")
    results.add(row, "tracegrad", CACHED, figures(20.0))
    results.add(row, "jax", CACHED, figures(90.0))
    results.add(row, "numpy", CACHED, figures(1.0, loss_n=2.0))  # another loss: it does something else
    kernel = dict(flops=4e6, nbytes=1000, roofline=0.5, where=["m.py:1"])
    results.add_profile("T7", [dict(kernel, kernel=f"dot_{i}", us=10.0) for i in range(3)], CACHED)
    assert markdown.write(page, results) == 0
    text = page.read_text()
    assert "| **20 µs** | 90 µs | 4.50 | 3 |" in text and "1 µs |" not in text
    assert "| `dot` | 3 | 30 | 100.0% | 400 | 0 | 50% |" in text
    assert text.count("old") == 3  # two threads, and both tables off the list
    assert markdown.write(page, results) == 0 and page.read_text() == text


def test_a_row_behind_without_a_reason_is_an_error(tmp_path, capsys):
    page, results, row = tmp_path / "page.md", Results(tmp_path / "results.jsonl"), row_called("gru/1")
    page.write_text(PAGE)
    results.add(row, "tracegrad", CACHED, figures(20.0))
    results.add(row, "jax", CACHED, figures(19.0))
    assert markdown.write(page, results) == 1
    assert "no reason written: gru/1: 0.95 of 1" in capsys.readouterr().err
    assert "**no reason written**" in page.read_text()


def test_what_contractions_take_of_each_step():
    kernel = dict(roofline=0.5, where=[])
    rows = [
        dict(kernel, kernel="dot_add_3", us=3.0, flops=6000, nbytes=10),
        dict(kernel, kernel="sum_mul", us=1.0, flops=5, nbytes=2000),
    ]
    *_, both, one = kernels.shares({"T1": rows, "T10": rows[1:]})
    assert both == "| T1 | 2 | 0.004 | 75% | 2 | 25% | 2 | 50% |"
    assert one == "| T10 | 1 | 0.001 | – | – | 100% | 2 | 50% |"


def test_kernels_of_one_form_are_one_row():
    rows = [
        dict(kernel=k, us=u, flops=0, nbytes=0, roofline=1.0, where=[]) for k, u in (("a_1", 1), ("b_0", 5), ("a_2", 2))
    ]
    assert [(row["form"], row["count"], row["us"]) for row in kernels.together(rows)] == [("b", 1, 5), ("a", 2, 3)]
