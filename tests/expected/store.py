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
    averages,
    bad_calls,
    behaviour,
    checkpoints,
    corner_points,
    database_calls,
    database_samples,
    distributions,
    divergences,
    elementwise,
    files,
    formats,
    func_cases,
    indexing,
    layer_forms,
    layer_steps,
    layer_trajectories,
    layers,
    layouts,
    loaders,
    loading,
    losses,
    matrices,
    modes,
    nn_functions,
    numpy_calls,
    numpy_operators,
    operands,
    optimizer_trajectories,
    optimizers,
    overlaps,
    parametrized,
    places,
    printing,
    promotion,
    pruning,
    random_numbers,
    recurrent,
    reentrant,
    rejection,
    result_types,
    saved_tensors,
    schedules,
    short_types,
    sizes_given,
    sparse,
    sparse_gradients,
    tensor_ops,
    training,
    trajectories,
    transforms,
    wider_ops,
    windows,
    writes_to_operands,
)  # noqa: E402
from expected.compare import STORE  # noqa: E402
from expected.packing import packed  # noqa: E402
from expected.programs import run_all  # noqa: E402


def store_arrays(name, arrays):
    np.savez_compressed(STORE / f"{name}.npz", **arrays)


def store_text(name, tree, indent=1):
    (STORE / f"{name}.json").write_text(json.dumps(tree, indent=indent, sort_keys=True) + "\n", encoding="utf-8")


def main():
    torch.set_num_threads(1)
    store_text("behaviour", behaviour.make(torch))
    store_text("checkpoints", checkpoints.make(torch))
    store_text("reentrant", reentrant.make(torch), indent=None)
    store_text("operands", operands.make(torch))
    store_arrays("numpy_operators", numpy_operators.make(torch))
    store_text("numpy_calls", numpy_calls.make(torch))
    store_text("printing", printing.make(torch))
    store_text("promotion", promotion.make(torch))
    store_text("short_types", short_types.make(torch), indent=None)
    store_text("sizes_given", sizes_given.make(torch))
    store_arrays("sparse", sparse.make(torch))
    store_text("sparse", sparse.make_texts(torch))
    store_arrays("database_calls", database_calls.make(torch))
    store_arrays("database_samples", database_samples.make(torch))
    store_arrays("sparse_gradients", sparse_gradients.make(torch))
    store_text("sparse_gradients", sparse_gradients.make_texts(torch))
    store_text("result_types", result_types.make(torch))
    store_arrays("indexing", run_all(torch, indexing.READS, indexing.ARRAYS))
    store_arrays("index_writes", indexing.make_writes(torch))
    store_arrays("tensor_ops", run_all(torch, tensor_ops.EXPRESSIONS, tensor_ops.ARRAYS))
    store_arrays("wider_ops", run_all(torch, wider_ops.EXPRESSIONS, tensor_ops.ARRAYS))
    store_arrays("elementwise", run_all(torch, elementwise.EXPRESSIONS, elementwise.ARRAYS))
    store_arrays("activations", run_all(torch, activations.EXPRESSIONS, activations.ARRAYS))
    store_arrays("losses", run_all(torch, losses.EXPRESSIONS, losses.ARRAYS))
    store_arrays("layers", layers.make(torch))
    store_arrays("layouts", layouts.make(torch))
    store_arrays("formats", formats.make(torch))
    store_text("layer_forms", layer_forms.make(torch))
    store_arrays("layer_steps", layer_steps.make(torch))
    store_arrays("layer_trajectories", layer_trajectories.make(torch))
    store_arrays("nn_functions", nn_functions.make(torch, run_all))
    numbers, texts = matrices.make(torch)
    store_arrays("matrices", numbers)
    store_text("matrices", texts)
    store_arrays("optimizers", optimizers.make(torch))
    store_arrays("parametrized", parametrized.make(torch))
    store_text("parametrized", parametrized.make_texts(torch))
    store_arrays("pruning", pruning.make(torch))
    store_arrays("schedules", schedules.make(torch))
    store_arrays("training", training.make(torch))
    store_arrays("averages", averages.make(torch))
    store_arrays("trajectories", trajectories.make(torch))
    store_arrays("optimizer_trajectories", optimizer_trajectories.make(torch))
    store_text("trajectories", trajectories.make_texts(torch))
    store_arrays("places", places.make(torch))
    store_text("places", places.make_errors(torch))
    store_arrays("windows", windows.make(torch))
    store_arrays("recurrent", recurrent.make(torch))
    store_text("recurrent", recurrent.make_texts(torch))
    store_arrays("attention", attention.make(torch))
    store_text("attention", attention.descriptions(torch))
    store_arrays("random_numbers", random_numbers.make(torch))
    store_arrays("rejection", rejection.make(torch))
    store_arrays("corner_points", corner_points.make(torch))
    store_arrays("distributions", packed(distributions.make(torch)))
    store_arrays("divergences", packed(divergences.make(torch)))
    store_arrays("transforms", packed(transforms.make(torch)))
    store_arrays("func", packed(func_cases.make(torch)))
    store_text("func", func_cases.make_texts(torch))
    store_text("distributions", transforms.make_texts(torch))
    store_text("bad_calls", bad_calls.make(torch))
    store_text("modes", modes.make(torch))
    store_text("saved_tensors", saved_tensors.make(torch))
    store_text("overlaps", overlaps.make(torch))
    store_text("writes_to_operands", writes_to_operands.make(torch), indent=None)
    store_text("loading", loading.make(torch))
    store_text("loaders", loaders.make(torch), indent=None)
    store_arrays("files", files.make_files(torch))
    store_text("files", files.make(torch), indent=None)


if __name__ == "__main__":
    main()
