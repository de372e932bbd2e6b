"""Graphs as text for people; `text.py` reads it back.

graph step(x: f32[32,8], w: f32[8,4]):
  %0: f32[32,4] = dot x, w        # model.py:4
  %1: f32[32,4] = mul 2.0, %0     # ∂ model.py:5 fc1
  return y=%0
  update w = %1
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from .literals import constant_text, name_text, value_text
from .node import Node, Result

# A longer header has one line for each input.
LONGEST_HEADER = 110
# Statements are padded to the longest one, as long as that is not beyond this column.
COMMENT_COLUMN = 80


def graph_text(name: str, nodes: Sequence[Node], results: Sequence[Result], shown: Callable[[str], str] = str) -> str:
    """The whole graph, each node with the place it comes from. `shown` is how a statement or header is to be read."""
    names = node_names(nodes)
    statements = [(shown(node_text(n, names)), str(n.origin)) for n in nodes if is_statement(n)]
    return "\n".join([shown(header_text(name, nodes)), *aligned(statements), *_result_lines(results, names)])


def structure_text(name: str, nodes: Sequence[Node], results: Sequence[Result]) -> str:
    """The text without origins: equal for graphs that compute the same in the same way."""
    names = node_names(nodes)
    statements = [node_text(n, names) for n in nodes if is_statement(n)]
    return "\n".join([header_text(name, nodes), *statements, *_result_lines(results, names)])


def header_text(name: str, nodes: Sequence[Node]) -> str:
    """``graph name(x: f32[2], ...):``"""
    inputs = [f"{name_text(n.label)}: {n.type}" for n in nodes if n.is_input]
    line = f"graph {name_text(name)}({', '.join(inputs)}):"
    if len(line) <= LONGEST_HEADER:
        return line
    return "\n".join([f"graph {name_text(name)}(", *(f"    {i}," for i in inputs), "):"])


def node_names(nodes: Sequence[Node]) -> dict[Node, str]:
    """How operands are written: inputs by label, constants as literals, the others numbered."""
    names: dict[Node, str] = {}
    count = 0
    for node in nodes:
        if is_statement(node):
            names[node] = f"%{count}"
            count += 1
        elif node.is_input:
            names[node] = name_text(node.label)
        else:
            names[node] = constant_text(node.param("value"), node.type.dtype)
    return names


def node_text(node: Node, names: Mapping[Node, str]) -> str:
    """``%4: f32[] = sum %3 axes=(0, 1)``"""
    operands = ", ".join(names[a] for a in node.args)
    params = " ".join(f"{key}={value_text(value)}" for key, value in node.params)
    call = " ".join(part for part in (node.op.name, operands, params) if part)
    return f"{names[node]}: {node.type} = {call}"


def aligned(statements: Sequence[tuple[str, str]]) -> list[str]:
    """Indented lines with their comments at one column, and the `=` signs too."""
    heads = [text.partition(" = ")[0] for text, _ in statements]
    head = max(map(len, heads), default=0)
    lines = [f"{left:{head}} = {text.partition(' = ')[2]}" for left, (text, _) in zip(heads, statements, strict=True)]
    column = max((len(line) for line in lines if len(line) <= COMMENT_COLUMN), default=0)
    comments = [printable(origin) for _, origin in statements]
    return [f"  {line:{column}}  # {o}" if o else f"  {line}" for line, o in zip(lines, comments, strict=True)]


def printable(text: str) -> str:
    """File names are the user's: nothing in them may end the comment."""
    return "".join(c if c.isprintable() else "?" for c in text)


def is_statement(node: Node) -> bool:
    """True for what has a line of its own: inputs stand in the header, constants where they are read."""
    return not (node.is_input or node.is_constant)


def _result_lines(results: Sequence[Result], names: Mapping[Node, str]) -> list[str]:
    """The results in order: neighbours that are returned share a line, updates have one each."""
    lines = []
    for returned, group in groupby(results, lambda r: r.is_returned):
        if returned:
            lines.append("  return " + ", ".join(f"{name_text(r.name)}={names[r.node]}" for r in group))
        else:
            lines.extend(f"  {_update_text(r, names)}" for r in group)
    return lines


def _update_text(result: Result, names: Mapping[Node, str]) -> str:
    if result.is_check:
        return f"check {name_text(result.name)} = {names[result.node]}"
    assert result.into is not None
    under = "" if result.name == result.into else f" as {name_text(result.name)}"
    return f"update {name_text(result.into)}{under} = {names[result.node]}"
