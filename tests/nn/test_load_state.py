"""Module.load_state_dict: everything, or an error and no change; and the code that classes bring for it."""

import copy

import numpy as np
import pytest

import tracegrad as tg

nn = tg.nn

LAYERS = {
    "Linear": lambda: nn.Linear(3, 2),
    "Bilinear": lambda: nn.Bilinear(2, 3, 2),
    "Embedding": lambda: nn.Embedding(4, 2),
    "PReLU": lambda: nn.PReLU(2),
    "LayerNorm": lambda: nn.LayerNorm(3),
    "RMSNorm": lambda: nn.RMSNorm(3),
    "GroupNorm": lambda: nn.GroupNorm(2, 4),
    "BatchNorm1d": lambda: nn.BatchNorm1d(3),
    "BatchNorm2d": lambda: nn.BatchNorm2d(3),
    "CrossEntropyLoss": lambda: nn.CrossEntropyLoss(weight=tg.ones(3)),
    "NLLLoss": lambda: nn.NLLLoss(weight=tg.ones(3)),
    "BCEWithLogitsLoss": lambda: nn.BCEWithLogitsLoss(pos_weight=tg.ones(3)),
    "ParameterList": lambda: nn.ParameterList([nn.Parameter(tg.ones(2))]),
    "ParameterDict": lambda: nn.ParameterDict({"a": nn.Parameter(tg.ones(2))}),
    "Sequential": lambda: nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.ModuleList([nn.BatchNorm1d(3)])),
}
LAYERS = {name: make for name, make in LAYERS.items() if hasattr(nn, name)}


def whole(module):
    """Which tensors a module has, their numbers and flags, and all other attributes."""
    facts = []
    for path, each in module.named_modules():
        for name, tensor in (*each._parameters.items(), *each._buffers.items()):
            if tensor is not None:
                numbers = tensor.detach().numpy().tobytes()
                facts.append(
                    (path, name, id(tensor), id(tensor.ndarray), numbers, str(tensor.dtype), tensor.requires_grad)
                )
        hidden = ("_parameters", "_buffers", "_modules")
        facts.append((path, sorted((key, repr(value)) for key, value in vars(each).items() if key not in hidden)))
    return facts


def bad_values(tensor):
    """(value, words of the error) for every kind of value that does not fit `tensor`."""
    bigger = tg.zeros(*tensor.shape, 5)
    yield bigger, "size mismatch for"
    yield tg.zeros(3, 1, 4, 1, 5), "size mismatch for"
    for other in (np.full(tensor.shape, "a"), [1.0], "text", None, 3, object()):
        yield other, "expected torch.Tensor or Tensor-like object from checkpoint but received"


def changed(state):
    """The same keys with other numbers, so that a partial load shows."""
    return {key: value + 1 for key, value in state.items()}


@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("name", LAYERS)
def test_one_bad_value_changes_nothing(name, strict, assign):
    module = nn.Sequential(nn.Linear(2, 2), LAYERS[name](), nn.Linear(2, 2))
    good, tried = changed(module.state_dict()), 0
    for key, value in good.items():
        for bad, words in bad_values(value):
            before = whole(module)
            with pytest.raises(RuntimeError, match="loading state_dict for Sequential") as caught:
                module.load_state_dict({**good, key: bad}, strict, assign)
            assert words in str(caught.value) and key in str(caught.value) and whole(module) == before
            tried += 1
    assert tried == 8 * len(good)


@pytest.mark.parametrize("name", LAYERS)
def test_missing_and_unexpected_keys_change_nothing(name):
    module = nn.Sequential(nn.Linear(2, 2), LAYERS[name](), nn.Linear(2, 2))
    good, before = changed(module.state_dict()), whole(module)
    for key in good:
        if not key.endswith("num_batches_tracked"):  # a state without a version counts no batches (PyTorch)
            with pytest.raises(RuntimeError, match="Missing key"):
                module.load_state_dict({k: v for k, v in good.items() if k != key})
        with pytest.raises(RuntimeError, match="Unexpected key"):
            module.load_state_dict({**good, f"{key}.more": 3})
        assert whole(module) == before
    for state in (None, [good], 3):
        with pytest.raises(TypeError, match="Expected state_dict to be dict-like"):
            module.load_state_dict(state)
    assert whole(module) == before
    module.load_state_dict(good)
    assert all((value == good[key]).all() for key, value in module.state_dict().items())


