"""Python numbers that may be run-time data: what is computed with them outside of the ops.

While a function is recorded, some of its numbers are stand-ins (``compiled/symbolic/number.py``). The ops take them as
they are; Python functions that look at a number's value (a conversion, a function of ``math``) are called through here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def computed(function: Callable[..., Any], *numbers: Any) -> Any:
    """``function(*numbers)``; if one is a stand-in, a stand-in for what the function gives at each call."""
    for number in numbers:
        compute = getattr(type(number), "computed_with", None)
        if compute is not None:
            return compute(number, function, numbers)
    return function(*numbers)
