"""Sequences of different lengths: padded, or packed time step by time step (``nn.utils.rnn``)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from ...functional.joining import cat, narrow, stack
from ...functional.selecting import index_select, sort
from ...functional.shapes import reshape, transpose
from ...functional.spatial.padding import pad
from ...ops.types import int64
from ...tensors.creation import arange, empty, full, tensor
from ...tensors.layouts.formats import contiguous_format
from ...tensors.tensor import Tensor

UNSORTED = (
    "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
    "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not "
    "need ONNX exportability."
)


class _Fields(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None
    unsorted_indices: Tensor | None


class PackedSequence(_Fields):
    """Sequences time step by time step: `data` [sum of lengths, ...] has the elements of all that go on, `batch_sizes`,
    int64 [time], how many do.

    Made by ``pack_sequence`` and ``pack_padded_sequence``; recurrent layers take and return it. `sorted_indices` is the
    order in which the sequences are packed, longest first, `unsorted_indices` the way back; None if they came so.

    >>> import tracegrad as tg
    >>> packed = tg.nn.utils.rnn.pack_sequence([tg.tensor([1, 2, 3]), tg.tensor([4])])
    >>> packed.data, packed.batch_sizes
    (tensor([1, 4, 2, 3]), tensor([2, 1, 1]))
    """

    __slots__ = ()

    def __new__(
        cls,
        data: Any,
        batch_sizes: Tensor | None = None,
        sorted_indices: Tensor | None = None,
        unsorted_indices: Tensor | None = None,
    ) -> PackedSequence:
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """The same with `data` converted as by ``Tensor.to``; itself where that changes nothing."""
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, *self[1:])

    def cpu(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """Itself."""
        return self.to("cpu", *args, **kwargs)

    def cuda(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """An error: there is no such device."""
        return self.to("cuda", *args, **kwargs)

    def pin_memory(self) -> PackedSequence:
        """Itself."""
        return self

    def is_pinned(self) -> bool:
        """False."""
        return False

    @property
    def is_cuda(self) -> bool:
        return False

    def double(self) -> PackedSequence:
        """The same with float64 data."""
        return self._with(self.data.double())

    def float(self) -> PackedSequence:
        """The same with float32 data."""
        return self._with(self.data.float())

    def long(self) -> PackedSequence:
        """The same with int64 data."""
        return self._with(self.data.long())

    def int(self) -> PackedSequence:
        """The same with int32 data."""
        return self._with(self.data.int())

    def half(self) -> PackedSequence:
        """The same with float16 data."""
        return self._with(self.data.half())

    def short(self) -> PackedSequence:
        """The same with int16 data."""
        return self._with(self.data.short())

    def char(self) -> PackedSequence:
        """The same with int8 data."""
        return self._with(self.data.char())

    def byte(self) -> PackedSequence:
        """The same with uint8 data."""
        return self._with(self.data.byte())

    def _with(self, data: Tensor) -> PackedSequence:
        return self if data is self.data else type(self)(data, *self[1:])


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """The permutation, int64 [n], that undoes another one; None for None.

    >>> import tracegrad as tg
    >>> tg.nn.utils.rnn.invert_permutation(tg.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    places = arange(0, permutation.numel())
    return empty(*permutation.shape, dtype=int64).scatter_(0, permutation, places)


def stretches(sizes: Sequence[int]) -> list[tuple[int, int, int]]:
    """The first row, the time steps and the batch size of each run of time steps with one batch size."""
    found, row = [], 0
    for size, group in groupby(sizes):
        count = len(list(group))
        found.append((row, count, size))
        row += count * size
    return found


def pack_padded_sequence(
    input: Tensor, lengths: Tensor | Sequence[int], batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:
    """`input` [time, batch, *] (or [batch, time, *]) without its padding: [sum of lengths, *].

    RuntimeError unless there is a length for each sequence, above 0 and at most the time (which PyTorch lets pass), the
    longest first; with ``enforce_sorted=False`` in any order.

    >>> import tracegrad as tg
    >>> x = tg.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 0.0]])
    >>> tg.nn.utils.rnn.pack_padded_sequence(x, [3, 2], batch_first=True).data
    tensor([1., 4., 2., 5., 3.])
    """
    given = lengths.to(int64) if isinstance(lengths, Tensor) else tensor(list(lengths), dtype=int64)
    order = None
    if not enforce_sorted:
        given, order = sort(given, descending=True)
        input = index_select(input, 0 if batch_first else 1, order)
    if batch_first:
        input = transpose(input, 0, 1)
    counts = _checked(input, given)
    sizes = [sum(count > t for count in counts) for t in range(counts[0])]
    rest, parts = input.shape[2:], []
    time = 0
    for _, steps, size in stretches(sizes):
        piece = narrow(narrow(input, 0, time, steps), 1, 0, size)
        parts.append(reshape(piece, (steps * size, *rest)))
        time += steps
    return PackedSequence(cat(parts), tensor(sizes, dtype=int64), order)


def _checked(input: Tensor, lengths: Tensor) -> list[int]:
    """The lengths as numbers."""
    if lengths.ndim != 1:
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.ndim}D cpu Long tensor"
        )
    if not input.ndarray.size:
        raise RuntimeError("Cannot pack empty tensors.")
    counts: list[int] = lengths.tolist()
    if len(counts) != input.shape[1]:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(counts)} (batch_size={input.shape[1]})"
        )
    if min(counts) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if counts != sorted(counts, reverse=True):
        raise RuntimeError(UNSORTED)
    if counts[0] > input.shape[0]:
        raise RuntimeError(f"a length is {counts[0]}, but the input has {input.shape[0]} time steps")
    return counts


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """What was packed, [time, batch, ...] (or [batch, time, ...]) with `padding_value` (default 0.0) behind short
    sequences, and the lengths, int64 [batch].

    Sequences come in the order that they had before packing. `total_length` says how many time steps there are to be;
    ValueError for one below the longest.

    >>> import tracegrad as tg
    >>> packed = tg.nn.utils.rnn.pack_sequence([tg.tensor([1, 2, 3]), tg.tensor([4])])
    >>> tg.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    (tensor([[1, 2, 3],
            [4, 0, 0]]), tensor([3, 1]))
    """
    sizes: list[int] = sequence.batch_sizes.tolist()
    length = len(sizes)
    if total_length is not None:
        if total_length < length:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {length}"
            )
        length = total_length
    rest, parts = sequence.data.shape[1:], []
    for row, steps, size in stretches(sizes):
        piece = reshape(narrow(sequence.data, 0, row, steps * size), (steps, size, *rest))
        parts.append(pad(piece, [0, 0] * len(rest) + [0, sizes[0] - size], value=padding_value))
    if length > len(sizes):
        parts.append(full((length - len(sizes), sizes[0], *rest), padding_value, dtype=sequence.data.dtype))
    padded = cat(parts)
    lengths = tensor([sum(size > n for size in sizes) for n in range(sizes[0])], dtype=int64)
    if batch_first:
        padded = transpose(padded, 0, 1)
    if sequence.unsorted_indices is None:
        return padded, lengths
    order = sequence.unsorted_indices
    return index_select(padded, 0 if batch_first else 1, order), index_select(lengths, 0, order)


