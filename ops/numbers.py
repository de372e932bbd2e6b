"""Python numbers that may be run-time data: what is computed with them outside of the ops.

While a function is recorded, some of its numbers are stand-ins (``compiled/symbolic/number.py``). The ops take them as
they are; Python functions that look at a number's value (a conversion, a function of ``math``) are called through here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any


def computed(function: Callable[..., Any], *numbers: Any) -> Any:
    """``function(*numbers)``; if one is a stand-in, a stand-in for what the function gives at each call."""
    for number in numbers:
        compute = getattr(type(number), "computed_with", None)
        if compute is not None:
            return compute(number, function, numbers)
    return function(*numbers)


def whole(number: Any) -> Any:
    """``operator.index(number)``; a stand-in for an int as it is."""
    return number if stands_in(number) and isinstance(number, int) else operator.index(number)


def stands_in(number: Any) -> bool:
    """True for a stand-in."""
    return hasattr(type(number), "computed_with")


def now(number: Any) -> Any:
    """What a stand-in is worth in this call, to fill what each call fills anew; anything else as it is."""
    return number.tg_value if stands_in(number) else number
