"""Which numbers a function only passes on: read from its source, by the place of the call that makes the number.

``return loss.item()`` and ``losses.append(loss.item())`` do nothing with the number but hand it to somebody. Then a
replay may make it from the C program's result. Everything else (a branch, arithmetic, a call) needs Python.
"""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import linecache
import sys
import textwrap
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..common.classes import is_a

Scope = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BY_NAME = frozenset({"locals", "vars", "eval", "exec", "dir", "globals", "sys", "inspect", "gc"})


@dataclass(frozen=True)
class Escape:
    """A call of ``item()`` whose number is only passed on. `lists` are the lists that it is appended to, each as the
    variable and the attributes that lead to it (``("self", "losses")``)."""

    lists: frozenset[tuple[str, ...]]


def escape_at(frame: types.FrameType) -> Escape | None:
    """What happens to the result of the call that `frame` is in; None if it is more than being passed on."""
    analysis = _analysis(frame.f_code)
    return None if analysis is None else analysis.at(frame)


class _Analysis:
    """One function's source."""

    def __init__(self, definition: ast.FunctionDef) -> None:
        self._body = definition
        self._parents = {child: node for node in ast.walk(definition) for child in ast.iter_child_nodes(node)}
        self._names = [node for node in ast.walk(definition) if is_a(node, ast.Name)]

    def at(self, frame: types.FrameType) -> Escape | None:
        calls = [node for node in ast.walk(self._body) if _is_item(node) and self._is_own(node)]
        place = _place_of(frame)
        found = [node for node in calls if _matches(node, place)]
        if len(found) != 1 or any(node.id in _BY_NAME for node in self._names):
            return None
        lists = self._sinks(found[0], frozenset())
        return None if lists is None else Escape(frozenset(lists))

    def appended_lists(self) -> set[tuple[str, ...]]:
        receivers = {_receiver_of_append(node) for node in ast.walk(self._body)}
        return {receiver for receiver in receivers if receiver is not None and self.only_appended_to(receiver)}

    def _is_own(self, node: ast.AST) -> bool:
        """True for code of the function itself, not of one inside it."""
        while node is not self._body:
            node = self._parents[node]
            if is_a(node, Scope) and node is not self._body:
                return False
        return True

    def _sinks(self, node: ast.AST, within: frozenset[str]) -> set[tuple[str, ...]] | None:
        """The lists that the value of `node` is appended to, if that or being returned is all that happens to it."""
        parent = self._parents[node]
        if is_a(parent, ast.Return):
            return set()
        if is_a(parent, (ast.Tuple, ast.List)) and is_a(parent.ctx, ast.Load):
            return self._sinks(parent, within)
        if is_a(parent, ast.Dict) and node in parent.values and None not in parent.keys:
            return self._sinks(parent, within)
        if is_a(parent, ast.Call):
            return self._appended(parent, node, within)
        if is_a(parent, ast.Assign) and len(parent.targets) == 1 and is_a(parent.targets[0], ast.Name):
            return self._assigned(parent.targets[0].id, within)
        return None

    def _appended(self, call: ast.Call, value: ast.AST, within: frozenset[str]) -> set[tuple[str, ...]] | None:
        receiver = _receiver_of_append(call)
        if receiver is None or value is not call.args[0] or not is_a(value, (ast.Call, ast.Name)):
            return None
        if not is_a(self._parents[call], ast.Expr):
            return None
        is_local = any(n.id == receiver[0] and not is_a(n.ctx, ast.Load) for n in self._names)
        if len(receiver) == 1 and is_local:
            return set() if receiver[0] in within else self._assigned(receiver[0], within)
        return {receiver}

    def _assigned(self, name: str, within: frozenset[str]) -> set[tuple[str, ...]] | None:
        """What becomes of a variable: all its uses count, and nothing else may assign it."""
        uses = [node for node in self._names if node.id == name]
        stores = [node for node in uses if not is_a(node.ctx, ast.Load)]
        elsewhere = [node for node in ast.walk(self._body) if is_a(node, (ast.Global, ast.Nonlocal))]
        declared = any(name in node.names for node in elsewhere)
        if name in within or len(stores) != 1 or declared or not all(map(self._is_own, uses)):
            return None
        lists: set[tuple[str, ...]] = set()
        for use in uses:
            if is_a(use.ctx, ast.Load) and not self._is_appended_to(use):
                further = self._sinks(use, within | {name})
                if further is None:
                    return None
                lists |= further
        return lists

    def _is_appended_to(self, name: ast.Name) -> bool:
        """True for ``name`` in the statement ``name.append(x)``."""
        call = self._parents.get(self._parents[name])
        if call is None or _receiver_of_append(call) != (name.id,):
            return False
        return is_a(self._parents[call], ast.Expr)

    def only_appended_to(self, receiver: tuple[str, ...]) -> bool:
        """True if the function names the list nowhere but where it appends to it."""
        appends = [node for node in ast.walk(self._body) if _receiver_of_append(node) == receiver]
        last = receiver[-1]
        mentions = sum(1 for node in ast.walk(self._body) if _mentions(node, last))
        return mentions == len(appends)


def only_appends(code: types.CodeType, receiver: tuple[str, ...]) -> bool:
    """True if the function with this code does nothing to the list but append."""
    analysis = _analysis(code)
    return analysis is not None and analysis.only_appended_to(receiver)


