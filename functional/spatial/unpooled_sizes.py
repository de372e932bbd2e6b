"""How large a space was before pooling, where several sizes are possible."""

from __future__ import annotations

from collections.abc import Sequence

from .sliding import Shape, Sliding


def unpooled_space(space: Shape, sliding: Sliding, output_size: Sequence[int] | None) -> Shape:
    """The space whose pooling gives `space`: the one that the windows just cover, or `output_size` (with or without
    batch and channels). ValueError for another count of sizes, and for one that is a stride or more away from it.
    """
    along = zip(space, sliding.stride, sliding.padding, sliding.kernel, strict=True)
    covered = tuple((n - 1) * step - 2 * low + k for n, step, low, k in along)
    if output_size is None:
        return covered
    axes, given = len(space), tuple(output_size)
    if len(given) == axes + 2:
        given = given[2:]
    if len(given) != axes:
        raise ValueError(
            f"output_size should be a sequence containing {axes} or {axes + 2} elements, but it has a length of "
            f"'{len(given)}'"
        )
    for axis, (size, usual, step) in enumerate(zip(given, covered, sliding.stride, strict=True)):
        if not usual - step < size < usual + step:
            raise ValueError(
                f'invalid output_size "{given}" (dim {axis} must be between {usual - step} and {usual + step})'
            )
    return given
