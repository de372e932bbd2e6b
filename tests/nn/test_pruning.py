"""``nn.utils.prune`` against PyTorch's masks and steps (stored; see expected/pruning.py)."""

import numpy as np
import pytest
from expected.compare import load
from expected.pruning import WAYS, pruned

STORED = load("pruning")


@pytest.mark.parametrize("way", WAYS)
def test_ways(tg, maybe_compile, way):
    found, _ = pruned(tg, way, maybe_compile)
    np.testing.assert_allclose(found, STORED[way], rtol=1e-12, atol=1e-13)  # a few steps in float64


def test_registering_and_removing(tg):
    prune, module = tg.nn.utils.prune, tg.nn.Linear(3, 2)
    prune.l1_unstructured(module, "weight", 2)
    assert sorted(module.state_dict()) == ["bias", "weight_mask", "weight_orig"] and prune.is_pruned(module)
    weight = module.weight.detach().clone()
    prune.remove(module, "weight")
    assert sorted(module.state_dict()) == ["bias", "weight"] and not prune.is_pruned(module)
    assert tg.equal(module.weight, weight) and int((weight == 0).sum()) == 2
    with pytest.raises(ValueError, match="has to be pruned before pruning can be removed"):
        prune.remove(module, "weight")


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda p, m: p.l1_unstructured(m, "weight", 1.5), ValueError, "should either be a float in the range"),
        (lambda p, m: p.l1_unstructured(m, "weight", "x"), TypeError, "Invalid type for amount"),
        (lambda p, m: p.l1_unstructured(m, "weight", 99), ValueError, "should be smaller than the number"),
        (lambda p, m: p.ln_structured(m, "bias", 1, 2, 0), ValueError, "only be applied to multidimensional"),
        (lambda p, m: p.random_structured(m, "weight", 1, 5), IndexError, "Invalid index 5"),
        (
            lambda p, m: p.global_unstructured([(m, "weight")], p.RandomStructured, amount=1),
            TypeError,
            'Only "unstructured" PRUNING_TYPE supported',
        ),
    ],
)
def test_wrong_calls(tg, call, error, words):
    module = tg.nn.Linear(3, 2)
    with pytest.raises(error, match=words):
        call(tg.nn.utils.prune, module)
    assert sorted(module.state_dict()) == ["bias", "weight"]


def test_a_method_of_ones_own(tg):
    prune = tg.nn.utils.prune

    class EveryOther(prune.BasePruningMethod):
        PRUNING_TYPE = "unstructured"

        def compute_mask(self, t, default_mask):
            mask = default_mask.clone()
            mask.view(-1)[::2] = 0
            return mask

    module = tg.nn.Linear(2, 2)
    EveryOther.apply(module, "weight")
    assert module.weight_mask.tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert EveryOther().prune(tg.ones(4)).tolist() == [0.0, 1.0, 0.0, 1.0]
