"""``tracegrad.utils.backcompat``: switches for warnings about what programs for PyTorch before 0.2 would find changed.

They keep what they are set to. Such programs are not warned, as under today's PyTorch.
"""

from __future__ import annotations

__all__ = ["Warning", "broadcast_warning", "keepdim_warning"]


class Warning:
    """A switch, off at first.

    >>> import tracegrad as tg
    >>> tg.utils.backcompat.keepdim_warning.enabled
    False
    """

    def __init__(self) -> None:
        self.enabled = False

    def get_enabled(self) -> bool:
        """Whether it is on.

        >>> import tracegrad as tg
        >>> tg.utils.backcompat.keepdim_warning.get_enabled()
        False
        """
        return self.enabled

    def set_enabled(self, value: bool) -> None:
        """Set it, to no other effect.

        >>> import tracegrad as tg
        >>> tg.utils.backcompat.broadcast_warning.set_enabled(False)
        """
        self.enabled = value


broadcast_warning = Warning()
keepdim_warning = Warning()
