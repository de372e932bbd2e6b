"""``copy.deepcopy`` of tensors whose memory does not lie row by row: the copy lies alike, and shares alike."""

import copy

import pytest

import tracegrad as tg

MADE = {
    "rows": lambda: tg.rand(2, 3) * 2,
    "transposed": lambda: tg.rand(2, 3).t(),
    "made transposed": lambda: tg.rand(2, 3).t() * 2,
    "channels last": lambda: tg.rand(2, 3, 4, 5).to(memory_format=tg.channels_last),
    "permuted": lambda: tg.rand(2, 3, 4).permute(2, 0, 1) + 1,
    "every second": lambda: tg.rand(6)[::2],
    "inner part": lambda: tg.rand(5, 5)[1:3, 1:4],
    "part of transposed": lambda: (tg.rand(5, 4).t() * 2)[1:3],
    "expanded": lambda: tg.rand(4, 1).expand(4, 3),
    "empty": lambda: tg.rand(0, 3).t() * 2,
    "number": lambda: tg.rand(()),
}


@pytest.mark.parametrize("as_parameter", [False, True])
@pytest.mark.parametrize("name", MADE)
def test_strides(name, as_parameter):
    made = MADE[name]()
    if as_parameter:  # the copy is a clone: dense, in the order of the axes
        made = tg.nn.Parameter(made)
    copied = copy.deepcopy(made)
    assert copied.stride() == (made.clone() if as_parameter else made).stride()
    assert type(copied) is type(made) and copied.requires_grad is made.requires_grad
    assert copied.data_ptr() != made.data_ptr() or not made.numel()
    assert copied.tolist() == made.tolist()


@pytest.mark.parametrize("name", [name for name in MADE if name not in ("empty", "number", "expanded")])
def test_shared_memory(name):
    made = MADE[name]()
    copies = copy.deepcopy([made, made[0], made.unsqueeze(0), made.flatten()[:1] if made.is_contiguous() else made])
    before = made.tolist()
    copies[0].zero_()
    assert [copied.abs().sum().item() for copied in copies] == [0, 0, 0, 0]
    assert made.tolist() == before
