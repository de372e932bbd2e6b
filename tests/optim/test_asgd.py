"""The rate of ASGD is rounded where PyTorch rounds it: its numbers after eight steps, with each implementation."""

import pytest

OPTIONS = {"lr": 0.03, "lambd": 0.7, "alpha": 0.9, "t0": 3}
#: By `foreach`: the parameters after eight steps in PyTorch. They part in the eighth digit.
STEPPED = {
    False: [0.752090949862646, -3.1787471434544434, 0.28686180723840493],
    True: [0.7520909588582799, -3.1787471123602615, 0.2868618129809012],
}


@pytest.mark.parametrize("loads", [False, True], ids=["", "loads"])
@pytest.mark.parametrize("foreach", [False, True], ids=["plain", "foreach"])
def test_rates_are_rounded(tg, maybe_compile, foreach, loads):
    """To float32, also in a state that was loaded, which holds rates in the parameters' type; by `foreach` each step
    of the computation is."""
    w = tg.nn.Parameter(tg.tensor([1.0, -2.0, 0.5], dtype=tg.float64))
    optimizer = tg.optim.ASGD([w], foreach=foreach, **OPTIONS)

    @maybe_compile
    def step():
        optimizer.zero_grad()
        (w * w * w.cos()).sum().backward()
        optimizer.step()

    for turn in range(8):
        if loads and turn == 5:
            optimizer.load_state_dict(optimizer.state_dict())
        step()
    assert w.tolist() == pytest.approx(STEPPED[foreach], rel=1e-14)
    state = optimizer.state[w]
    assert state["eta"].dtype is (tg.float64 if loads else tg.float32)
    assert (float(state["eta"]).hex(), float(state["mu"]).hex()) == ("0x1.ab68720000000p-6", "0x1.99999a0000000p-3")
