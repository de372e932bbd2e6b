"""A failing program made smaller, as long as it fails in the same way.

The program's syntax tree is edited: statements are left out, blocks replaced by what is in them, calls and operations
by one of their operands, numbers by smaller ones (everywhere at once, so that shapes go on fitting).
"""

from __future__ import annotations

import ast
import copy
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

Edit = Callable[[ast.Module], bool]
BODIES = ("body", "orelse", "finalbody")


def shrunk(text: str, fails: Callable[[str], bool], seconds: float = 120.0) -> str:
    """The smallest program that was found within `seconds` for which ``fails(text)`` still holds."""
    end = time.monotonic() + seconds
    tree, smaller = ast.parse(text), True
    while smaller:
        smaller = False
        for proposal in proposals:
            position = 0
            while time.monotonic() < end:
                candidate = copy.deepcopy(tree)
                if not proposal(candidate, position):
                    break
                if fails(ast.unparse(ast.fix_missing_locations(candidate))):
                    tree, smaller = candidate, True
                else:
                    position += 1
    return ast.unparse(tree)


def kind_of(answer: dict[str, Any]) -> str:
    """What must stay the same of a failure: the outcome and, without its numbers, what differs or is raised."""
    lines = answer["detail"].strip().splitlines() or [""]
    line = lines[-1].partition(":")[0] if answer["outcome"] == "failed" else lines[0].partition("\n")[0]
    return f"{answer['outcome']} {re.sub(r'[0-9].*?(?=:|$)', '', line)[:60]}"


def smaller_program(answer: dict[str, Any], judge: Callable[[dict[str, Any]], dict[str, Any]], seconds: float) -> str:
    """The shrunk text of a failure that a worker has found."""
    seed, wanted = answer["seed"], kind_of(answer)

    def fails(text: str) -> bool:
        return kind_of(judge({"seed": seed, "text": text})) == wanted

    return shrunk(answer["text"], fails, seconds)


# -------------------------------------------------------------------------------------------------------------- edits


def lists_of_statements(tree: ast.AST) -> Iterator[list[Any]]:
    for node in ast.walk(tree):
        for name in BODIES:
            found = getattr(node, name, None)
            if isinstance(found, list):
                yield found


def leave_out(tree: ast.Module, position: int) -> bool:
    """Delete neighbours, first many and then one; those at the end first, on which least depends."""
    bodies = list(lists_of_statements(tree))
    places = [(body, i, size) for size in (8, 4, 2, 1) for body in bodies for i in range(len(body) - size, -1, -1)]
    if position >= len(places):
        return False
    body, i, size = places[position]
    body[i : i + size] = [] if len(body) > size else [ast.Pass()]
    return True


def unwrap(tree: ast.Module, position: int) -> bool:
    """Put the statements of a block in its place."""
    blocks = [
        (body, i)
        for body in lists_of_statements(tree)
        for i, s in enumerate(body)
        if isinstance(s, (ast.With, ast.If, ast.For, ast.Try))
    ]
    if position >= len(blocks):
        return False
    body, i = blocks[position]
    body[i : i + 1] = [*body[i].body, *getattr(body[i], "finalbody", [])]
    return True


def operands(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Call):
        receiver = [node.func.value] if isinstance(node.func, ast.Attribute) else []
        return [*receiver, *node.args]
    if isinstance(node, ast.Subscript):
        return [node.value]
    return list(node.elts) if isinstance(node, (ast.Tuple, ast.List)) else []


def simplify(tree: ast.Module, position: int) -> bool:
    """Replace an expression by one of its operands, or leave out an argument or element."""
    edits: list[Callable[[], None]] = []
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            for i, child in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(child, ast.expr):
                    continue
                for operand in operands(child):
                    edits.append(_replacing(parent, name, i if isinstance(value, list) else None, operand))
        for items in (
            getattr(parent, "keywords", []),
            parent.elts if isinstance(parent, (ast.Tuple, ast.List)) else [],
        ):
            edits += [lambda items=items, i=i: items.pop(i) for i in range(len(items))]
    if position >= len(edits):
        return False
    edits[position]()
    return True


def _replacing(parent: ast.AST, name: str, index: int | None, new: ast.expr) -> Callable[[], None]:
    def edit() -> None:
        if index is None:
            setattr(parent, name, new)
        else:
            getattr(parent, name)[index] = new

    return edit


def lower(tree: ast.Module, position: int) -> bool:
    """Make a whole number smaller wherever it occurs."""
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Constant) and type(n.value) is int and n.value > 1]
    values = sorted({n.value for n in found if n.value < 100}, reverse=True)
    changes = [(v, w) for v in values for w in ({1, v // 2, v - 1} - {0})]
    if position >= len(changes):
        return False
    old, new = changes[position]
    for node in found:
        if node.value == old:
            node.value = new
    return True


proposals: list[Callable[[ast.Module, int], bool]] = [leave_out, unwrap, simplify, lower]
