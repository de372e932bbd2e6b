"""What the positive return codes of a program mean."""

from __future__ import annotations

from dataclasses import dataclass

REQUIRED = -1  # in the place of an axis


@dataclass(frozen=True)
class Check:
    """What a positive return code means: an index outside of axis `axis` with `size` elements; without an axis, a
    divisor of 0; if the axis is `REQUIRED`, that a requirement does not hold."""

    code: int
    kind: str
    axis: int | None
    size: int
    origin: str

    def problem(self, value: int) -> str:
        """The first line of an error about `value`, in eager mode's words."""
        if self.axis is None:
            return f"ZeroDivisionError: {self.kind} of integers by zero"
        if self.axis == REQUIRED:
            return "a value is not as required"
        return f"index {value} is out of bounds for dimension {self.axis} with size {self.size}"
