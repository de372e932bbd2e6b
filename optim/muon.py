"""Muon (Jordan et al. 2024): momentum whose matrices are made nearly orthogonal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..functional.linear_algebra import matmul
from ..functional.reductions import norm
from ..functional.shapes import transpose
from ..ops.arithmetic import maximum
from ..ops.pointwise import cast
from ..ops.types import bfloat16, float32, float64
from ..tensors.tensor import Tensor
from ..tracing.watch import Entries
from .complex_parameters import refuse_complex
from .optimizer import Optimizer, ParamsT
from .options import Options, check_lr
from .state import state_tensor, store


class Muon(Optimizer):
    """Steps along the momentum of matrices, brought near an orthogonal matrix by `ns_steps` Newton-Schulz iterations.

    Parameters are 2-d. `weight_decay` shrinks them. The rate is multiplied by ``sqrt(max(1, rows / columns))``, or, for
    ``adjust_lr_fn="match_rms_adamw"``, by ``0.2 * sqrt(max(rows, columns))``. ValueError for options out of their range
    and parameters with another number of dimensions. The iterations are rounded to bfloat16 where PyTorch rounds them.

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.zeros(2, 2))
    >>> optimizer = tg.optim.Muon([w], lr=0.5)
    >>> w.trace().backward()
    >>> optimizer.step()
    >>> [[round(x, 2) for x in row] for row in w.tolist()]
    [[-0.56, 0.0], [0.0, -0.56]]
    """

    updates_parts = False
    reads = frozenset("lr weight_decay momentum nesterov ns_coefficients eps ns_steps adjust_lr_fn".split())
    safe_ranges = {}
    per_parameter = {"momentum_buffer": True}

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315),
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        for name, value in {"momentum": momentum, "weight decay": weight_decay}.items():
            if not value >= 0.0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        options = {"lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov}
        iteration = {"ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps}
        super().__init__(params, {**options, **iteration, "adjust_lr_fn": adjust_lr_fn})
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}"
                    )

    def update(self, p: Tensor, gradient: Tensor, state: Entries, options: Options) -> None:
        refuse_complex(self, p)
        velocity = state_tensor(state, "momentum_buffer", p)
        kept, lr = options.number("momentum"), options.number("lr")
        store(velocity, velocity + (gradient - velocity) * (1 - kept))
        direction = gradient + (velocity - gradient) * kept if options.choice("nesterov") else velocity
        coefficients = [options.number("ns_coefficients", i) for i in range(_checked(options))]
        direction = _nearly_orthogonal(direction, coefficients, options.choice("ns_steps"), options.number("eps"))
        rate = lr * _ratio(options.choice("adjust_lr_fn"), *p.shape)
        store(p, p * (1 - lr * options.number("weight_decay")) - cast(direction, p.dtype) * rate)


def _checked(options: Options) -> int:
    """The number of coefficients; ValueError in PyTorch's words where the iteration cannot be done."""
    if options.choice("ns_steps") >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(options.choice("ns_coefficients")) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    return 3


def _nearly_orthogonal(matrix: Tensor, coefficients: Sequence[Any], steps: int, eps: Any) -> Any:
    """``U V^T`` of the singular value decomposition, nearly: singular values come between about 0.5 and 1.5.

    As PyTorch's bfloat16 kernels compute it: sums of products in float32, and with what is added rounded once.
    """
    a, b, c = coefficients
    is_tall = matrix.shape[0] > matrix.shape[1]
    x: Any = _rounded(transpose(matrix, 0, 1) if is_tall else matrix)
    x = _rounded(x / _rounded(maximum(_rounded(norm(cast(x, float64))), eps)))
    for _ in range(steps):
        gram = _rounded(matmul(x, transpose(x, 0, 1)))
        update = _rounded(cast(gram, float64) * b + cast(matmul(gram, gram), float64) * c)
        x = _rounded(cast(x, float64) * a + cast(matmul(update, x), float64))
    return transpose(x, 0, 1) if is_tall else x


def _rounded(x: Any) -> Any:
    """Rounded to bfloat16, in float32."""
    return cast(cast(x, bfloat16), float32)


def _ratio(how: str | None, rows: int, columns: int) -> float:
    if how == "match_rms_adamw":
        return 0.2 * math.sqrt(max(rows, columns))
    return math.sqrt(max(1, rows / columns))
