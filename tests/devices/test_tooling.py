"""Profiler, jit, hub, testing, benchmark: what they do, and what they refuse."""

import json

import pytest

import tracegrad as tg

# ------------------------------------------------------------------------------------------------------- profiler


def test_a_profile_lists_named_ranges(tmp_path):
    with tg.profiler.profile(activities=[tg.profiler.ProfilerActivity.CPU]) as prof:
        for _ in range(3):
            with tg.profiler.record_function("forward"):
                tg.ones(2).sum()
    rows = {row.key: row for row in prof.key_averages()}
    assert set(rows) == {"profile", "forward"} and rows["forward"].count == 3
    assert 0 < rows["forward"].cpu_time_total <= rows["profile"].cpu_time_total
    text = prof.key_averages().table(sort_by="cpu_time_total", row_limit=10)
    assert "forward" in text and "single operations are not listed" in text
    prof.export_chrome_trace(tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [event["name"] for event in events] == ["profile", "forward", "forward", "forward"]


def test_a_schedule(tmp_path):
    seen = []
    schedule = tg.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    assert [schedule(i).name for i in range(6)] == ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "NONE", "NONE"]
    handler = tg.profiler.tensorboard_trace_handler(str(tmp_path))

    def ready(prof):
        seen.append([row.key for row in prof.key_averages()])
        handler(prof)

    with tg.profiler.profile(schedule=schedule, on_trace_ready=ready) as prof:
        for _ in range(6):
            with tg.profiler.record_function("step"):
                pass
            prof.step()
    assert seen == [["step", "ProfilerStep#2", "ProfilerStep#3"]] and len(list(tmp_path.iterdir())) == 1


def test_ranges_do_not_keep_a_step_from_being_replayed():
    @tg.compile
    def step(x):
        with tg.profiler.record_function("double"):
            return x * 2

    for i in range(4):
        assert step(tg.full((2,), float(i))).tolist() == [2.0 * i] * 2
    assert step.way == "replay"


# ------------------------------------------------------------------------------------------------------------ jit


def test_scripts_are_what_they_were(tmp_path):
    model = tg.nn.Linear(2, 2)
    with pytest.warns(DeprecationWarning):
        assert tg.jit.script(model) is model and tg.jit.trace(model, tg.ones(1, 2)) is model
    with pytest.warns(DeprecationWarning), pytest.raises(RuntimeError):
        tg.jit.trace(model, tg.ones(1, 3))
    with pytest.raises(NotImplementedError, match="state_dict"):
        tg.jit.save(model, tmp_path / "model.pt")
    (tmp_path / "model.pt").write_bytes(b"x")
    with pytest.warns(DeprecationWarning), pytest.raises(NotImplementedError, match="state_dict"):
        tg.jit.load(tmp_path / "model.pt")

    class Scripted(tg.jit.ScriptModule):
        @tg.jit.script_method
        def forward(self, x):
            return x + 1

    assert Scripted()(tg.ones(1)).item() == 2.0

    @tg.jit.ignore(drop=True)
    def ignored(x):
        return x

    assert ignored(3) == 3 and tg.jit.isinstance([1], list[int])


def _forward(x):
    return x + 1


WAYS = {
    "script": tg.jit.script,
    "trace": lambda obj: tg.jit.trace(obj, tg.ones(1, 2)),
    "trace_module": lambda obj: tg.jit.trace_module(obj, {"forward": tg.ones(1, 2)}),
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["module", "function"])
def test_what_scripts_gave_is_of_their_classes(way, kind):
    if (way, kind) == ("trace_module", "function"):
        pytest.skip("it takes modules alone")
    plain, given = (tg.nn.Linear(2, 2), tg.nn.Linear(2, 2)) if kind == "module" else (len, lambda x: _forward(x))
    made = WAYS[way](given)
    assert isinstance(made, tg.jit.ScriptModule) == (kind == "module")
    assert isinstance(made, tg.jit.ScriptFunction) == (kind == "function")
    assert not isinstance(plain, (tg.jit.ScriptModule, tg.jit.ScriptFunction))

    class Own(tg.jit.ScriptModule):
        pass

    assert not isinstance(made, Own) and isinstance(Own(), tg.jit.ScriptModule)
    if kind == "module":
        with pytest.raises(RuntimeError, match="only implemented for modules in eval mode"):
            tg.jit.freeze(made)
        assert tg.jit.freeze(made.eval())(tg.ones(1, 2)).shape == (1, 2)
        with pytest.raises(RuntimeError, match="expects a ScriptModule"):
            tg.jit.freeze(plain)


def test_files_of_the_network_are_not_fetched(tmp_path):
    tg.save(tg.nn.Linear(1, 1).state_dict(), tmp_path / "weights.pt")
    url = "https://example.invalid/weights.pt"
    assert list(tg.hub.load_state_dict_from_url(url, model_dir=tmp_path)) == ["weight", "bias"]
    with pytest.raises(NotImplementedError, match="nothing is fetched"):
        tg.hub.load_state_dict_from_url(url, model_dir=tmp_path / "none")
    for refused in (tg.hub.load, tg.onnx.export):
        with pytest.raises(NotImplementedError):
            refused("a", "b")