def pad_sequence(
    sequences: Iterable[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences [length, *] side by side, [time, batch, *] (or [batch, time, *]), as long as the longest.

    RuntimeError for no sequences, for what is not iterable, and for another `padding_side` than "right" and "left".

    >>> import tracegrad as tg
    >>> tg.nn.utils.rnn.pad_sequence([tg.tensor([1, 2, 3]), tg.tensor([4])], batch_first=True)
    tensor([[1, 2, 3],
            [4, 0, 0]])
    """
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    given = tuple(sequences)
    if not given:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("right", "left"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    longest = max(s.shape[0] for s in given)
    padded = []
    for s in given:
        missing = longest - s.shape[0]
        sides = [0, missing] if padding_side == "right" else [missing, 0]
        padded.append(pad(s, [0, 0] * (s.ndim - 1) + sides, value=padding_value))
    return stack(padded, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences [length, ...] that `pad_sequence` has padded, each in its own memory, for `lengths`, int64 [batch].

    A length beyond the padded one counts as that, a negative one as 0.
    Difference: PyTorch turns the axes of `padded_sequences` itself around unless `batch_first`.

    >>> import tracegrad as tg
    >>> padded = tg.tensor([[1, 2, 3], [4, 0, 0]])
    >>> tg.nn.utils.rnn.unpad_sequence(padded, tg.tensor([3, 1]), batch_first=True)
    [tensor([1, 2, 3]), tensor([4])]
    """
    rows = padded_sequences if batch_first else transpose(padded_sequences, 0, 1)
    counts = lengths.clamp(0, rows.shape[1]).tolist()
    return [narrow(row, 0, 0, n).clone(memory_format=contiguous_format) for row, n in zip(rows, counts, strict=True)]


def pack_sequence(sequences: Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Sequences [length, ...] packed, longest first (RuntimeError), or in any order with ``enforce_sorted=False``.

    >>> import tracegrad as tg
    >>> packed = tg.nn.utils.rnn.pack_sequence([tg.tensor([4]), tg.tensor([1, 2])], enforce_sorted=False)
    >>> packed.data, packed.sorted_indices
    (tensor([1, 4, 2]), tensor([1, 0]))
    """
    lengths = tensor([s.shape[0] for s in sequences], dtype=int64)
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences [length, ...] of a PackedSequence, in the order that they had before packing.

    >>> import tracegrad as tg
    >>> packed = tg.nn.utils.rnn.pack_sequence([tg.tensor([1, 2, 3]), tg.tensor([4])])
    >>> tg.nn.utils.rnn.unpack_sequence(packed)
    [tensor([1, 2, 3]), tensor([4])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
