"""Reading graph text back: ``parse(str(graph)) == graph``. How it is written is in `printing.py`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, NoReturn

from ..ops.core import REGISTRY, Primitive
from ..ops.lazy import late
from ..ops.types import ALL_DTYPES, DType, Type, bool_, dtype_named, float32
from .graph import NOWHERE, Builder, Graph, Node, Origin, Result
from .literals import PLAIN_NAME, WORDS

difflib = late("difflib")

_SHORT_DTYPES = {d.short for d in ALL_DTYPES}
_TOKEN = re.compile(
    r"""
      (?P<space>   [ \t]+ | \#.* )
    | (?P<string>  "(?: [^"\\] | \\. )*" )
    | (?P<value>   %\d+ )
    | (?P<number>  -?(?: \d+\.?\d*(?:e[+-]?\d+)? | nan | inf )
                   (?P<suffix> f64 | f16 | bf16 | u8 | i8 | i16 | i32 | i64 )? (?![\w.]) )
    | (?P<name>    """
    + PLAIN_NAME.pattern
    + r""" )
    | (?P<mark>    [()\[\],:=] )
    | (?P<unknown> . )
    """,
    re.VERBOSE,
)
_ORIGIN = re.compile(r"(?P<derivative>∂ ?)?(?:(?P<file>[^ ].*?):(?P<line>\d+)(?: |$))?(?P<module>\S+)?")


class GraphTextError(ValueError):
    """Text that is no graph; the message shows the line."""


class Token(NamedTuple):
    kind: str
    text: str
    suffix: str = ""


END = Token("end", "the end of the line")


def parse(text: str) -> Graph:
    """The graph that `text` describes.

    GraphTextError for text that does not follow the form of ``str(graph)``, for unknown ops, and where a type is not
    the one that the op's type rule gives.
    """
    lines = list(_lines(text))
    if not lines:
        raise GraphTextError("no graph in the text\n  it is empty\n  begin with a line such as `graph f(x: f32[2]):`")
    reader = _GraphReader()
    name = reader.header(lines[0])
    for line in lines[1:]:
        reader.statement(line)
    return Graph(name, tuple(reader.inputs), tuple(reader.results))


def _lines(text: str) -> Iterator[_Line]:
    """Lines that say something; a header that is spread over several lines, ``graph f(`` to ``):``, is joined."""
    header = ""
    for number, line in enumerate(text.splitlines(), 1):
        line = f"{header} {line.strip()}" if header else line
        header = line if line.startswith("graph") and line.rstrip().endswith(("(", ",")) else ""
        if not header and line.strip() and not line.lstrip().startswith("#"):
            yield _Line(number, line)
    if header:
        yield _Line(number, header)


@dataclass
class _Line:
    """The tokens of one line, read from left to right."""

    number: int
    text: str
    position: int = 0
    tokens: list[Token] = field(init=False)  # the last one is END

    def __post_init__(self) -> None:
        found = [m for m in _TOKEN.finditer(self.text) if not m["space"]]
        self.tokens = [*(Token(_kind(m), m.group(), m["suffix"] or "") for m in found), END]

    def fail(self, problem: str, advice: str) -> NoReturn:
        raise GraphTextError(f"{problem}\n  in line {self.number}: {self.text.strip()}\n  {advice}")

    def peek(self, ahead: int = 0) -> Token:
        return self.tokens[min(self.position + ahead, len(self.tokens) - 1)]

    def next(self) -> Token:
        token = self.peek()
        self.position += 1
        return token

    def take(self, mark: str) -> bool:
        """Step over `mark` if it comes next."""
        found = self.peek().text == mark and self.peek().kind != "string"
        self.position += found
        return found

    def expect(self, mark: str) -> None:
        if not self.take(mark):
            self.fail(f"expected {mark!r}, found {self.peek().text!r}", "write it as str(graph) does")

    def name(self) -> str:
        token = self.next()
        if token.kind == "string":
            return str(json.loads(token.text))
        if token.kind != "name":
            self.fail(f"expected a name, found {token.text!r}", "names with special characters stand in double quotes")
        return token.text

    def integer(self) -> int:
        token = self.next()
        if not token.text.isdigit():
            self.fail(f"expected an extent, found {token.text!r}", "types are written f32[32,4]")
        return int(token.text)

    def type(self) -> Type:
        dtype = self.name()
        if dtype not in _SHORT_DTYPES:
            self.fail(f"no element type is called {dtype!r}", f"there are {', '.join(d.short for d in ALL_DTYPES)}")
        self.expect("[")
        return Type(dtype_named(dtype), tuple(self.sequence("]", self.integer)))

    def sequence(self, end: str, item: Any) -> list[Any]:
        """Items with commas between (and maybe one behind) up to the mark `end`."""
        items = []
        while not self.take(end):
            items.append(item())
            if not self.take(","):
                self.expect(end)
                break
        return items

    def value(self) -> Any:
        """A parameter's value."""
        if self.take("("):
            return tuple(self.sequence(")", self.value))
        token = self.peek()
        if token.text in _SHORT_DTYPES:
            return self.type() if self.peek(1).text == "[" else dtype_named(self.next().text)
        self.position += 1
        if token.kind == "string":
            return json.loads(token.text)
        if token.kind == "number" and not token.suffix:
            return _number(token.text)
        if token.text not in WORDS:
            self.fail(f"{token.text!r} is no value of a parameter", "there are numbers, strings, types, tuples")
        return WORDS[token.text]

    def origin(self) -> Origin:
        """What the comment behind the line says."""
        comments = [m["space"] for m in _TOKEN.finditer(self.text) if (m["space"] or "").startswith("#")]
        match = _ORIGIN.fullmatch(comments[-1][1:].strip()) if comments else None
        if not match or not match.group():
            return NOWHERE
        return Origin(match["file"] or "", int(match["line"] or 0), match["module"] or "", bool(match["derivative"]))


