"""The documentation's code runs and shows what stands there: one test for each page.

Blocks of one page run one after the other in one namespace. A `python` block with prompts is a doctest; one without is
run as it is, and a `text` block right behind it is what it prints. `...` stands for whatever differs between machines.
"""

import contextlib
import doctest
import io
import linecache
import os
import re
import shlex
import sys
import traceback
from pathlib import Path
from unittest import mock

import pytest

import tracegrad
from tracegrad import shim
from tracegrad.commandline import main

DOCS = Path(__file__).resolve().parents[1] / "docs"
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page):
    """The fenced blocks of a page: language, text, line, and the offset behind it."""
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        yield found[1], found[2], text.count("\n", 0, found.start(2)), text[: found.start()].rstrip().endswith("```")


PAGES = sorted(page for page in DOCS.rglob("*.md") if any(block[0] == "python" for block in blocks(page)))


class Tracebacks:
    """What doctest asks of `traceback`: Python 3.10 takes an error's last note for all of its message."""

    print_exception = staticmethod(traceback.print_exception)
    format_exception_only = staticmethod(lambda *error: ["".join(traceback.format_exception_only(*error))])


def run_prompts(page, text, line, namespace):
    test = doctest.DocTestParser().get_doctest(text, namespace, page.stem, str(page), line)
    report = []
    with mock.patch.object(doctest, "traceback", Tracebacks):
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append, clear_globs=False)
    namespace.update(test.globs)
    assert not report, "".join(report)


def run_program(page, text, line, namespace):
    """What it prints. Its lines are those of a file `page.py`, which the library finds as it finds any other."""
    name = f"{page.stem}.py"
    whole = page.read_text(encoding="utf-8")
    linecache.cache[name] = (len(whole), None, whole.splitlines(keepends=True), name)
    text = "\n" * line + text
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(text, name, "exec"), namespace)
    return printed.getvalue()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_the_code_does_what_the_page_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tracegrad.manual_seed(0)
    namespace, printed = {"__name__": page.stem}, ""
    for language, text, line, follows in blocks(page):
        if language == "python" and text.startswith(">>> "):
            run_prompts(page, text, line, namespace)
            printed = ""
        elif language == "python":
            printed = run_program(page, text, line, namespace)
        elif language == "text" and follows and printed:
            assert doctest.OutputChecker().check_output(text, printed, FLAGS), f"{page}:{line} shows\n{text}\n{printed}"
        elif language == "console":
            run_commands(text)


def run_commands(text):
    """``python -m tracegrad`` with what the page's programs have written; other commands are for people."""
    for line in text.splitlines():
        words = shlex.split(line.removeprefix("$ "))
        if words[:3] == ["python", "-m", "tracegrad"] and Path(words[-1]).exists():
            try:
                with contextlib.redirect_stdout(io.StringIO()), as_a_process():
                    assert main(words[3:]) in (0, None)
            finally:
                shim.uninstall()  # else later tests would see PyTorch's names in what is printed


@contextlib.contextmanager
def as_a_process():
    """Put back what a program that is run has for itself, and for its child processes."""
    main_module = sys.modules["__main__"]
    with mock.patch.dict(os.environ), mock.patch.multiple(sys, argv=[*sys.argv], path=[*sys.path]):
        try:
            yield
        finally:
            sys.modules["__main__"] = main_module


def test_pages_lie_in_the_contents():
    """No page without a way to it, no way to nowhere."""
    listed = set()
    for page in DOCS.rglob("*.md"):
        for tree in re.findall(
            r"^```\{toctree\}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
        ):
            for line in tree.splitlines():
                name = line.partition("<")[2].rstrip(">") or line
                if name and not name.startswith(":"):
                    listed.add(os.path.relpath(page.parent / name.strip(), DOCS))
    generated = {name for name in listed if name.startswith(("examples/", "api/"))}
    pages = {str(page.relative_to(DOCS).with_suffix("")) for page in DOCS.rglob("*.md")}
    pages = {name for name in pages if not name.startswith(("examples/", "api/", "build/"))}
    assert listed - generated == pages - {"index"}
