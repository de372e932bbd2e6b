"""What the comparison of programs calls equal, and that it runs a program in each way."""

import json
import math
from argparse import Namespace

import pytest

from tracegrad.benchmarks import public_programs as programs

PROGRAM = """
import os, torch
torch.manual_seed(0)
model, losses = torch.nn.Linear(3, 1), []
for i in range(3):
    loss = model(torch.full((2, 3), float(i))).square().mean()
    loss.backward()
    losses.append(loss.item())
open(os.environ["PROGRAM_RECORD"], "w").write("\\n".join(map(repr, losses)))
print("step", i, "loss", round(losses[-1], 3), "in 12.5 ms")
"""
OPTIONS = Namespace(timeout=120.0, size="short", path=[], torch_path=[], our_path=[])


def entry(*losses, out=""):
    return {"code": 0, "losses": [str(loss) for loss in losses], "out": out, "cpu": 1.0}


def test_numbers_without_times():
    assert programs.numbers("Epoch 2 | loss 1.5e-3 | 12.5 ms | 3.1s --- 0.5 seconds") == [2.0, 1.5e-3]
    assert math.isnan(programs.numbers("loss nan")[0])


def test_differences():
    assert programs.difference(2.0, 1.0) == 0.5 and programs.difference(1.0, 1.0) == 0.0
    assert programs.difference(math.nan, math.nan) == 0.0 and programs.difference(math.nan, 1.0) == math.inf


def test_first_last_and_where_losses_part():
    found = programs.compared(entry(1.0, 2.0, 3.0), entry(1.0, 2.5, 3.0))
    assert found == {"first": 0.0, "last": 0.0, "count": "3", "parts": 1}
    found = programs.compared(entry(1.0, 2.0), entry(1.0, 2.0, 3.0))
    assert found == {"first": 0.0, "last": math.inf, "count": "2/3", "parts": None}
    assert programs.compared(entry(out="loss 2.0"), entry(out="loss 1.0"))["first"] == 0.5
    assert programs.compared(entry(), entry())["first"] == math.inf  # nothing to compare is no agreement


@pytest.mark.long
def test_a_program_is_run_in_each_way_of_tracegrad(tmp_path):
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "main.py").write_text(PROGRAM)
    program = {"name": "own", "kind": "test", "main": "main.py", "args": ""}
    runs = {way: programs.run(tmp_path, program, way, OPTIONS) for way in ("eager", "compiled", "cached")}
    assert all(each["code"] == 0 for each in runs.values()), json.dumps(runs, indent=1)
    assert all(len(each["losses"]) == 3 and programs.numbers(each["out"])[0] == 2.0 for each in runs.values())
    assert programs.compared(runs["compiled"], runs["eager"])["last"] < 1e-5  # roundings of float32
    rows = programs.table({"own": program}, {"own": runs | {"torch": runs["eager"]}}).splitlines()
    assert rows[2].startswith("| own | test | 3 | 0e+00 | 0e+00 |") and rows[-1].startswith("1 programs run")


def test_the_long_size_has_its_own_arguments_and_changes_the_copy_of_the_main_file(tmp_path):
    main = tmp_path / "main.py"
    program = {"name": "own", "args": "--epochs 1", "long": {"what": "9 epochs", "args": "--epochs 9"}}
    main.write_text("for i in range(3): pass")
    assert programs.sized(main, program, "short") == ["--epochs", "1"]
    assert programs.sized(main, program, "long") == ["--epochs", "9"] and "range(3)" in main.read_text()
    program["long"] = {"what": "30 steps", "patch": [["range(3)", "range(30)"]]}
    assert programs.sized(main, program, "long") == ["--epochs", "1"]
    assert main.read_text() == "for i in range(30): pass"
    with pytest.raises(ValueError, match=r"main.py of own does not hold 'range\(3\)'"):
        programs.sized(main, program, "long")