def _kind(match: re.Match[str]) -> str:
    return next(kind for kind in ("string", "value", "number", "name", "mark", "unknown") if match[kind])


def _number(text: str) -> int | float:
    return int(text) if text.lstrip("-").isdigit() else float(text)


@dataclass
class _GraphReader:
    """What has been read so far: values by name, and what the graph takes and gives."""

    builder: Builder = field(default_factory=Builder)
    named: dict[str, Node] = field(default_factory=dict)
    inputs: list[Node] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)

    def header(self, line: _Line) -> str:
        """``graph name(x: f32[2], ...):`` gives the name, and the inputs to `inputs`."""
        line.expect("graph")
        name = line.name()
        line.expect("(")
        line.sequence(")", lambda: self._input(line))
        line.expect(":")
        return name

    def _input(self, line: _Line) -> None:
        label = line.name()
        line.expect(":")
        node = self.builder.input(label, line.type())
        self._enter(line, label, node)
        self.inputs.append(node)

    def statement(self, line: _Line) -> None:
        """One line below the header."""
        if line.peek().kind == "value":
            self._node(line)
        elif line.take("return"):
            self.results.extend(self._returned(line) for _ in _separated(line))
        elif line.take("update"):
            self.results.append(self._update(line))
        elif line.take("check"):
            self.results.append(replace(self._returned(line), is_check=True))
        else:
            line.fail(f"{line.peek().text!r} begins no statement", "lines begin with %number, return, update or check")
        if line.peek() is not END:
            line.fail(f"{line.peek().text!r} was not expected here", "one statement stands in a line")

    def _node(self, line: _Line) -> None:
        name = line.next().text
        line.expect(":")
        wanted = line.type()
        line.expect("=")
        primitive = _primitive(line)
        operands = [] if _at_params(line) else [self._operand(line) for _ in _separated(line)]
        params = dict(_params(line))
        node = self._applied(line, primitive, operands, params)
        if node.type != wanted:
            line.fail(f"{primitive.name} gives {node.type}, not {wanted}", "correct the type or the operands")
        self._enter(line, name, replace(node, origin=line.origin()))

    def _applied(self, line: _Line, primitive: Primitive, operands: list[Node], params: dict[str, Any]) -> Node:
        if not primitive.variadic and len(operands) != len(primitive.inputs):
            line.fail(
                f"{primitive.name} takes {len(primitive.inputs)} operands, not {len(operands)}",
                f"its operands are {', '.join(primitive.inputs) or 'none'}",
            )
        try:
            return self.builder.apply(primitive, operands, params)
        except Exception as problem:  # whatever a type rule says of bad operands or parameters
            line.fail(f"{primitive.name}: {problem}", "its type rule must accept the operands and the parameters")

    def _operand(self, line: _Line) -> Node:
        token = line.peek()
        if token.kind == "number" or token.text in ("true", "false"):
            return self._constant(line.next())
        name = line.next().text if token.kind == "value" else line.name()
        if name not in self.named:
            line.fail(f"{name} is not known here", "operands are inputs, or values of lines above")
        return self.named[name]

    def _constant(self, token: Token) -> Node:
        if token.kind != "number":
            return self.builder.constant(WORDS[token.text], bool_)
        dtype: DType = dtype_named(token.suffix) if token.suffix else float32
        return self.builder.constant(_number(token.text.removesuffix(token.suffix)), dtype)

    def _returned(self, line: _Line) -> Result:
        name = line.name()
        line.expect("=")
        return Result(name, self._operand(line))

    def _update(self, line: _Line) -> Result:
        into = line.name()
        name = line.name() if line.take("as") else into
        line.expect("=")
        return Result(name, self._operand(line), into)

    def _enter(self, line: _Line, name: str, node: Node) -> None:
        if name in self.named:
            line.fail(f"{name} is defined twice", "each value has a name of its own")
        self.named[name] = node


def _separated(line: _Line) -> Iterable[None]:
    """One turn for each item of a list with commas between."""
    yield
    while line.take(","):
        yield


def _at_params(line: _Line) -> bool:
    return line.peek() is END or line.peek(1).text == "="


def _params(line: _Line) -> Iterator[tuple[str, Any]]:
    while line.peek() is not END:
        key = line.name()
        line.expect("=")
        yield key, line.value()


def _primitive(line: _Line) -> Primitive:
    name = line.name()
    if name not in REGISTRY:
        close = difflib.get_close_matches(name, REGISTRY, 1)
        line.fail(f"there is no op called {name!r}", f"did you mean {close[0]}?" if close else "see tracegrad/ops")
    return REGISTRY[name]
