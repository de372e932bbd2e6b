"""``tracegrad.cuda.random``: seeds of devices that are not there."""

from __future__ import annotations

from typing import Any

from ..answers import answering, refusing

__all__ = [
    "get_rng_state", "get_rng_state_all", "initial_seed", "manual_seed", "manual_seed_all", "seed", "seed_all",
    "set_rng_state", "set_rng_state_all",
]  # fmt: skip

_NO_DEVICE = "Torch not compiled with CUDA enabled: there is no such device. Ask tg.cuda.is_available() before."

manual_seed, manual_seed_all, seed, seed_all, set_rng_state = (
    answering(name, None, "Nothing: no device draws numbers.")
    for name in ("manual_seed", "manual_seed_all", "seed", "seed_all", "set_rng_state")
)
initial_seed = refusing("initial_seed", AssertionError, _NO_DEVICE)
get_rng_state = refusing("get_rng_state", AssertionError, _NO_DEVICE)
set_rng_state_all = answering("set_rng_state_all", None, "Nothing: no device draws numbers.")


def get_rng_state_all() -> list[Any]:
    """The states of the generators of all devices: none, [].

    >>> import tracegrad as tg
    >>> tg.cuda.get_rng_state_all()
    []
    """
    return []
