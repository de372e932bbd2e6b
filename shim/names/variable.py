"""``torch.autograd.variable``: the old name of tensors."""

from __future__ import annotations

from ...autograd.variable import Variable, VariableMeta

__all__ = ["Variable", "VariableMeta"]