def test_what_is_returned_is_printed_as_pytorch_prints_it():
    module = nn.Linear(1, 1)
    state = module.state_dict()
    assert str(module.load_state_dict(state)) == "<All keys matched successfully>"
    keys = module.load_state_dict({"weight": state["weight"], "more": 1}, strict=False)
    assert repr(keys) == str(keys) == "_IncompatibleKeys(missing_keys=['bias'], unexpected_keys=['more'])"


def test_layers_of_the_list_are_most_of_those_with_a_state():
    assert len(LAYERS) >= 9


def test_memory_that_cannot_be_written():
    frozen = np.ones(2, np.float32)
    frozen.flags.writeable = False
    module = nn.Linear(2, 2)
    module.register_buffer("frozen", tg.from_numpy(frozen))
    before = whole(module)
    with pytest.raises(RuntimeError, match='copying the parameter named "frozen".*an exception occurred'):
        module.load_state_dict(changed(module.state_dict()))
    assert whole(module) == before


def test_assigning_integers_to_a_parameter():
    module = nn.Linear(2, 2)
    before = whole(module)
    state = {"weight": tg.ones(2, 2), "bias": tg.ones(2, dtype=tg.int64)}
    with pytest.raises(RuntimeError, match="an exception occurred"):
        module.load_state_dict(state, assign=True)
    assert whole(module) == before


def test_a_number_saved_with_one_dimension():
    module = nn.Module()
    module.register_buffer("count", tg.tensor(0.0))
    module.load_state_dict({"count": tg.tensor([3.0])})
    assert module.count.shape == () and module.count.item() == 3.0


# ------------------------------------------------------------------------------------------------- code of its own


