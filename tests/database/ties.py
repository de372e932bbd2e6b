"""Places of equal elements, among which PyTorch's documentation leaves the choice open: compared by what lies there."""

from __future__ import annotations

from typing import Any

import numpy as np

from .comparison import difference
from .conversion import numbers

#: Operators by name: (arguments behind the input, defaults), the place of the indices among the results.
OPEN: dict[str, tuple[tuple[str, ...], int | None]] = {
    "topk": (("k", "dim", "largest", "sorted"), 1),
    "kthvalue": (("k", "dim", "keepdim"), 1),
    "mode": (("dim", "keepdim"), 1),
    "sort": (("dim", "descending", "stable"), 1),
    "argsort": (("dim", "descending", "stable"), None),
}
#: What the documentation says about each of them.
REASONS = {
    "topk": "the indices of tied elements are not guaranteed to be stable",
    "kthvalue": "may nondeterministically return indices for any of them",
    "mode": "the indices are those of any occurrence; sorted by what libstdc++ does with equal elements",
    "sort": "the order of equal elements is kept with stable=True only; it depends on the processor's instructions",
    "argsort": "the order of equal elements is kept with stable=True only; it depends on the processor's instructions",
}


def tied_difference(name: str, sample: Any, expected: Any, got: Any) -> str | None:
    """What differs when indices count by the elements at them; None where PyTorch says which indices come out."""
    if name not in OPEN:
        return None
    names, which = OPEN[name]
    given = dict(zip(names, sample.torch_args[1:], strict=False)) | sample.torch_kwargs
    if given.get("stable"):
        return None
    x, dim = numbers(sample.torch_args[0]), given.get("dim", -1)
    keepdim = given.get("keepdim", "keepdim" not in names)
    theirs, own = (numbers(r if which is None else r[which]) for r in (expected, got))
    if which is not None and (problem := difference(expected[0], got[0])):
        return problem
    if theirs.shape != own.shape or theirs.dtype != own.dtype:
        return "indices of another shape or dtype"
    if not x.ndim or not own.size:
        return None
    pair = [index if keepdim else np.expand_dims(index, dim) for index in (theirs, own)]
    if np.any(pair[1] < 0) or np.any(pair[1] >= x.shape[dim]):
        return "indices outside"
    if name not in ("kthvalue", "mode") and _repeats(pair[1], dim):
        return "an index twice"
    at_theirs, at_own = (np.take_along_axis(x, index, dim) for index in pair)
    same = np.array_equal(at_theirs, at_own, equal_nan=at_own.dtype.kind in "fc")
    return "" if same else "indices of other elements"


def _repeats(index: np.ndarray, dim: int) -> bool:
    return bool(np.any(np.diff(np.sort(index, dim), axis=dim) == 0))
