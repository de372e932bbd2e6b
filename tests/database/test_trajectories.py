"""What docs/pytorch.md says of trajectories: of each optimizer and layer, below 1e-9 or with a reason."""

import json
from pathlib import Path

from expected import layer_trajectories

import tracegrad as tg

FIGURES = json.loads(Path(__file__).with_name("trajectories.json").read_text(encoding="utf-8"))


def test_each_optimizer_and_each_layer_has_gone_its_way():
    optimizers = {name for name in tg.optim.__all__ if isinstance(getattr(tg.optim, name), type)} - {"Optimizer"}
    layers = {f"{name} ({mode})" for name, mode in layer_trajectories.CASES}
    assert set(FIGURES) == optimizers | layers


def test_differences_are_small_or_explained():
    unexplained = {
        name: figures
        for name, (_, *figures, reason) in FIGURES.items()
        if not reason and not max(map(float, figures)) <= 1e-9
    }
    assert unexplained == {}
