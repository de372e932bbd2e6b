"""A module in both libraries: made with the same arguments after the same seed, and what it is called with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import tracegrad as tg

from ..conversion import dtype_to_tracegrad, replaced, short, to_tracegrad
from ..counterparts import SEED, at_path
from ..questions import attempt


@dataclass
class ModuleQuestion:
    """An entry of the database with one dtype; `limit` samples at most are looked at (0: all)."""

    info: Any
    dtype: Any
    limit: int

    def samples(self, training: bool, requires_grad: bool = False) -> list[Any]:
        torch.manual_seed(0)
        make = self.info.module_inputs_func
        found = make(self.info, "cpu", self.dtype, requires_grad=requires_grad, training=training)
        found = [sample for sample in found if not is_left_out(sample)]
        if not self.limit or len(found) <= self.limit:
            return list(found)
        return [found[i] for i in sorted(set(np.linspace(0, len(found) - 1, self.limit).astype(int).tolist()))]

    def ours(self) -> Any:
        """tracegrad's class; Absent if it has none."""
        return at_path(f"torch.{self.info.name}")


def is_left_out(sample: Any) -> bool:
    """Whether a sample has arguments that are out of scope (entries.LEFT_OUT)."""
    return any(type(x).__name__ == "LinearCrossEntropyOptions" for x in sample.constructor_input.kwargs.values())


class Pair:
    """The module of one sample in both libraries, as drawn; `calls` gives its arguments."""

    def __init__(self, question: ModuleQuestion, sample: Any, training: bool) -> None:
        made, call = sample.constructor_input, sample.forward_input
        self.text = _shown(made, call)
        torch.manual_seed(SEED)
        self.theirs = question.info.module_cls(*made.args, **made.kwargs).to(question.dtype).train(training)
        self.torch_call = call and (replaced(call.args, _leaf), replaced(call.kwargs, _leaf))
        memo: dict[int, Any] = {}
        args, kwargs = converted(made.args, memo), converted(made.kwargs, memo)
        # The arguments are made before the seed: those that are modules draw numbers of their own.
        tg.manual_seed(SEED)
        self.own = question.ours()(*args, **kwargs).to(dtype_to_tracegrad(question.dtype)).train(training)
        self.call = call and tuple(converted(of, memo) for of in self.torch_call)

    def __str__(self) -> str:
        return f"{self.text}{'' if self.theirs.training else ' in evaluation'}"


def pairs(question: ModuleQuestion, training: bool, requires_grad: bool = False) -> Iterator[tuple[Any, Any, Any]]:
    """For each sample that PyTorch has: (pair, None, text), or (None, tracegrad's exception, text)."""
    for sample in question.samples(training, requires_grad):
        made = sample.constructor_input
        _, refused = attempt(question.info.module_cls, *made.args, **made.kwargs)
        if refused is None:
            pair, error = attempt(Pair, question, sample, training)
            yield pair, error, _shown(made, sample.forward_input)


def _leaf(tensor: Any) -> Any:
    """The tensor itself, or a leaf with the numbers of a result (log_softmax of a leaf): `.grad` is asked."""
    return tensor if tensor.is_leaf else tensor.detach().requires_grad_(tensor.requires_grad)


def converted(value: Any, memo: dict[int, Any]) -> Any:
    """Arguments for tracegrad: what `to_tracegrad` knows, and modules."""
    if isinstance(value, torch.nn.Module) and not isinstance(value, torch.nn.PairwiseDistance):
        if id(value) not in memo:
            memo[id(value)] = (_layer(value), value)
        return memo[id(value)][0]
    if type(value) in (list, tuple):
        return type(value)(converted(item, memo) for item in value)
    if type(value) is dict:
        return {name: converted(item, memo) for name, item in value.items()}
    return to_tracegrad(value, memo)


def _layer(theirs: Any) -> Any:
    """A layer of a transformer with the same options and numbers; it is the only kind of module among arguments."""
    attention = theirs.self_attn
    layer = at_path(f"torch.nn.{type(theirs).__name__}")(
        attention.embed_dim,
        attention.num_heads,
        theirs.linear1.out_features,
        theirs.dropout.p,
        to_tracegrad(theirs.activation, {}),
        theirs.norm1.eps,
        attention.batch_first,
        theirs.norm_first,
        theirs.linear1.bias is not None,
        dtype=dtype_to_tracegrad(theirs.linear1.weight.dtype),
    )
    layer.load_state_dict(to_tracegrad(dict(theirs.state_dict()), {}))
    return layer.train(theirs.training)


def _shown(made: Any, call: Any) -> str:
    parts = [_listed(of) for of in (made, call) if of is not None]
    return "".join(parts)


def _listed(given: Any) -> str:
    words = [short(arg) for arg in given.args] + [f"{name}={short(arg)}" for name, arg in given.kwargs.items()]
    return f"({', '.join(words)})"
