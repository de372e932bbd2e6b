"""A patched ``Tensor.backward`` concerns the functions that name it, and no others."""

import tracegrad as tg
from tracegrad.tensors.tensor import Tensor


def patch_backward(monkeypatch, losses):
    original = Tensor.backward

    def recording(self, *args, **kwargs):
        losses.append(self.detach())
        return original(self, *args, **kwargs)

    monkeypatch.setattr(Tensor, "backward", recording)


def test_who_gets_at_it_without_its_name_calls_it(monkeypatch):
    losses = []
    patch_backward(monkeypatch, losses)
    weight = tg.ones(3, requires_grad=True)

    def step(x):
        weight.grad = None
        getattr((weight * x).sum(), "".join(("back", "ward")))()
        return weight.grad.clone()

    compiled = tg.compile(step)
    for i in range(6):
        assert compiled(tg.full((3,), float(i))).tolist() == [float(i)] * 3
    assert len(losses) == 6
