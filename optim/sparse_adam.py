"""Adam for sparse gradients, step for step as PyTorch computes it."""

from __future__ import annotations

import math
from typing import Any

from ..ops.elementary import sqrt
from ..tensors.tensor import Tensor
from ..tracing.watch import Entries
from .optimizer import Optimizer, ParamsT
from .options import Options, check_betas
from .sparse_rows import Rows


class SparseAdam(Optimizer):
    """Adam that changes averages and parameters at the places of the gradient only: for ``Embedding(sparse=True)``.

    What a sparse gradient does not hold is left alone, where Adam's averages would decay; the count of steps, `step` in
    the state, is a number and the parameter's own. ValueError for a rate or `eps` that is not above 0, betas outside of
    [0, 1), and sparse or complex parameters. RuntimeError for a step with dense gradients; use Adam.

    >>> import tracegrad as tg
    >>> table = tg.nn.Embedding(3, 1, sparse=True)
    >>> optimizer = tg.optim.SparseAdam(table.parameters(), lr=0.5)
    >>> before = table.weight.detach().clone()
    >>> table(tg.tensor([1])).sum().backward()
    >>> optimizer.step()
    >>> (table.weight - before).round(decimals=4).tolist()
    [[0.0], [-0.5], [0.0]]
    """

    reads = frozenset("lr betas eps".split())
    per_parameter = {"step": True, "exp_avg": True, "exp_avg_sq": True}
    takes_sparse = True
    takes_dense = False
    refusal = "SparseAdam does not support dense gradients, please consider Adam instead"
    keeps_numbers = True

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.ndarray.size != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not float(lr) > 0.0:
            raise ValueError(f"Invalid learning rate: {lr}; it must be above 0")
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}; it must be above 0")
        check_betas(betas)
        given: Any = params if isinstance(params, Tensor) else list(params)
        _refuse_sparse(given)
        super().__init__(given, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        groups = [group["params"] for group in self.param_groups]
        found = [[i, j] for i, members in enumerate(groups) for j, p in enumerate(members) if p.dtype.is_complex]
        if found:
            raise ValueError(f"Complex params at indices {found}: SparseAdam does not support complex parameters")

    def update_sparse(self, p: Tensor, gradient: Tensor, state: Entries, options: Options) -> None:
        state["step"] = count = int(state["step"]) + 1
        signed: Any = -gradient if options.choice("maximize") else gradient
        rows = Rows(signed)
        if not rows.values.numel():
            return
        beta1, beta2 = options.number("betas", 0), options.number("betas", 1)
        mean, square = rows.of(state["exp_avg"]), rows.of(state["exp_avg_sq"])
        change, spread = (rows.values - mean) * (1 - beta1), (rows.values**2 - square) * (1 - beta2)
        rows.add_to(state["exp_avg"], change)
        rows.add_to(state["exp_avg_sq"], spread)
        size = options.number("lr") * math.sqrt(1 - beta2**count) / (1 - beta1**count)
        rows.add_to(p, (mean + change) / (sqrt(square + spread) + options.number("eps")) * -size)


def _refuse_sparse(params: Any) -> None:
    """ValueError in PyTorch's words for sparse parameters, which no other optimizer calls by their places."""
    groups = [x["params"] if isinstance(x, dict) else [x] for x in params]
    lists = [members if isinstance(members, (list, tuple)) else [members] for members in groups]
    if not any(isinstance(x, dict) for x in params):
        lists = [[member for members in lists for member in members]]
    found = [[i, j] for i, of in enumerate(lists) for j, p in enumerate(of) if getattr(p, "is_sparse", False)]
    if found:
        raise ValueError(f"Sparse params at indices {found}: SparseAdam requires dense parameter tensors")
