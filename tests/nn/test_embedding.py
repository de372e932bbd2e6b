"""Tables with bounded norms and gradients by frequency, against stored PyTorch values, eager and compiled."""

import json

import numpy as np
import pytest
from expected import attention
from expected.compare import STORE

TABLES = json.loads((STORE / "attention.json").read_text(encoding="utf-8"))["tables"]


@pytest.mark.parametrize("way", ["eager", "compiled"])
@pytest.mark.parametrize("case", range(len(TABLES)))
def test_numbers(tg, case, way):
    (printed, numbers), run = attention.of_table(tg, attention.TABLES[case], tg.compile if way == "compiled" else
                                                 lambda function: function)  # fmt: skip
    assert printed == TABLES[case][0]
    np.testing.assert_allclose(numbers, TABLES[case][1], rtol=1e-12, atol=1e-14)
    assert way == "eager" or run.way == "replay", run.explain()


def test_made_of_a_table(tg):
    table = tg.ones(4, 3)
    frozen = tg.nn.Embedding.from_pretrained(table, padding_idx=1, max_norm=2.0)
    assert not frozen.weight.requires_grad and frozen.weight.data_ptr() == table.data_ptr()
    assert repr(frozen) == "Embedding(4, 3, padding_idx=1, max_norm=2.0)"
    assert tg.nn.Embedding(4, 3, _freeze=True).weight.requires_grad is False
    with pytest.raises(AssertionError, match="Shape of weight does not match num_embeddings and embedding_dim"):
        tg.nn.Embedding(4, 2, _weight=table)
    tg.nn.Embedding.from_pretrained(table, freeze=False, sparse=True)(tg.tensor([1])).sum().backward()