class Extra(nn.Module):
    """Keeps something besides tensors, and checks it."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.history = [1]

    def get_extra_state(self):
        return {"history": self.history}

    def set_extra_state(self, state):
        self.history.clear()
        self.history.extend(state["history"])
        if 13 in self.history:
            raise ValueError("not 13")


def test_extra_state_goes_along(tmp_path):
    module = nn.Sequential(Extra())
    module[0].history.append(2)
    assert list(module.state_dict()) == ["0._extra_state", "0.linear.weight", "0.linear.bias"]
    tg.save(module.state_dict(), tmp_path / "state.pt")
    other = nn.Sequential(Extra())
    other.load_state_dict(tg.load(tmp_path / "state.pt"))
    assert other[0].history == [1, 2]
    with pytest.raises(RuntimeError, match='Missing key.*"0._extra_state"'):
        other.load_state_dict({key: value for key, value in module.state_dict().items() if "extra" not in key})
    with pytest.raises(RuntimeError, match='Unexpected key.*"_extra_state"'):
        nn.Linear(2, 2).load_state_dict({**nn.Linear(2, 2).state_dict(), "_extra_state": 1})


@pytest.mark.parametrize("position", [0, 1, 2])
def test_extra_state_that_is_refused_changes_nothing(position):
    module = nn.Sequential(*(Extra() for _ in range(3)))
    good = {k: {"history": [5]} if "extra" in k else v + 1 for k, v in copy.deepcopy(module.state_dict()).items()}
    before = whole(module)
    for bad, error in (({"history": [13]}, ValueError), (None, TypeError), ({}, KeyError)):
        with pytest.raises(error):
            module.load_state_dict({**good, f"{position}._extra_state": bad})
        assert whole(module) == before
    with pytest.raises(RuntimeError):
        module.load_state_dict({**good, "2.linear.bias": tg.zeros(9)})
    assert whole(module) == before
    module.load_state_dict(good)
    assert [each.history for each in module] == [[5]] * 3


class Told(Extra):
    """Notes what it is told, outside of the module: this is not put back."""

    def __init__(self, told):
        super().__init__()
        self.told = told

    def set_extra_state(self, state):
        self.told.append(state)


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("fault", ["renamed", "missing", "of another shape", "unexpected", "no tensor"])
def test_who_was_told_nothing_is_told_nothing_when_loading_fails(fault, strict):
    told = []
    module = nn.Sequential(Told(told), nn.Linear(2, 2), Told(told))
    state = dict(module.state_dict())
    if fault == "renamed":
        state = {f"module.{key}": value for key, value in state.items()}
    elif fault == "missing":
        del state["1.weight"]
    else:
        state["1.weight" if fault != "unexpected" else "x"] = 3 if fault == "no tensor" else tg.ones(7)
    only_names = fault in ("renamed", "missing", "unexpected")
    if strict or not only_names:
        with pytest.raises(RuntimeError, match="Error"):
            module.load_state_dict(state, strict=strict)
        assert told == []
    else:
        module.load_state_dict(state, strict=False)
        assert len(told) == (0 if fault == "renamed" else 2)


class Renaming(nn.Module):
    """Loads an earlier layout, and computes something from what was loaded."""

    _version = 2

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(tg.ones(2))
        self.register_buffer("twice", tg.ones(2), persistent=False)
        self.seen = None

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing, unexpected, errors):
        self.seen = local_metadata.get("version")
        if prefix + "factor" in state_dict:
            state_dict[prefix + "scale"] = state_dict.pop(prefix + "factor")
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing, unexpected, errors)
        self.twice.copy_(self.scale.detach() * 2)
        self.made = True


def test_loading_code_of_a_class():
    module = nn.Sequential(nn.Linear(1, 1), Renaming())
    state = module.state_dict()
    assert state._metadata["1"] == {"version": 2} and state._metadata["0"] == {"version": 1}
    given = {("1.factor" if key == "1.scale" else key): value + 2 for key, value in state.items()}
    keys = list(given)
    module.load_state_dict(given)
    assert module[1].scale.tolist() == [3.0, 3.0] and module[1].twice.tolist() == [6.0, 6.0] and list(given) == keys
    module.load_state_dict(module.state_dict())
    assert module[1].seen == 2


@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize("bad", ["1.scale", "2.weight"])
def test_loading_code_of_a_class_is_undone(bad, assign):
    module = nn.Sequential(nn.Linear(1, 1), Renaming(), nn.Linear(1, 1))
    good, before = changed(module.state_dict()), whole(module)
    with pytest.raises(RuntimeError, match=f"size mismatch for {bad}"):
        module.load_state_dict({**good, bad: tg.zeros(7)}, assign=assign)
    assert whole(module) == before and not hasattr(module[1], "made")


class Failing(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(tg.ones(2))

    def __setattr__(self, name, value):
        if name == "scale" and "scale" in self._parameters:
            raise OSError("not now")
        super().__setattr__(name, value)


def test_an_attribute_that_refuses_changes_nothing():
    module = nn.Sequential(nn.Linear(1, 1), Failing())
    good, before = changed(module.state_dict()), whole(module)
    with pytest.raises(OSError, match="not now"):
        module.load_state_dict(good, assign=True)
    assert whole(module) == before
    module.load_state_dict(good)
    assert module[1].scale.tolist() == [2.0, 2.0]


def test_a_class_may_save_more():
    class More(nn.Linear):
        def _save_to_state_dict(self, destination, prefix, keep_vars):
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[prefix + "more"] = 3

    assert list(nn.Sequential(More(1, 1)).state_dict()) == ["0.weight", "0.bias", "0.more"]


def test_loading_one_module_by_hand():
    module, missing, unexpected, errors = nn.Linear(2, 2), [], [], []
    state = {"weight": tg.ones(2, 2), "bias": tg.ones(9)}
    module._load_from_state_dict(state, "", {}, True, missing, unexpected, errors)
    assert len(errors) == 1 and module.weight.tolist() == [[1.0, 1.0]] * 2
