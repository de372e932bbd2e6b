"""Arguments of one type in lists, tuples and dicts, beside others and within each other: each is found in its place."""

import collections
import itertools

import pytest

Pair = collections.namedtuple("Pair", "first second")
LEAF = "leaf"
TREES = [
    LEAF,
    [LEAF],
    (LEAF, LEAF),
    {"a": LEAF},
    {"b": LEAF, "a": LEAF},
    Pair(LEAF, LEAF),
    [[LEAF], LEAF],
    [LEAF, {"a": LEAF}, LEAF],
    {"a": [LEAF, (LEAF,)], "b": LEAF},
    [(), {}, LEAF],
]
CALLS = 7  # the third and those that follow are the usual ones


def filled(tree, leaves):
    """The tree with the next of `leaves` in each place, and what is computed of them."""
    if tree == LEAF:
        return next(leaves)
    if isinstance(tree, dict):
        return {name: filled(item, leaves) for name, item in tree.items()}
    items = [filled(item, leaves) for item in tree]
    return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)


def leaves_of(tree):
    if isinstance(tree, dict):
        tree = list(tree.values())
    if isinstance(tree, (list, tuple)):
        for item in tree:
            yield from leaves_of(item)
    else:
        yield tree


def weighed(*args, **kwargs):
    """A sum in which each leaf has a weight of its own."""
    return sum(leaf * 10.0**place for place, leaf in enumerate(leaves_of([list(args), kwargs])))


@pytest.mark.long(every=3)
@pytest.mark.parametrize("kind", ["tensors", "numbers"])
@pytest.mark.parametrize("by_name", [0, 1, 2])
@pytest.mark.parametrize("trees", [*itertools.product(TREES, repeat=2)][::3] + [(t, LEAF, t) for t in TREES], ids=str)
def test_each_leaf_is_in_its_place(tg, trees, by_name, kind):
    def step(*args, **kwargs):
        return weighed(*args, **kwargs) + tg.zeros(1)

    compiled = tg.compile(step)
    for call in range(CALLS):
        values = (tg.tensor([float(i + call)]) if kind == "tensors" else float(i + call) for i in itertools.count())
        given = [filled(tree, values) for tree in trees]
        args, kwargs = given[: len(given) - by_name], {}
        for name, value in zip("yx", given[len(given) - by_name :], strict=False):
            kwargs[name] = value
        assert compiled(*args, **kwargs).tolist() == step(*args, **kwargs).tolist()
    assert compiled.way == "replay"
