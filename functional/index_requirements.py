"""What indices must be like, in the words that PyTorch has for each op."""

from __future__ import annotations

from ..ops.requirements import Requirement

# In the words that PyTorch has for the ops that count places from 0 only.
PLACES = Requirement(
    lambda places, extent: (places >= 0, places < extent),
    IndexError,
    "index out of range in self: {value} is not one of the {0} places, which count from 0",
)
PLACES_WITHIN = Requirement(
    PLACES.conditions, RuntimeError, "INDICES element is out of DATA bounds, id={value} axis_dim={0}"
)
ADDED_TO = Requirement(
    lambda places, extent, axis: (places >= 0, places < extent),
    RuntimeError,
    "index {value} is out of bounds for dimension {1} with size {0}",
)
COPIED_TO = Requirement(
    ADDED_TO.conditions, IndexError, "index_copy_(): index {value} is out of bounds for dimension {1} with size {0}"
)
FILLED_AT = Requirement(lambda places, extent, axis: (places >= -extent, places < extent), IndexError, ADDED_TO.message)
SCATTERED = Requirement(
    lambda order, there: (order < there,),
    RuntimeError,
    "Number of elements of source < number of ones in mask. The source has {0} elements.",
)
TAKEN = Requirement(
    lambda places, extent: (places >= -extent, places < extent),
    IndexError,
    "out of range: tried to access index {value} on a tensor of {0} elements.",
)
