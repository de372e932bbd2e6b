"""Which elements of scores a mask excludes, so that products need not look at them.

A softmax over ``where(mask, scores, -inf)`` is 0 where the mask is. What is multiplied with these zeros does not
matter, as long as it is finite: `Vanishing` is the proof that each tile, and what is folded, is 0 there, if

- the operands of the products are numbers below `LARGEST` (whose products cannot overflow),
- each row has at least one element that is not excluded.

Both are looked at while the kernel runs; the mask may be any array.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ....ops.core import Movement
from ....ops.types import bool_
from ...graph import Node
from ..dots import is_dot
from ..folds import is_fold, reduction_of
from ..space import squeezed
from .parts import Parts, untransposed

#: Products of some numbers below this are far from overflow.
LARGEST = 2**20
_LINEAR = ("add", "sub", "mul", "neg")


@dataclass(frozen=True)
class Mask:
    """Elements where `condition` is `visible` take part in a softmax; the others were minus infinity."""

    condition: Node
    visible: bool


def mask_of(parts: Parts) -> Mask | None:
    """The mask of all softmaxes in a kernel, if it excludes elements from all that its products read."""
    exponents = _exponents(parts)
    found = {mask for node in exponents for mask in [_mask(_shifted(node), parts)]}
    if len(found) != 1 or None in found:
        return None
    (mask,) = found
    assert mask is not None
    proof = Vanishing(mask, parts)
    folds = [node for node in parts.rows if is_fold(node)]
    holds = all(map(proof.is_zero, (use.tile for use in parts.uses))) and all(map(proof.may_skip, folds))
    return mask if holds else None


def _exponents(parts: Parts) -> set[Node]:
    """The exponentials that the tiles are made of."""
    found: set[Node] = set()
    seen: set[Node] = set()
    pending = [use.tile for use in parts.uses]
    while pending:
        node = pending.pop()
        if node in seen or node.type.shape != parts.shape or is_dot(node):
            continue
        seen.add(node)
        if node.op.name == "exp":
            found.add(node)
        else:
            pending.extend(node.args)
    return found


def _shifted(exponential: Node) -> Node | None:
    """The scores of ``exp(scores - max(scores))``."""
    (arg,) = exponential.args
    if arg.op.name != "sub":
        return None
    scores, top = arg.args
    pending, seen = [top], set[Node]()
    while pending:
        node = pending.pop()
        if is_fold(node):
            if reduction_of(node).kind != "max" or not _is_same(node.args[0], scores):
                return None
            seen.add(node)
        elif not node.is_constant:
            if node.op.name not in ("where", "eq") and not isinstance(node.op.lower, Movement):
                return None
            pending.extend(node.args)
    return scores if seen else None


def _mask(scores: Node | None, parts: Parts) -> Mask | None:
    """The mask of scores that are a product with numbers that the kernel looks at, times a constant."""
    if scores is None or scores.op.name != "where":
        return None
    condition, x, y = scores.args
    visible = _is_number(y, -math.inf)
    if not visible and not _is_number(x, -math.inf):
        return None
    product = x if visible else y
    if product.op.name in ("mul", "div"):
        numbers = [arg for arg in product.args if arg.is_constant and math.isfinite(arg.param("value"))]
        others = [arg for arg in product.args if not arg.is_constant]
        if not numbers or len(others) != 1 or product.op.name == "div" and others[0] is not product.args[0]:
            return None
        (product,) = others
    looked_at = {untransposed(arg) for node in (*parts.scores, *(u.node for u in parts.uses)) for arg in node.args}
    fits = is_dot(product) and product.type.shape == parts.shape and set(map(untransposed, product.args)) <= looked_at
    return Mask(condition, visible) if fits else None


def _is_same(a: Node, b: Node) -> bool:
    """True for one value: the same node, or the same ops on the same nodes, as where scores are computed again."""
    if a is b:
        return True
    same = a.op is b.op and a.params == b.params and len(a.args) == len(b.args) > 0
    return same and all(map(_is_same, a.args, b.args))


def _is_number(node: Node, value: float) -> bool:
    return node.is_constant and node.param("value") == value


@dataclass
class Vanishing:
    """What is 0, or at least finite, at elements that `mask` excludes."""

    mask: Mask
    parts: Parts
    _zero: dict[Node, bool] = field(default_factory=dict)
    _finite: dict[Node, bool] = field(default_factory=dict)

    def is_zero(self, node: Node) -> bool:
        """True for what has the shape of scores and is 0 where elements are excluded."""
        if node not in self._zero:
            self._zero[node] = node.type.shape == self.parts.shape and self._is_zero(node)
        return self._zero[node]

    def _is_zero(self, node: Node) -> bool:
        name, args = node.op.name, node.args
        if name == "where":
            excluded = args[2] if self.mask.visible else args[1]
            if args[0] is self.mask.condition:
                return _is_number(excluded, 0)
            return all(_is_number(arg, 0) or self.is_zero(arg) for arg in args[1:])
        if name == "exp":
            return self._is_exponential(node)
        if name == "mul":
            return any(self.is_zero(x) and self.is_finite(y) for x, y in (args, args[::-1]))
        if name == "div":
            return self.is_zero(args[0]) and self._is_total(args[1])
        return name == "neg" and self.is_zero(args[0])

    def may_skip(self, fold: Node) -> bool:
        """True where excluded elements change nothing in a fold."""
        kind, (arg,) = reduction_of(fold).kind, fold.args
        return kind == "max" and _mask(arg, self.parts) == self.mask or kind == "add" and self.is_zero(arg)

    def is_finite(self, node: Node) -> bool:
        if node not in self._finite:
            self._finite[node] = self._is_finite(node)
        return self._finite[node]

    def _is_finite(self, node: Node) -> bool:
        if node.is_constant:
            return math.isfinite(node.param("value"))
        name, args = node.op.name, node.args
        if is_dot(node):
            return node in self.parts.scores
        if is_fold(node):
            return self.may_skip(node)
        if name == "exp":
            return self._is_exponential(node)
        if name == "cast":
            return args[0].type.dtype is bool_
        if name == "div":
            return self.is_finite(args[0]) and (self._is_total(args[1]) or _is_nonzero(args[1]))
        if name == "where":
            return all(map(self.is_finite, args[1:]))
        return (name in _LINEAR or _keeps_elements(node)) and all(map(self.is_finite, args))

    def _is_exponential(self, node: Node) -> bool:
        return _mask(_shifted(node), self.parts) == self.mask

    def _is_total(self, node: Node) -> bool:
        """True for the sum of a row's exponentials, which is 1 or more."""
        if squeezed(node.type.shape) != squeezed(self.parts.shape[:-1]):
            return False
        if node.op.name == "where":
            return _is_nonzero(node.args[1]) and self._is_total(node.args[2])
        if is_fold(node):
            (arg,) = node.args
            return reduction_of(node).kind == "add" and arg.op.name == "exp" and self._is_exponential(arg)
        return _keeps_elements(node) and self._is_total(node.args[0])


def _is_nonzero(node: Node) -> bool:
    return node.is_constant and node.param("value") != 0 and math.isfinite(node.param("value"))


def _keeps_elements(node: Node) -> bool:
    return isinstance(node.op.lower, Movement) and node.op.lower.kind in ("reshape", "broadcast", "transpose")
