"""Library work that an eager program may have done in C: losses of a compiled model's results, steps of optimizers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..ops.core import switch
from .watch import Server, serve

_servers: list[Server] = []  # at most one: whoever can compile


def set_eager_server(server: Server) -> None:
    """Let `serve_or_fuse` ask `server` in plain eager mode; it calls `otherwise` where there is no program."""
    _servers[:] = [server]


def serve_or_fuse(whole: Any, otherwise: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """``watch.serve``, but for plain eager mode, where `whole` may be a program of its own, too."""
    if switch.stack or not _servers:
        return serve(whole, otherwise, args, kwargs)
    return _servers[0](whole, otherwise, args, kwargs)