def appended_lists(code: types.CodeType) -> set[tuple[str, ...]]:
    """The lists that the function with this code appends to, wherever in it, and does nothing else with."""
    analysis = _analysis(code)
    return set() if analysis is None else analysis.appended_lists()


def _mentions(node: ast.AST, name: str) -> bool:
    if is_a(node, ast.Name):
        return node.id == name
    return (is_a(node, ast.Attribute) and node.attr == name) or (is_a(node, ast.Constant) and node.value == name)


def _receiver_of_append(node: ast.AST) -> tuple[str, ...] | None:
    """``("self", "losses")`` for ``self.losses.append(x)``."""
    if not (is_a(node, ast.Call) and len(node.args) == 1 and not node.keywords):
        return None
    function = node.func
    if not (is_a(function, ast.Attribute) and function.attr == "append"):
        return None
    path: list[str] = []
    owner = function.value
    while is_a(owner, ast.Attribute):
        path.append(owner.attr)
        owner = owner.value
    return (owner.id, *path[::-1]) if is_a(owner, ast.Name) else None


def _is_item(node: ast.AST) -> bool:
    return is_a(node, ast.Call) and is_a(node.func, ast.Attribute) and node.func.attr == "item"


# ------------------------------------------------------------------------------------------------ places and sources

_ATTEMPTS = 100  # to parse a text
_Place = tuple[int, int | None, int | None, int | None]


def _place_of(frame: types.FrameType) -> _Place:
    """Line, and from Python 3.11 on end line and columns, of the call that the frame is in."""
    if not hasattr(frame.f_code, "co_positions"):
        return frame.f_lineno, None, None, None
    positions: Iterator[Any] = frame.f_code.co_positions()
    line, end, column, end_column = next(itertools.islice(positions, frame.f_lasti // 2, None))
    return line, end, column, end_column


def _matches(node: Any, place: _Place) -> bool:
    line, end, column, end_column = place
    if end is None:
        return bool(node.lineno <= line <= node.end_lineno)
    return (node.lineno, node.end_lineno, node.col_offset, node.end_col_offset) == (line, end, column, end_column)


def _parsed(text: str) -> ast.Module:
    """A text as a tree; an empty one where it is no Python: a lambda in the middle of an expression, text in several
    lines that starts further left."""
    for _ in range(_ATTEMPTS):
        try:
            return ast.parse(text)
        except SyntaxError:
            break
        except SystemError:  # Python 3.11 counts the depth of what all threads parse as one
            continue
    return ast.Module([], [])


@functools.lru_cache(maxsize=256)
def _analysis(code: types.CodeType) -> _Analysis | None:
    """The source of a plain function, if there is one and it is what the code was made of."""
    try:
        lines, start = _source_lines(code)
    except (OSError, TypeError):
        return None
    if not lines:
        return None
    text = textwrap.dedent("".join(lines))
    indent = len(lines[0]) - len(lines[0].lstrip())
    tree = _parsed(text)
    definition = tree.body[0] if len(tree.body) == 1 else None
    if not is_a(definition, ast.FunctionDef):  # the file has been edited, and something else stands there
        return None
    ast.increment_lineno(tree, start - 1)
    if not _is_source_of(tree, code):
        return None
    _shift_columns(tree, indent)
    return _Analysis(definition)


def _source_lines(code: types.CodeType) -> tuple[list[str], int]:
    """As `inspect.getsourcelines`, which looks at all modules that there are (20 ms) to find the one of the code, whose
    loader then need not be asked where there is a file. No lines where there can be none."""
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename)[code.co_firstlineno - 1 :]
    if not lines and code.co_filename.startswith("<") and sys.version_info < (3, 13):  # which knows some of these
        return [], 0
    return (inspect.getblock(lines), code.co_firstlineno) if lines else inspect.getsourcelines(code)


def _is_source_of(tree: ast.Module, code: types.CodeType) -> bool:
    """True if the tree compiles to this code: the file may have been edited since."""
    stripped = ast.Module([_without_decorators(tree.body[0])], [])
    try:
        module = compile(stripped, code.co_filename, "exec")
    except SyntaxError:  # a nonlocal variable: alone, the function has none
        return False
    own = [c for c in module.co_consts if is_a(c, types.CodeType) and c.co_name == code.co_name]
    return len(own) == 1 and _shape(own[0]) == _shape(code)


def _without_decorators(definition: Any) -> Any:
    fields = {name: getattr(definition, name) for name in definition._fields if hasattr(definition, name)}
    plain = ast.FunctionDef(**{**fields, "decorator_list": []})
    return ast.copy_location(plain, definition)


def _shape(code: types.CodeType) -> Any:
    """What two compilations of one source have in common: a function's free variables are globals outside of it."""
    names = set(code.co_names) | set(code.co_freevars)
    return code.co_argcount, code.co_varnames + code.co_cellvars, names, [c for c in code.co_consts if _is_plain(c)]


def _is_plain(constant: Any) -> bool:
    return is_a(constant, (str, int, float, tuple))


def _shift_columns(tree: ast.AST, indent: int) -> None:
    for node in ast.walk(tree):
        if is_a(node, (ast.expr, ast.stmt)):
            node.col_offset += indent
            node.end_col_offset = (node.end_col_offset or 0) + indent
