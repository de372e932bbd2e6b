"""``torch.__future__``: settings of how modules are converted. Parameters always stay the same objects here."""

from __future__ import annotations

__all__ = [
    "get_overwrite_module_params_on_conversion",
    "get_swap_module_params_on_conversion",
    "set_overwrite_module_params_on_conversion",
    "set_swap_module_params_on_conversion",
]


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """False is what there is; NotImplementedError for True."""
    if value:
        raise NotImplementedError("conversions of a module keep its parameters: they are the same objects afterwards.")


def get_overwrite_module_params_on_conversion() -> bool:
    """False."""
    return False


def set_swap_module_params_on_conversion(value: bool) -> None:
    """False is what there is; NotImplementedError for True."""
    set_overwrite_module_params_on_conversion(value)


def get_swap_module_params_on_conversion() -> bool:
    """False."""
    return False
