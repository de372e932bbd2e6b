"""What generators of other devices have, and that of the CPU refuses."""

from __future__ import annotations

from typing import Any


class WithoutOffset:
    """Base of `Generator`: methods that raise, as PyTorch's do on the CPU."""

    __slots__ = ()

    def graphsafe_get_state(self) -> Any:
        """NotImplementedError: PyTorch's generator of the CPU has no such state.

        >>> import tracegrad as tg
        >>> tg.Generator().graphsafe_get_state()
        Traceback (most recent call last):
        NotImplementedError: graphsafe_get_state is not supported in this Generator. Use clone_state().
        """
        raise NotImplementedError("graphsafe_get_state is not supported in this Generator. Use clone_state().")

    def graphsafe_set_state(self, state: Any) -> None:
        """NotImplementedError: PyTorch's generator of the CPU has no such state.

        >>> import tracegrad as tg
        >>> tg.Generator().graphsafe_set_state(tg.Generator())
        Traceback (most recent call last):
        NotImplementedError: graphsafe_set_state is not supported in this Generator. Use set_state(g.get_state()).
        """
        raise NotImplementedError(
            "graphsafe_set_state is not supported in this Generator. Use set_state(g.get_state())."
        )

    def get_offset(self) -> int:
        """RuntimeError: only generators of other devices count what they have drawn.

        >>> import tracegrad as tg
        >>> tg.Generator().get_offset()
        Traceback (most recent call last):
        RuntimeError: CPU Generator does not use offset
        """
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset: int) -> None:
        """RuntimeError: only generators of other devices count what they have drawn.

        >>> import tracegrad as tg
        >>> tg.Generator().set_offset(0)
        Traceback (most recent call last):
        RuntimeError: CPU Generator does not use offset
        """
        raise RuntimeError("CPU Generator does not use offset")