# -------------------------------------------------------------------------------------------------------- testing

X = [1.0, 2.0]
CLOSE, EQUAL = (f"Tensor-likes are not {word}!\n\nMismatched" for word in ("close", "equal"))


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        (tg.tensor(X), tg.tensor(X) + 1,
         CLOSE + " elements: 2 / 2 (100.0%)\nGreatest absolute difference: 1.0 at index "
         "(0,) (up to 1e-05 allowed)\nGreatest relative difference: 0.5 at index (0,) (up to 1.3e-06 allowed)"),
        (tg.eye(2), tg.eye(2) * 2,
         CLOSE + " elements: 2 / 4 (50.0%)\nGreatest absolute difference: 1.0 at index "
         "(0, 0) (up to 1e-05 allowed)\nGreatest relative difference: 0.5 at index (0, 0) (up to 1.3e-06 allowed)"),
        (tg.tensor([1, 1]), tg.tensor([2, 2]),
         EQUAL + " elements: 2 / 2 (100.0%)\nGreatest absolute difference: 1 at index "
         "(0,)\nGreatest relative difference: 0.5 at index (0,)"),
        (1.0, 2.0,
         "Scalars are not close!\n\nExpected 2.0 but got 1.0.\nAbsolute difference: 1.0 (up to 1e-07 allowed)\n"
         "Relative difference: 0.5 (up to 1e-07 allowed)"),
        ([1, 2], [1, 3],
         "Scalars are not equal!\n\nExpected 3 but got 2.\nAbsolute difference: 1\nRelative difference: "
         "0.3333333333333333\n\nThe failure occurred for item [1]"),
        ({"a": 1}, {"b": 1}, "The keys of the mappings do not match:\nMissing keys in the actual mapping: ['b']\n"
         "Additional keys in the actual mapping: ['a']"),
        (True, False, "Booleans mismatch: True is not False"),
        (None, 1, "None mismatch: None is not 1"),
        (tg.tensor(X) * float("nan"), tg.tensor(X) * float("nan"),
         CLOSE + " elements: 2 / 2 (100.0%)\nGreatest absolute difference: nan at index "
         "(0,) (up to 1e-05 allowed)\nGreatest relative difference: nan at index (0,) (up to 1.3e-06 allowed)"),
    ],
)  # fmt: skip
def test_assert_close_says_what_pytorch_says(actual, expected, message):
    with pytest.raises(AssertionError) as caught:
        tg.testing.assert_close(actual, expected)
    assert str(caught.value) == message


def test_assert_close_takes_what_is_close():
    x = tg.tensor(X)
    tg.testing.assert_close([x, {"a": 1.0}], (x + 1e-7, {"a": 1.0 + 1e-9}))
    tg.testing.assert_close(x, x.double(), check_dtype=False)
    tg.testing.assert_close(x, x + 0.5, rtol=0, atol=1)
    tg.testing.assert_close(x.bfloat16(), x.bfloat16() * 1.01)
    tg.testing.assert_close(x * float("nan"), x * float("nan"), equal_nan=True)
    with pytest.raises(AssertionError, match="^mine$"):
        tg.testing.assert_close(x, x + 1, msg="mine")
    with pytest.raises(AssertionError, match="^so: Tensor"):
        tg.testing.assert_close(x, x + 1, msg=lambda text: f"so: {text}")


def test_make_tensor():
    for dtype in (tg.float32, tg.bfloat16, tg.float64, tg.int64, tg.uint8, tg.bool, tg.complex64):
        made = tg.testing.make_tensor((20, 3), dtype=dtype, device="cpu")
        assert made.dtype is dtype and made.shape == (20, 3)
    small = tg.testing.make_tensor(50, dtype=tg.int64, device="cpu", low=0, high=3, exclude_zero=True)
    assert set(small.tolist()) <= {1, 2}
    apart = tg.testing.make_tensor(4, 4, dtype=tg.float32, device="cpu", noncontiguous=True, requires_grad=True)
    assert not apart.is_contiguous() and apart.requires_grad and apart.shape == (4, 4)


def test_a_timer():
    timer = tg.utils.benchmark.Timer("x + 1", globals={"x": tg.ones(2)}, label="add")
    found = timer.timeit(4)
    assert found.number_per_run == 4 and found.mean > 0 and "add" in repr(found)
    assert len(timer.blocked_autorange(min_run_time=0.001).times) >= 1
    with pytest.raises(ValueError, match="language"):
        tg.utils.benchmark.Timer("x", language="c++")


def test_environments_are_told():
    text = tg.utils.collect_env.get_pretty_env_info()
    assert tg.__version__ in text and "numpy version" in text
