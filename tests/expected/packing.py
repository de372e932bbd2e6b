"""Many small arrays in few: a file of a thousand entries is mostly their headers."""

import json

import numpy as np


def packed(arrays):
    """One array of all numbers for each dtype, and the index as JSON."""
    index, numbers = [], {}
    for key, array in arrays.items():
        kind = array.dtype.name
        index.append((key, kind, array.shape))
        numbers.setdefault(kind, []).append(array.ravel())
    text = np.frombuffer(json.dumps(index).encode(), np.uint8)
    return {"index": text, **{kind: np.concatenate(parts) for kind, parts in numbers.items()}}


def unpacked(stored):
    """What was packed: ``{case: {what: array}}`` of keys ``case/what``."""
    places, found = {}, {}
    for key, kind, shape in json.loads(stored["index"].tobytes()):
        start = places.get(kind, 0)
        places[kind] = start + int(np.prod(shape, dtype=int))
        case, _, what = key.rpartition("/")
        found.setdefault(case, {})[what] = stored[kind][start : places[kind]].reshape(shape)
    return found
