"""Which nodes are worth a place of their own: everything else is computed where it is read.

A candidate is a node that has to be in memory (results, operands of products and of special kernels), that a loop has
to finish first (folds), or that is read several times and costs more than reading it back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ....ops.core import Kernel, Movement, Pointwise, Source
from ....ops.types import bool_
from ...demands import checked_base, demand_of
from ...graph import Graph, Node, users
from ..dots import base_of_view, is_dot
from ..lower import is_fold
from ..specials import operands_of
from ..values import is_one_hot
from ..windows.convolutions import flat_base, is_conv

#: Values are computed on demand, operand by operand; a place this often bounds the depth of that.
LONGEST_CHAIN = 24
#: A table that is made of counters is not worth more memory than this.
LARGEST_TABLE = 256 * 1024
INLINE_KERNELS = ("gather", "take", "pick")
#: Ops that read or write where an index points to.
FOLLOWING = (
    "gather", "take", "scatter", "scatter_add", "scatter_prod", "scatter_amax", "scatter_amin", "put", "index_add",
)  # fmt: skip


def is_contraction(node: Node) -> bool:
    """True for sums of products, which work on their results can join."""
    return is_dot(node) or is_conv(node)


def is_special(node: Node) -> bool:
    """True for kernels with a template of their own."""
    if not isinstance(node.op.lower, Kernel) or is_contraction(node):
        return False
    return node.op.lower.kind not in INLINE_KERNELS and not is_one_hot(node)


def candidates(graph: Graph) -> tuple[Node, ...]:
    """The candidates in graph order; inputs are in memory anyway and not among them."""
    found = {result.node for result in graph.results}
    readers = users(graph)
    depth: dict[Node, int] = {}
    for node in readers:
        found.update(_operands_in_memory(node))
        if is_fold(node) or is_contraction(node) or is_special(node) or _picks_few(node):
            found.add(node)
        depth[node] = 1 + max((depth[a] for a in node.args), default=0)
        if depth[node] > LONGEST_CHAIN and isinstance(node.op.lower, (Pointwise, Movement)) or _repeats(node, readers):
            found.add(node)
        if node in found or isinstance(node.op.lower, Pointwise) and _worth_keeping(node, readers, found):
            found.add(node)
            depth[node] = 0
    return tuple(node for node in readers if node in found and not node.is_input)


def _operands_in_memory(node: Node) -> Iterable[Node]:
    """The nodes that `node` reads through addresses of its own making."""
    if is_dot(node):
        return [base_of_view(arg) for arg in node.args]
    if is_conv(node):
        return [flat_base(arg) for arg in node.args]
    if is_special(node):
        return operands_of(node)
    return () if demand_of(node) is None else [checked_base(node)]


def _picks_few(node: Node) -> bool:
    """A gather of a part of its operand belongs to the loops that compute the operand."""
    return node.op.name in ("gather", "pick") and node.type.size < node.args[0].type.size


def _repeats(node: Node, readers: dict[Node, list[Node]]) -> bool:
    """A choice between operands that is read more than once: each reader would make it again, and so on above it."""
    lower = node.op.lower
    return isinstance(lower, Movement) and lower.kind in _CHOOSING and len(readers[node]) > 1


def _worth_keeping(node: Node, readers: dict[Node, list[Node]], found: set[Node]) -> bool:
    if node.type.nbytes > LARGEST_TABLE and _is_counted(node):
        return False
    behind = _behind_views(node, readers)
    larger = any(user.type.size > node.type.size for user in behind)
    if larger or _read_elsewhere(behind):
        return not _is_trivial(node)
    # In the place of a product that nobody else reads; where others do, the product itself is in memory.
    on_product = any(is_contraction(arg) and len(readers[arg]) == 1 for arg in node.args)
    return len(behind) > 1 and (on_product or not _is_cheap(node, found))


def _behind_views(node: Node, readers: dict[Node, list[Node]]) -> list[Node]:
    """The readers of a node's elements: those of views that show all of them count, and the views do not."""
    found: list[Node] = []
    pending = [node]
    while pending:
        for user in readers[pending.pop()]:
            shows_all = isinstance(user.op.lower, Movement) and user.op.lower.kind in _SHOWING_ALL and readers[user]
            (pending if shows_all else found).append(user)
    return found


def _read_elsewhere(behind: list[Node]) -> bool:
    """True where some readers want other elements than their own place: computing those again would pile up."""
    moved = any(isinstance(u.op.lower, Movement) and u.op.lower.kind in _OVERLAPPING for u in behind)
    return moved and len(behind) > 1


_SHOWING_ALL = ("reshape", "transpose")
_CHOOSING = ("pad", "concatenate", "update_slice", "window", "spread")
_OVERLAPPING = (
    "slice", "pad", "concatenate", "update_slice", "flip", "window", "spread", "strided", "unfold", "diagonal",
)  # fmt: skip


def _is_counted(node: Node) -> bool:
    """True for what is made of numbers and counters alone, as a causal mask is."""
    cone = [node, *_cone(node, frozenset())]
    return all(isinstance(n.op.lower, (Pointwise, Movement, Source)) and not n.is_input for n in cone)


def _is_trivial(node: Node) -> bool:
    return node.op.name == "cast" and (node.args[0].is_input or node.args[0].is_constant)


def _is_cheap(node: Node, found: set[Node]) -> bool:
    """One instruction on values that are at hand. A truth value takes less memory than what it was made of."""
    assert isinstance(node.op.lower, Pointwise)
    if node.type.dtype is bool_ or "(" in node.op.lower.c.replace("({type})", ""):
        return False
    return all(_is_at_hand(a, found) or _is_spread(a, node, found) for a in node.args)


def _is_at_hand(node: Node, found: Collection[Node]) -> bool:
    return node.is_input or node.is_constant or node in found


def _is_spread(arg: Node, node: Node, found: Collection[Node]) -> bool:
    """True for a view of less memory than `node` would take: differences of all pairs are made of few rows."""
    base = base_of_view(arg)
    return base.type.size < node.type.size and _is_at_hand(base, found)


def reads(node: Node, chosen: frozenset[Node]) -> frozenset[Node]:
    """The chosen nodes and inputs that computing `node` looks at, through everything that is computed on the way."""
    return frozenset(n for n in _cone(node, chosen) if n in chosen or n.is_input)


def spread(node: Node, chosen: frozenset[Node]) -> frozenset[Node]:
    """What `node` computes for itself of views of less memory, as others do that are computed of the same."""
    cone = _cone(node, chosen) - chosen
    made = (n for n in cone if isinstance(n.op.lower, Pointwise))
    return frozenset(n for n in made if any(_is_spread(arg, n, chosen) for arg in n.args))


def indices_followed(node: Node, chosen: frozenset[Node]) -> frozenset[Node]:
    """The index arrays that computing `node` follows to memory; a check has to have passed before."""
    cone = [node, *(n for n in _cone(node, chosen) if n not in chosen)]
    return frozenset(checked_base(n, chosen) for n in cone if n.op.name in FOLLOWING)


def _cone(node: Node, chosen: frozenset[Node]) -> set[Node]:
    seen: set[Node] = set()
    pending = list(node.args)
    while pending:
        arg = pending.pop()
        if arg not in seen:
            seen.add(arg)
            if arg not in chosen and not arg.is_input:
                pending.extend(arg.args)
    return seen
