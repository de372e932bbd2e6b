"""In which order elements lie in memory, by their strides."""

from __future__ import annotations

Shape = tuple[int, ...]


def is_contiguous(shape: Shape, strides: Shape, itemsize: int) -> bool:
    """Whether elements lie side by side, in the order of their indices."""
    expected = itemsize
    for extent, stride in zip(reversed(shape), reversed(strides), strict=True):
        if extent != 1 and stride != expected:
            return False
        expected *= extent
    return True


def in_row_major_order(strides: Shape) -> bool:
    """Whether elements lie in the order of their indices, side by side or not."""
    return all(strides[i] >= strides[i + 1] for i in range(len(strides) - 1))


def memory_order(shape: Shape, strides: Shape) -> Shape:
    """The axes from the slowest in memory to the fastest."""
    return tuple(sorted(range(len(shape)), key=lambda axis: -strides[axis]))
