"""Answers to the questions of the table, and the summary: ``pytest tests/semantics --semantics-table``."""

import collections
import importlib

import pytest
from semantics import table

from tracegrad.compiled.binding import Binding

SERVED = collections.Counter()


@pytest.fixture
def answer(tg, monkeypatch):
    """``answer(question)`` checks one row of the table."""
    c_calls = []
    run_c = Binding.run
    monkeypatch.setattr(Binding, "run", lambda binding: (c_calls.append(binding), run_c(binding))[1])

    def check(question):
        assert question.text, "a question asks something"
        if tg.__name__ == "torch":
            table.answer_in_pytorch(tg, importlib.import_module("tracegrad"), question)
        else:
            SERVED[question.section, table.answer(tg, question, c_calls)] += 1
            SERVED[question.section, "refused with fullgraph"] += question.way == table.RERECORD

    return check


def pytest_terminal_summary(terminalreporter, config):
    if config.getoption("--semantics-table"):
        terminalreporter.write_line(summary())


def summary():
    """Section by way, counted over the answers that were right."""
    columns = [table.REPLAY, table.RERECORD, table.EAGER, "refused with fullgraph"]
    sections = list(dict.fromkeys(section for section, _ in SERVED))
    rows = [(section, *(SERVED[section, way] for way in columns)) for section in sections]
    rows.append(("all", *(sum(row[i + 1] for row in rows) for i in range(len(columns)))))
    width = max(len(row[0]) for row in rows)
    lines = [f"| {'section':{width}} | questions | " + " | ".join(columns) + " |"]
    lines.append(f"|{'-' * (width + 2)}|----------:|" + "|".join("-" * (len(c) + 1) + ":" for c in columns) + "|")
    for name, *counts in rows:
        cells = " | ".join(f"{n:>{len(c)}}" for n, c in zip(counts, columns, strict=True))
        lines.append(f"| {name:{width}} | {sum(counts[:3]):>9} | {cells} |")
    return "\n".join(lines)
