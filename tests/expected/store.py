"""Write the stored values again: `python tests/expected/store.py` with PyTorch 2.13 installed. No test needs to run it.

Each neighbour module describes programs in names that both libraries share; here they run
with PyTorch, in the tests with ours.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parent.parent))

from expected import (
    activations,
    attention,
    bad_calls,
    behaviour,
    corner_points,
    indexing,
    layers,
    loading,
    losses,
    operands,
    optimizers,
    printing,
    promotion,
    random_numbers,
    recurrent,
    saved_tensors,
    schedules,
    tensor_ops,
    training,
    wider_ops,
    windows,
)  # noqa: E402
from expected.compare import STORE  # noqa: E402
from expected.programs import run_all  # noqa: E402


def store_arrays(name, arrays):
    np.savez_compressed(STORE / f"{name}.npz", **arrays)


def store_text(name, tree):
    (STORE / f"{name}.json").write_text(json.dumps(tree, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def main():
    torch.set_num_threads(1)
    store_text("behaviour", behaviour.make(torch))
    store_text("operands", operands.make(torch))
    store_text("printing", printing.make(torch))
    store_text("promotion", promotion.make(torch))
    store_arrays("indexing", run_all(torch, indexing.READS, indexing.ARRAYS))
    store_arrays("index_writes", indexing.make_writes(torch))
    store_arrays("tensor_ops", run_all(torch, tensor_ops.EXPRESSIONS, tensor_ops.ARRAYS))
    store_arrays("wider_ops", run_all(torch, wider_ops.EXPRESSIONS, tensor_ops.ARRAYS))
    store_arrays("activations", run_all(torch, activations.EXPRESSIONS, activations.ARRAYS))
    store_arrays("losses", run_all(torch, losses.EXPRESSIONS, losses.ARRAYS))
    store_arrays("layers", layers.make(torch))
    store_arrays("optimizers", optimizers.make(torch))
    store_arrays("schedules", schedules.make(torch))
    store_arrays("training", training.make(torch))
    store_arrays("windows", windows.make(torch))
    store_arrays("recurrent", recurrent.make(torch))
    store_text("recurrent", recurrent.make_texts(torch))
    store_arrays("attention", attention.make(torch))
    store_text("attention", attention.descriptions(torch))
    store_arrays("random_numbers", random_numbers.make(torch))
    store_arrays("corner_points", corner_points.make(torch))
    store_text("bad_calls", bad_calls.make(torch))
    store_text("saved_tensors", saved_tensors.make(torch))
    store_text("loading", loading.make(torch))


if __name__ == "__main__":
    main()
