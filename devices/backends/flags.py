"""Switches that are plain attributes of a module, set for the length of a block or for good."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tracing.blocks import Block


def functions_for(module: dict[str, Any], **defaults: Any) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """(set_flags, flags) of a module, for the names in `defaults`, whose values ``flags()`` sets.

    ``set_flags`` takes them in their order, None for what stays, and returns what they were.

    >>> import tracegrad as tg
    >>> set_flags, flags = functions_for(vars(tg.backends), fp32_precision="none")
    """
    names = tuple(defaults)

    def given(values: tuple[Any, ...], named: dict[str, Any]) -> dict[str, Any]:
        found = dict(zip(names, values, strict=False)) | {name.lstrip("_"): value for name, value in named.items()}
        unknown = set(found) - set(names)
        if unknown or len(values) > len(names):
            raise TypeError(f"set_flags() got {', '.join(sorted(unknown)) or len(values)}; it takes {', '.join(names)}")
        return found

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
        found = given(values, named)
        module.update({name: value for name, value in found.items() if value is not None})
        return before

    def flags(*values: Any, **named: Any) -> Block:
        """A block in which the switches are set; those not given have their defaults. Afterwards they are as before.

        >>> import tracegrad as tg
        >>> with tg.backends.flags(fp32_precision="ieee"):
        ...     tg.backends.fp32_precision
        'ieee'
        """
        found = defaults | given(values, named)
        return _Flags(module, {name: value for name, value in found.items() if value is not None})

    return set_flags, flags


class _Flags(Block):
    """Switches that are attributes of a module."""

    def __init__(self, module: dict[str, Any], wanted: dict[str, Any]) -> None:
        self._module, self.wanted = module, wanted

    def now(self) -> dict[str, Any]:
        return {name: self._module[name] for name in self.wanted}

    def put(self, state: dict[str, Any]) -> None:
        self._module.update(state)


class Switches:
    """An object whose attributes are switches."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)
