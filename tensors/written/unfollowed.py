"""Views through which the tape cannot follow a write, by how they were made, and the errors of such writes."""

from __future__ import annotations

from typing import Any

#: What `view_of_several` is for rows that are taken together.
UNBOUND = "UnbindBackward0"
#: Marks in `view_of_several` the views that a user's function returned: its backward would be overridden by a write.
_CUSTOM = "custom: "
_RESULT = "Output "
_BY_NOW = "is being"
_BEHIND = "its base or another view of its base has been"


def by_custom_function(place: int, name: str) -> str:
    """What `view_of_several` is for output number `place` of a user's function that shares an input's memory."""
    return f"{_CUSTOM}{_RESULT}{place} of {name}"


def mark_of_returned(view: Any) -> str:
    """What `view_of_several` is for a tensor that stands for `view`, whose own node is another."""
    several: str = view.view_of_several
    return several if not several or view._node is None or is_of_custom_function(view) else _made_by(view)


def _made_by(view: Any) -> str:
    name = view._node.name().replace("Backward0", "").replace("Backward", "")
    return f"{_RESULT}{view._output} of {name}"


def is_of_custom_function(view: Any) -> bool:
    """Whether a user's function has returned this view."""
    return bool(view.view_of_several) and view.view_of_several.startswith(_CUSTOM)


def written_behind(view: Any) -> RuntimeError:
    """The error of asking for the history of a view that cannot have that of what its base is now."""
    return _error(view, _BEHIND)


def written_to(view: Any) -> RuntimeError:
    """The error of a write through `view`."""
    return _error(view, _BY_NOW)


def _error(view: Any, written: str) -> RuntimeError:
    several = view.view_of_several
    if view.viewed_without_grad:
        return RuntimeError(
            f"A view was created in no_grad mode and {written} modified inplace with grad mode enabled. Given that "
            "this use case is ambiguous and error-prone, it is forbidden. Take the view and write to it either both "
            "inside the no_grad block or both outside."
        )
    if is_of_custom_function(view):
        return RuntimeError(
            f"{several.removeprefix(_CUSTOM)} is a view and {written} modified inplace. This view was created inside "
            "a custom Function (or because an input was returned as-is) and the autograd logic to handle view+inplace "
            "would override the custom backward associated with the custom Function, leading to incorrect gradients. "
            "This behavior is forbidden. You can fix this by cloning the output of the custom Function."
        )
    if view._node is None:
        start = f"A view was created in no_grad mode and {written} modified inplace with grad mode enabled."
    else:
        made_by = several if several.startswith(_RESULT) else _made_by(view)
        start = f"{made_by} is a view and {written} modified inplace."
    return RuntimeError(
        f"{start} This view is the output of a function that returns multiple views. Such functions do not allow the "
        "output views to be modified inplace. You should replace the inplace operation by an out-of-place one."
    )
