"""Pretrained weights: named as torchvision names them, and refused, since there is nothing to download them with."""

from __future__ import annotations

from enum import Enum
from typing import Any


class WeightsEnum(Enum):
    """Names of pretrained weights."""


def weights_of(model: str, *versions: str) -> Any:
    """The enumeration of a model's weights; `DEFAULT` is the last of them."""
    members = {version: f"{model}.{version}" for version in versions}
    return WeightsEnum(f"{model}_Weights", {**members, "DEFAULT": members[versions[-1]]})  # type: ignore[call-arg]


def refuse_weights(name: str, weights: Any, options: dict[str, Any]) -> None:
    """RuntimeError if pretrained weights are asked for: by `weights`, whose older form is True, or by the older option
    `pretrained`, which is taken out of `options`."""
    if options.pop("pretrained", False) or weights not in (None, False):
        raise RuntimeError(
            f"{name}: pretrained weights are not here, and nothing is downloaded\n"
            f"  in the call of {name}(weights={weights})\n"
            f"  Make the model with weights=None, and load a file that you have: model.load_state_dict(load(path))."
        )
