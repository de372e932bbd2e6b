"""What ``step.verify()`` found, as an object and as a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Row:
    """One result, gradient or updated tensor, and the largest difference between the two ways at `where`.

    `ulp` counts units of the last place of the largest number in the tensor, `relative` is to the number itself.
    """

    kind: str
    name: str
    shape: tuple[int, ...]
    dtype: str
    ulp: float
    relative: float
    where: tuple[int, ...]
    line: str
    ok: bool
    note: str = ""
    key: Any = field(default=("call", None), repr=False, compare=False)


@dataclass(eq=False)
class Report:
    """`rows` in the order of results, then tensors; `ok` if all differences are what roundings explain."""

    name: str
    way: str
    rows: list[Row]
    suspects: list[str] = field(default_factory=list)  # lines that wrong results come from and right ones do not

    @property
    def ok(self) -> bool:
        return all(row.ok for row in self.rows)

    def __str__(self) -> str:
        """The table."""
        heads = ("", "name", "shape", "dtype", "ulp", "relative", "at", "line", "")
        table = [heads, *map(_cells, self.rows)]
        widths = [max(len(row[i]) for row in table) for i in range(len(heads))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
        verdict = "agree" if self.ok else "DIFFER"
        title = f"{self.name}: eager and compiled ({self.way}) {verdict}"
        return "\n".join([title, *(f"  {line}".rstrip() for line in lines)])

    __repr__ = __str__

    def complaint(self) -> str:
        """The message of an error: what differs, at which lines, what to do."""
        wrong = [row for row in self.rows if not row.ok]
        what = "\n".join(f"  {row.kind} {row.name} at {row.line or 'an unknown line'}: {_apart(row)}" for row in wrong)
        suspects = f"\n  Lines that only these depend on: {', '.join(self.suspects)}" if self.suspects else ""
        return (
            f"the compiled form of {self.name} does not give the eager result\n{what}{suspects}\n"
            "  Nothing was changed by this call. Run the function without tg.compile, and report this with the text of "
            "`step.graph` and `step.source`."
        )


def _cells(row: Row) -> tuple[str, ...]:
    note = row.note if row.ok else f"{row.note or 'too far apart'} <<<"
    at = str(list(row.where)) if row.ulp else ""
    shape = str(list(row.shape)) if row.dtype else ""
    return (row.kind, row.name, shape, row.dtype, f"{row.ulp:.3g}", f"{row.relative:.2g}", at, row.line, note)


def _apart(row: Row) -> str:
    return row.note or f"{row.ulp:.3g} ulp, relative {row.relative:.2g}, at index {list(row.where)}"
