"""Switches that are plain attributes of a module, set for the length of a block or for good."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def functions_for(module: dict[str, Any], **defaults: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """(set_flags, flags) of a module, for the names in `defaults`, whose values ``flags()`` sets.

    ``set_flags`` takes them in their order, None for what stays, and returns what they were.

    >>> import tracegrad as tg
    >>> set_flags, flags = functions_for(vars(tg.backends), fp32_precision="none")
    """
    names = tuple(defaults)

    def set_flags(*values: Any, **named: Any) -> tuple[Any, ...]:
        """Set the switches, in their order or by name with an underscore before it; returns what they were.

        None leaves one as it is. TypeError for a name that is no switch of the module.

        >>> import tracegrad as tg
        >>> tg.backends.set_flags("ieee")
        ('none',)
        >>> tg.backends.set_flags("none")
        ('ieee',)
        """
        before = tuple(module[name] for name in names)
        given = dict(zip(names, values, strict=False)) | {name.lstrip("_"): value for name, value in named.items()}
        unknown = set(given) - set(names)
        if unknown or len(values) > len(names):
            raise TypeError(f"set_flags() got {', '.join(sorted(unknown)) or len(values)}; it takes {', '.join(names)}")
        module.update({name: value for name, value in given.items() if value is not None})
        return before

    @contextmanager
    def flags(*values: Any, **named: Any) -> Iterator[None]:
        """A block in which the switches are set; those not given have their defaults. Afterwards they are as before.

        >>> import tracegrad as tg
        >>> with tg.backends.flags(fp32_precision="ieee"):
        ...     tg.backends.fp32_precision
        'ieee'
        """
        given = defaults | dict(zip(names, values, strict=False)) | named
        before = set_flags(**given)
        try:
            yield
        finally:
            module.update(zip(names, before, strict=True))

    return set_flags, flags


class Switches:
    """An object whose attributes are switches."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)
