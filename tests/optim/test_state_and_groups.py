"""What `state` and `param_groups` hold after steps and after loading; the expected outcomes are PyTorch's."""

import pytest

import tracegrad as tg

RATE = {"lr": 0.1}
#: Of each optimizer: options, and whether a step gives its parameter a state.
KEEPING = [
    ("SGD", {}, False),
    ("SGD", {"weight_decay": 0.1, "maximize": True}, False),
    ("SGD", {"momentum": 0.9}, True),
    *[(name, {}, True) for name in "Adam AdamW RMSprop Adagrad Adadelta Adamax NAdam RAdam ASGD Rprop".split()],
]
ids = [f"{name} {' '.join(options)}".strip() for name, options, _ in KEEPING]


def made(name, options, count=1):
    parameters = [tg.nn.Parameter(tg.ones(3)) for _ in range(count)]
    return getattr(tg.optim, name)(parameters, **RATE, **options), parameters


def stepped(optimizer, parameters):
    optimizer.zero_grad()
    sum((p * p).sum() for p in parameters).backward()
    optimizer.step()


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
@pytest.mark.parametrize(("name", "options", "keeps"), KEEPING, ids=ids)
def test_a_parameter_is_in_the_state_if_a_step_keeps_something(name, options, keeps, compiled):
    optimizer, parameters = made(name, options, 2)
    used, other = parameters
    step = tg.compile(lambda: stepped(optimizer, [used])) if compiled else lambda: stepped(optimizer, [used])
    for _ in range(3):
        step()
    begun = name == "Adagrad"  # which has its sums from the beginning
    assert (used in optimizer.state, other in optimizer.state) == (keeps, begun)
    assert len(optimizer.state_dict()["state"]) == keeps + begun


@pytest.mark.parametrize("fused", [None, True, False])
def test_steps_without_state_are_fused_and_gain_state_with_momentum(fused):
    optimizer, (p,) = made("SGD", {"fused": fused})
    for _ in range(4):
        stepped(optimizer, [p])
    assert not optimizer.state
    optimizer.param_groups[0]["momentum"] = 0.5
    stepped(optimizer, [p])
    assert list(optimizer.state[p]) == ["momentum_buffer"]
    optimizer.param_groups[0]["momentum"] = 0
    stepped(optimizer, [p])
    assert p in optimizer.state


def test_an_update_of_the_program_keeps_what_it_likes():
    class Counting(tg.optim.SGD):
        def update(self, p, gradient, state, options):
            state["count"] = state.get("count", 0) + 1

    p = tg.nn.Parameter(tg.ones(3))
    optimizer = Counting([p])
    for _ in range(3):
        stepped(optimizer, [p])
    assert optimizer.state[p] == {"count": 3}


@pytest.mark.parametrize(("name", "options", "keeps"), KEEPING, ids=ids)
def test_loading_gives_a_group_the_saved_order(name, options, keeps):
    optimizer, (p,) = made(name, options)
    keys = list(optimizer.param_groups[0])
    assert keys[0] == "params"
    stepped(optimizer, [p])
    saved = optimizer.state_dict()
    assert list(saved["param_groups"][0]) == keys[1:] + ["params"]
    optimizer.load_state_dict(saved)
    assert list(optimizer.param_groups[0]) == keys[1:] + ["params"]
    assert optimizer.param_groups[0]["params"][0] is p
    saved["param_groups"][0] = {"params": [0], **saved["param_groups"][0]}
    optimizer.load_state_dict(saved)
    assert list(optimizer.param_groups[0]) == keys


def test_loading_leaves_no_entry_that_is_neither_saved_nor_an_option():
    optimizer, (p,) = made("SGD", {})
    saved = optimizer.state_dict()
    tg.optim.lr_scheduler.StepLR(optimizer, 2)
    optimizer.param_groups[0]["mine"] = 1
    saved["param_groups"][0]["theirs"] = 2
    del saved["param_groups"][0]["nesterov"]
    optimizer.load_state_dict(saved)
    expected = "lr momentum dampening weight_decay maximize foreach differentiable fused params theirs nesterov".split()
    assert list(optimizer.param_groups[0]) == expected
    named = tg.optim.SGD([("w", p)], lr=0.1)
    named.load_state_dict(saved)
    assert named.param_groups[0]["param_names"] == ["w"]


def test_a_compiled_step_goes_on_with_what_was_loaded():
    optimizer, (p,) = made("SGD", {"momentum": 0.5})
    step = tg.compile(lambda: stepped(optimizer, [p]))
    for _ in range(3):
        step()
    saved = optimizer.state_dict()
    saved["param_groups"][0]["lr"] = 0.0
    optimizer.load_state_dict(saved)
    before = p.tolist()
    step()
    assert p.tolist() == before
    optimizer.param_groups[0]["lr"] = 0.1
    step()
    assert p.tolist() != before


def test_the_state_of_a_group_that_was_removed_cannot_be_saved():
    one, other = tg.ones(2, requires_grad=True), tg.ones(3, requires_grad=True)
    optimizer = tg.optim.Adam([{"params": [one]}, {"params": [other]}])
    (one.sum() + other.sum()).backward()
    optimizer.step()
    optimizer.param_groups.pop(0)
    with pytest.raises(KeyError, match="in no param group any more"):
        optimizer.state_dict()
    del optimizer.state[one]
    assert list(optimizer.state_dict()["state"]) == [0]
