"""``step.verify()`` measures a result in the type with the fewest digits that it was computed in."""

import pytest

from tracegrad.compiled.verification.provenance import Provenance


@pytest.mark.parametrize("rows", [3, 1000])
@pytest.mark.parametrize("sums", [lambda t: t.sum(), lambda t: (t @ t.t()).mean(), lambda t: t.exp().mean()])
def test_float64_of_float32_sums(tg, sums, rows):
    tg.manual_seed(rows)
    narrow, wide = tg.randn(rows, 3), tg.randn(3, 2, dtype=tg.float64)
    step = tg.compile(lambda: {"one": wide * sums(narrow), "other": (wide * sums(narrow)).exp().sum()})
    for _ in range(3):
        report = step.verify()
        assert report.ok, report
        step()


def test_float64_beside_float32_is_held_to_its_own_digits(tg):
    """What is only moved, or computed with one rounding, in float32 leaves a float64 result as exact as ever."""
    count, wide = tg.tensor(3.0), tg.randn(3, dtype=tg.float64)
    step = tg.compile(lambda: (wide * (count + 1)).sum())
    step(), step()

    assert Provenance(step.specialisations[0], {}).coarsest(("result", ())) == "float64"
    step = tg.compile(lambda: (wide * (count + 1).exp()).sum())
    step(), step()
    assert Provenance(step.specialisations[0], {}).coarsest(("result", ())) == "float32"
