"""L-BFGS (Nocedal 1980; Liu & Nocedal 1989), with PyTorch's rules of when to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..ops.array import eager, within_errstate
from ..ops.numbers import computed
from ..tape.grad_mode import enable_grad, no_grad
from ..tensors.tensor import Tensor, make
from ..tracing.watch import Entries
from .complex_parameters import interleaved
from .flat_parameters import FlatParameters
from .line_search import Point, strong_wolfe
from .optimizer import Optimizer, ParamsT
from .options import check_at_least_zero, require_options

CURVATURE = 1e-10  # a pair of differences with less of it is not remembered


@dataclass
class _Memory:
    """What one iteration leaves to the next: under PyTorch's names in the state of the first parameter."""

    d: Any = None
    t: Any = None
    old_dirs: list[np.ndarray] = field(default_factory=list)  # differences of gradients
    old_stps: list[np.ndarray] = field(default_factory=list)  # differences of parameters
    ro: list[Any] = field(default_factory=list)
    H_diag: Any = 1
    prev_flat_grad: Any = None
    prev_loss: Any = None
    al: list[Any] = field(default_factory=list)

    def remember(self, gradient: np.ndarray, size: int) -> None:
        """Take in the pair of the latest step, and forget the oldest of `size` pairs."""
        y, s = gradient - self.prev_flat_grad, self.d * float(self.t)
        curvature = y.dot(s)
        if not curvature > CURVATURE:
            return
        for pairs, new in ((self.old_dirs, y), (self.old_stps, s), (self.ro, 1.0 / curvature)):
            if len(pairs) == size:
                pairs.pop(0)
            pairs.append(new)
        self.H_diag = curvature / y.dot(y)

    def direction(self, gradient: np.ndarray, size: int) -> np.ndarray:
        """Minus the inverse of the Hessian, as the pairs tell it, times the gradient: the loop over them twice."""
        self.al = self.al or [None] * size
        q = -gradient
        for i in reversed(range(len(self.old_dirs))):
            self.al[i] = self.old_stps[i].dot(q) * self.ro[i]
            q = q - self.old_dirs[i] * self.al[i]
        q = q * self.H_diag
        for i in range(len(self.old_dirs)):
            q = q + self.old_stps[i] * (self.al[i] - self.old_dirs[i].dot(q) * self.ro[i])
        return q


