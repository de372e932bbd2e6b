"""A program run as ``python prog.py`` and ``python -m module`` run it: in a fresh ``__main__``."""

from __future__ import annotations

import builtins
import importlib.util
import io
import os
import sys
import traceback
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any

from ..tracing.tracebacks import fold
from . import notebook

_PACKAGE = Path(__file__).parents[1]
_NO_PROGRAM = 2  # exit code of Python where the file of the program is not there
_OURS = tuple(f"{_PACKAGE / folder}{os.sep}" for folder in ("commandline", "shim"))


def run(name: str, arguments: list[str], is_module: bool) -> None:
    """Run a file, a folder with ``__main__.py``, a notebook or a module as the main program.

    What it raises is raised, and shown without the frames of who ran it.
    """
    main = ModuleType("__main__")
    main.__builtins__ = builtins  # type: ignore[attr-defined]
    main.__annotations__ = {}
    sys.argv = [name, *arguments]
    try:
        pieces = _of_module(main, name) if is_module else _of_file(main, name)
        sys.modules["__main__"] = main
        for code in pieces:
            exec(code, vars(main))
    except BaseException as error:
        _fold_all(error)
        _hide_frames(error)
        raise


def _fold_all(error: BaseException | None) -> None:
    """Fold the library's frames in what has left the program, and in what that came from."""
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        fold(error)
        error = error.__cause__ or error.__context__


def _of_file(main: ModuleType, name: str) -> list[CodeType]:
    path = os.path.abspath(os.path.join(name, "__main__.py") if os.path.isdir(name) else name)
    sys.path[0] = name if os.path.isdir(name) else os.path.dirname(os.path.realpath(name))
    main.__file__ = path
    main.__cached__ = None  # type: ignore[attr-defined]
    if not os.path.exists(path):
        print(f"python -m tracegrad run: can't open file {path!r}: there is no such file", file=sys.stderr)
        sys.exit(_NO_PROGRAM)
    if path.endswith(".ipynb"):
        vars(main).update(notebook.NAMES)
        sys.excepthook = traceback.print_exception  # which shows lines of cells
        return notebook.cells(path)
    main.__loader__ = SourceFileLoader("__main__", path)
    with io.open_code(path) as file:
        return [compile(file.read(), path, "exec", dont_inherit=True)]


def _of_module(main: ModuleType, name: str) -> list[CodeType]:
    sys.path[0] = os.getcwd()
    spec = _spec_of(name)
    loader: Any = spec.loader
    code = loader.get_code(spec.name)
    main.__spec__ = spec
    main.__file__ = sys.argv[0] = spec.origin
    main.__package__, main.__loader__ = spec.parent, loader
    main.__cached__ = spec.cached  # type: ignore[attr-defined]
    return [code]


def _spec_of(name: str) -> Any:
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            spec = importlib.util.find_spec(f"{name}.__main__")
    except (ImportError, AttributeError, TypeError, ValueError) as error:
        sys.exit(f"python -m tracegrad run: error while finding module specification for {name!r} ({error})")
    if spec is None or spec.loader is None:
        sys.exit(f"python -m tracegrad run: no module named {name}, or it has no __main__")
    return spec


def _hide_frames(error: BaseException) -> None:
    """Let whoever shows `error` show the program's frames, from the first one on."""
    before = sys.excepthook
    first = _programs(error.__traceback__)

    def show(kind: type[BaseException], value: BaseException, tb: TracebackType | None) -> Any:
        if value is error:
            value, tb = value.with_traceback(first), first
        return before(kind, value, tb)

    sys.excepthook = show


def _programs(tb: TracebackType | None) -> TracebackType | None:
    """The traceback without the frames of who ran the program, and of who looked for torch's modules."""
    while tb is not None and _is_ours(tb):
        tb = tb.tb_next
    last = tb
    while last is not None:
        while last.tb_next is not None and _is_ours(last.tb_next):
            last.tb_next = last.tb_next.tb_next
        last = last.tb_next
    return tb


def _is_ours(tb: TracebackType) -> bool:
    return tb.tb_frame.f_code.co_filename.startswith(_OURS)