class LBFGS(FlatParameters, Optimizer):
    """A quasi-Newton method: each `step(closure)` makes up to `max_iter` iterations, of up to `max_eval` evaluations.

    The parameters may have any shapes; the last `history_size` steps and differences of gradients are kept, each as one
    vector of all their elements.

    The closure forgets the gradients, computes the loss, calls ``backward()`` and returns the loss; `step` returns the
    first one. `line_search_fn` is None (steps of length `lr`, the first one shorter) or ``"strong_wolfe"``. Iterations
    end where the largest gradient is at most `tolerance_grad`, or step and loss change by less than
    `tolerance_change`. `max_eval` is ``max_iter * 5 // 4`` unless given. ValueError for several parameter groups;
    RuntimeError for another line search.

    >>> import tracegrad as tg
    >>> w = tg.nn.Parameter(tg.tensor([4.0, -2.0]))
    >>> optimizer = tg.optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = (w * w).sum()
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure).item(), closure().item() < 1e-9
    (20.0, True)
    """

    reads = frozenset("lr max_iter max_eval tolerance_grad tolerance_change history_size line_search_fn".split())

    def __init__(
        self,
        params: ParamsT,
        lr: float = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_at_least_zero(lr=lr)
        evaluations = max_iter * 5 // 4 if max_eval is None else max_eval
        ends = {"tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change}
        options = {"lr": lr, "max_iter": max_iter, "max_eval": evaluations, **ends}
        super().__init__(params, {**options, "history_size": history_size, "line_search_fn": line_search_fn})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params: list[Tensor] = self.param_groups[0]["params"]
        self._numel_cache: int | None = None

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Minimise what `closure` computes; returns the loss before."""
        if len(self.param_groups) != 1:
            raise AssertionError(f"Expected exactly one param_group, but got {len(self.param_groups)}")
        require_options(self.param_groups[0], self.reads)
        with no_grad():
            return within_errstate(_Run(self, enable_grad()(closure)).minimise)


#: What a subclass may override for the step of its base.
_HELPERS = ("_gather_flat_grad", "_add_grad", "_clone_param", "_set_param", "_directional_evaluate")


class _Run:
    """One call of `LBFGS.step`."""

    def __init__(self, optimizer: LBFGS, closure: Callable[[], Any]) -> None:
        self.optimizer, kind = optimizer, type(optimizer)
        self.own = {name for name in _HELPERS if getattr(kind, name) is not getattr(FlatParameters, name)}
        self.group = optimizer.param_groups[0]
        self.params: list[Tensor] = self.group["params"]
        self.state: Entries = optimizer.state[self.params[0]]
        self.closure = closure
        self.evaluations = 0
        self.rate: Any = None

    def minimise(self) -> Any:
        state, group = self.state, self.group
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = self.closure()
        here = self._point(0.0, first)
        state["func_evals"] += 1
        self.evaluations = 1
        if self._is_flat(here.gradient):
            return first
        memory = _loaded(state)
        for turn in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            following = self._iterate(memory, here, turn)
            if following is None:
                break
            here = following
            if self._is_done(memory, here, turn):
                break
        _save(state, memory)
        if memory.t is self.rate and isinstance(group["lr"], Tensor):
            state["t"] = group["lr"]  # the tensor itself, as in PyTorch
        return first

    def _iterate(self, memory: _Memory, here: Point, turn: int) -> Point | None:
        """One step along the next direction; None where the loss does not fall along it."""
        group, is_first = self.group, self.state["n_iter"] == 1
        g = here.gradient
        if is_first:
            memory.__init__(d=-g)  # type: ignore[misc]
        else:
            memory.remember(g, group["history_size"])
            memory.d = memory.direction(g, group["history_size"])
        memory.prev_flat_grad, memory.prev_loss = g.copy(), here.loss
        rate = self.rate = computed(_rate, group["lr"])
        memory.t = min(1.0, 1.0 / np.abs(g).sum()) * rate if is_first else rate
        slope = g.dot(memory.d)
        if slope > -group["tolerance_change"]:
            return None
        before, start = self.evaluations, Point(0.0, here.loss, g, slope)
        following = self._moved(memory, start, turn)
        self.state["func_evals"] += self.evaluations - before
        return following

    def _moved(self, memory: _Memory, start: Point, turn: int) -> Point:
        """Where the step along ``memory.d`` leads, of a length that the line search finds."""
        group = self.group
        if group["line_search_fn"] is None:
            self._move(memory.t, memory.d)
            if turn == group["max_iter"]:
                return start  # its gradient is not asked for any more
            self.evaluations += 1
            return self._point(memory.t, self.closure())
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        evaluate = self._evaluation(memory.d)
        limit = group["max_eval"] - self.evaluations
        found = strong_wolfe(evaluate, start, memory.t, memory.d, group["tolerance_change"], limit)
        self._move(found.t, memory.d)
        if found.t != memory.t:
            memory.t = start.gradient.dtype.type(found.t) if found.t else 0
        return found

    def _evaluation(self, direction: np.ndarray) -> Callable[[Any], Point]:
        """What the line search asks: loss and gradient so far along the direction from here."""
        origin = [self._numbers(p).copy() for p in self.params]
        kept = self.optimizer._clone_param() if self.own else []

        def evaluate(t: Any) -> Point:
            self.evaluations += 1
            if self.own:
                loss, gradient = self.optimizer._directional_evaluate(self.closure, kept, t, make(direction.copy()))
                return _found(t, loss, self._numbers(gradient), direction)
            self._move(t, direction)
            found = self._point(t, self.closure(), direction)
            for p, numbers in zip(self.params, origin, strict=True):
                eager().write(p, eager().literal(numbers))
            return found

        return evaluate

    def _is_done(self, memory: _Memory, here: Point, turn: int) -> bool:
        group = self.group
        return (
            turn == group["max_iter"]
            or self.evaluations >= group["max_eval"]
            or self._is_flat(here.gradient)
            or bool(np.abs(memory.d * float(memory.t)).max() <= group["tolerance_change"])
            or bool(abs(here.loss - memory.prev_loss) < group["tolerance_change"])
        )

    def _is_flat(self, gradient: np.ndarray) -> bool:
        return bool(np.abs(gradient).max() <= self.group["tolerance_grad"])

    # ------------------------------------------------------------------------------------- parameters as one vector

    def _point(self, t: Any, loss: Any, direction: np.ndarray | None = None) -> Point:
        if "_gather_flat_grad" in self.own:
            return _found(t, loss, self._numbers(self.optimizer._gather_flat_grad()), direction)
        parts = [
            interleaved(np.zeros(p.ndarray.size, p.ndarray.dtype) if p.grad is None else self._numbers(_dense(p.grad)))
            for p in self.params
        ]
        return _found(t, loss, np.concatenate(parts), direction)

    def _move(self, t: Any, direction: np.ndarray) -> None:
        if "_add_grad" in self.own:
            self.optimizer._add_grad(float(t), make(direction.copy()))
            return
        change, start = float(t) * direction, 0
        for p in self.params:
            numbers = self._numbers(p)
            flat = interleaved(numbers)
            moved = (flat + change[start : start + flat.size]).astype(flat.dtype, copy=False)
            start += flat.size
            eager().write(p, eager().literal(moved.view(numbers.dtype).reshape(numbers.shape)))

    def _numbers(self, tensor: Tensor) -> np.ndarray:
        return eager().read(tensor, "LBFGS.step()")


# -------------------------------------------------------------------------------------------------------------- state


def _found(t: Any, loss: Any, gradient: np.ndarray, direction: np.ndarray | None) -> Point:
    return Point(t, float(loss), gradient, None if direction is None else gradient.dot(direction))


def _loaded(state: Entries) -> _Memory:
    kept = {name: _as_arrays(state.get(name)) for name in _Memory.__dataclass_fields__}
    return _Memory(**{name: value for name, value in kept.items() if value is not None})


def _save(state: Entries, memory: _Memory) -> None:
    if memory.al:
        state["al"] = _as_tensors(memory.al)  # the first that PyTorch writes, the others at the end of a step
    for name in _Memory.__dataclass_fields__:
        value = getattr(memory, name)
        if name == "prev_loss":
            state[name] = float(value)
        elif name != "al":
            state[name] = _as_tensors(value)


def _rate(value: Any) -> int | float | np.generic:
    """An int stays one, and what is a tensor in PyTorch's state is a number with its type."""
    if isinstance(value, Tensor):
        return eager().read(value, "LBFGS.step()").copy()[()]
    return value if isinstance(value, int) else float(value)


def _as_arrays(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_arrays(part) for part in value]
    if isinstance(value, Tensor):
        numbers = eager().read(value, "LBFGS.step()")
        return numbers.copy() if numbers.ndim else numbers[()]
    return value


def _as_tensors(value: Any) -> Any:
    if isinstance(value, list):
        return [_as_tensors(part) for part in value]
    return make(np.asarray(value)) if isinstance(value, (np.ndarray, np.generic)) else value


def _dense(gradient: Any) -> Any:
    return gradient.to_dense() if gradient.is_sparse else gradient
