"""Programs of public repositories under PyTorch, under ``python -m tracegrad run``, and with ``--compile``.

    python -m benchmarks.public_programs FOLDER [--only NAME ...] [--ways torch kernels eager compiled] [--rounds 1]
                                         [--size long]

FOLDER holds one folder for each program, prepared as docs/public_programs.md says: ``program.json`` (main, args, and
what the tables show) beside the folder ``files``, which is copied to a new place before each run. Each run is a process
of its own with one thread. What is compared are the losses on which the program called ``backward()``, which its
prologue writes to the file that PROGRAM_RECORD names, or else the numbers that it printed, times left out. Bytecode of
all packages is there beforehand, as an installer leaves it.

`kernels` is PyTorch once more, with its kernels for older processors: how far roundings alone drive a program.
`compiled` begins with an empty compile cache; `cached` is the run after it, with what that left in the cache.
``--size long`` runs for as long as it takes to see what a program's steps take once it has begun: ``long`` in
``program.json`` says which arguments it has then, and what is replaced in its main file (``patch``, pairs of texts).
Results are kept in FOLDER/results.json, those of the long size in FOLDER/results_long.json, one entry for each program
and way; ``--table`` and ``--list`` print what is there without running anything.
"""

from __future__ import annotations

import argparse
import compileall
import json
import math
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .environment import THREAD_COUNTS

WAYS = {
    "torch": [],
    "kernels": [],
    "eager": ["-m", "tracegrad", "run"],
    "compiled": ["-m", "tracegrad", "run", "--compile"],
    "cached": ["-m", "tracegrad", "run", "--compile"],
}
TIMED = ("torch", "eager", "compiled", "cached")  # of which the table shows the seconds
OLDER_KERNELS = {"ATEN_CPU_CAPABILITY": "default", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2", "DNNL_MAX_CPU_ISA": "SSE41"}
TIMES = re.compile(
    r"\d{4}-\d\d-\d\d[ T_]\d\d[:-]\d\d\S*"  # dates
    r"|\d[\d.]*(?:e[-+]?\d+)?\s*(?:ms|s|sec|seconds|it/s|s/it|SPS|mins?)\b"
    r"|(?:ms/batch|SPS:|time:?|[Tt]ime:?)\s*[\d.]+|--- [\d.]+ seconds"
)
NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?|\b(?:nan|inf)\b")
APART = 1e-2  # a relative difference of losses that is told with its place
KEPT = 200_000, 6_000  # characters of what is printed, and of errors


def main() -> None:
    options = _options()
    folder = Path(options.folder)
    names = options.only or sorted(path.parent.name for path in folder.glob("*/program.json"))
    programs = {name: json.loads((folder / name / "program.json").read_text()) for name in names}
    if options.size == "long":
        programs = {name: program for name, program in programs.items() if "long" in program}
    if options.list:
        print(listed(programs))
    elif options.table:
        print(table(programs, _stored(folder, options.size)))
    else:
        _measure(folder, programs, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.public_programs",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("folder")
    parser.add_argument("--only", nargs="*", default=[], help="names of programs; all without it")
    parser.add_argument("--ways", nargs="*", default=["torch", "eager", "compiled"], choices=WAYS)
    parser.add_argument("--size", default="short", choices=("short", "long"), help="how long the programs train")
    parser.add_argument("--rounds", type=int, default=1, help="runs of each way; the quietest counts")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one run")
    parser.add_argument("--path", nargs="*", default=[], help="folders for PYTHONPATH")
    parser.add_argument("--torch-path", nargs="*", default=[], help="folders for PYTHONPATH under PyTorch only")
    parser.add_argument("--our-path", nargs="*", default=[], help="the same for tracegrad")
    parser.add_argument("--table", action="store_true", help="print the table of the stored results")
    parser.add_argument("--list", action="store_true", help="print where the programs come from")
    return parser.parse_args()


# ----------------------------------------------------------------------------------------------------------- running


def _measure(folder: Path, programs: dict[str, Any], options: argparse.Namespace) -> None:
    """Runs programs and stores what came out, each entry when it is there."""
    for package in [*options.path, *options.our_path, *options.torch_path, str(Path(__file__).resolve().parents[1])]:
        compileall.compile_dir(package, quiet=2)
    for name, program in programs.items():
        for way in options.ways:
            runs = [run(folder / name, program, way, options) for _ in range(options.rounds)]
            results = _stored(folder, options.size)
            results.setdefault(name, {})[way] = min(runs, key=lambda each: each["wall"])
            _store(folder, options.size).write_text(json.dumps(results, indent=1))
            print(_line(name, way, results[name]), flush=True)


def _store(folder: Path, size: str) -> Path:
    return folder / ("results_long.json" if size == "long" else "results.json")


def _stored(folder: Path, size: str) -> dict[str, Any]:
    store = _store(folder, size)
    return json.loads(store.read_text()) if store.exists() else {}


def run(folder: Path, program: dict[str, Any], way: str, options: argparse.Namespace) -> dict[str, Any]:
    """One fresh process: its exit code, what it wrote, its losses, and seconds by the clock and of its processors."""
    with tempfile.TemporaryDirectory() as place:
        files, record = Path(place, "files"), Path(place, "losses")
        shutil.copytree(folder / "files", files)
        main = files / program["main"]
        arguments = sized(main, program, options.size)
        command = [sys.executable, *WAYS[way], main.name, *arguments]
        environment = _environment(way, options) | {"PROGRAM_RECORD": str(record)}
        environment["TRACEGRAD_CACHE_DIR"] = str(Path(place, "cache"))
        if way == "cached":
            with open(os.devnull, "w") as nowhere:
                _timed(command, main.parent, environment, nowhere, nowhere, options.timeout)
        with open(Path(place, "out"), "w+") as out, open(Path(place, "err"), "w+") as err:
            code, wall, cpu = _timed(command, main.parent, environment, out, err, options.timeout)
            written = [_end_of(file, kept) for file, kept in zip((out, err), KEPT, strict=True)]
        losses = record.read_text().split() if record.exists() else []
    return {"code": code, "out": written[0], "err": written[1], "losses": losses, "wall": wall, "cpu": cpu}


def sized(main: Path, program: dict[str, Any], size: str) -> list[str]:
    """The arguments for a size; for the long one `main` is changed as the program's entry says."""
    if size == "short":
        return program["args"].split()
    text = main.read_text()
    for old, new in program["long"].get("patch", ()):
        if old not in text:
            raise ValueError(f"{main.name} of {program['name']} does not hold {old!r}, which the long size replaces.")
        text = text.replace(old, new)
    main.write_text(text)
    return program["long"].get("args", program["args"]).split()


def _timed(
    command: list[str], cwd: Path, env: dict[str, str], out: Any, err: Any, timeout: float
) -> tuple[int, float, float]:
    """The exit code (-1 after `timeout` seconds), and the time that a command took, its child processes included."""
    used, begin = _processor_time(), time.perf_counter()
    process = subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
    )
    try:
        code = process.wait(timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        code = -1
    return code, time.perf_counter() - begin, _processor_time() - used


def _processor_time() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _end_of(file: Any, kept: int) -> str:
    file.seek(0)
    return file.read()[-kept:]


def _environment(way: str, options: argparse.Namespace) -> dict[str, str]:
    is_torch = way in ("torch", "kernels")
    ours = [*options.our_path, str(Path(__file__).resolve().parents[2])]
    paths = [*options.path, *(options.torch_path if is_torch else ours)]
    fixed = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": "0", "MPLBACKEND": "Agg"}
    own = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return own | dict.fromkeys(THREAD_COUNTS, "1") | fixed | (OLDER_KERNELS if way == "kernels" else {})


# --------------------------------------------------------------------------------------------------------- comparing


def numbers(text: str) -> list[float]:
    """The numbers that a program printed, without those that tell times.

    >>> numbers("epoch 1: loss 2.5e-1, 31.5 ms, dt: 2.1e-01s")
    [1.0, 0.25]
    """
    return [float(each) for each in NUMBER.findall(TIMES.sub(" ", text))]


def difference(a: float, b: float) -> float:
    """How far two losses are apart, relative to the larger one; below 0.001 as parts of that.

    >>> difference(1.0, 1.5), difference(0.0, 1e-6), difference(float("nan"), 1.0)
    (0.3333333333333333, 0.001, inf)
    """
    if math.isnan(a) or math.isnan(b):
        return 0.0 if math.isnan(a) and math.isnan(b) else math.inf
    return 0.0 if a == b else abs(a - b) / max(abs(a), abs(b), 1e-3)


def compared(entry: dict[str, Any], reference: dict[str, Any]) -> dict[str, Any]:
    """The relative difference of the first and the last loss, how many there are, and where they part."""
    losses, expected = ([float(loss) for loss in each["losses"]] or numbers(each["out"]) for each in (entry, reference))
    each = [difference(a, b) for a, b in zip(losses, expected, strict=False)] or [math.inf]
    same = len(losses) == len(expected)
    return {
        "first": each[0],
        "last": each[-1] if same else math.inf,
        "count": str(len(losses)) if same else f"{len(losses)}/{len(expected)}",
        "parts": next((i for i, d in enumerate(each) if d > APART), None),
    }


# ----------------------------------------------------------------------------------------------------------- showing


def _line(name: str, way: str, ways: dict[str, Any]) -> str:
    entry = ways[way]
    text = f"{name:24} {way:9} code {entry['code']:3} wall {entry['wall']:6.1f} cpu {entry['cpu']:6.1f}"
    if entry["code"]:
        lines = [line for line in entry["err"].splitlines() if line.strip()]
        return f"{text}  {lines[-1][:220] if lines else ''}"
    if way != "torch" and ways.get("torch", {}).get("code") == 0:
        found = compared(entry, ways["torch"])
        text += f"  first {found['first']:.1e} last {found['last']:.1e} of {found['count']}, apart at {found['parts']}"
        text += f", PyTorch/{way} {_factor(ways, way):.2f}"
    return text


def listed(programs: dict[str, Any]) -> str:
    """Markdown: where each program comes from, and what was made smaller."""
    head = "| program | repository, path | commit | licence | smaller, or otherwise changed |\n|---|---|---|---|---|"
    return "\n".join([head, *(_source(program) for program in _by_kind(programs))])


def _source(program: dict[str, Any]) -> str:
    long = f"long: {program['long']['what']}" if "long" in program else ""
    what = "; ".join(
        each for each in (program["what"], f"`{program['args']}`" if program["args"] else "", long) if each
    )
    where = f"{program['repo']}, {program['path']}"
    return f"| {program['name']} | {where} | {program['commit'][:12]} | {program['licence']} | {what} |"


def _by_kind(programs: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted(programs.values(), key=lambda program: (program["kind"], program["name"]))


def table(programs: dict[str, Any], results: dict[str, Any]) -> str:
    """Markdown: how far each program's losses are from PyTorch's, and seconds by the clock."""
    columns = [
        *("program", "kind", "losses", "eager: first", "last", "compiled: first", "last", "other kernels: last"),
        *TIMED,
        *(f"PyTorch / {way}" for way in TIMED[1:]),
    ]
    head = f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}"
    chosen = [program for program in _by_kind(programs) if _ran(results.get(program["name"], {}), "torch")]
    rows = [_row(program, results[program["name"]]) for program in chosen]
    return "\n".join([head, *rows, "", _summary(results)])


def _row(program: dict[str, Any], ways: dict[str, Any]) -> str:
    agreement = {way: compared(ways[way], ways["torch"]) for way in WAYS if _ran(ways, way) and _ran(ways, "torch")}
    cells = [program["name"], program["kind"], agreement.get("torch", {}).get("count", "")]
    for way in ("eager", "compiled"):
        found = agreement.get(way)
        failed = "fails" if way in ways else ""
        cells += [f"{found['first']:.0e}", f"{found['last']:.0e}"] if found else [failed, ""]
    cells += [f"{agreement['kernels']['last']:.0e}" if "kernels" in agreement else ""]
    timed = _was_timed(ways)
    cells += [f"{ways[way]['wall']:.1f}" if timed else "" for way in TIMED]
    cells += [f"{_factor(ways, way):.2f}" if timed else "" for way in TIMED[1:]]
    return "| " + " | ".join(cells) + " |"


def _ran(ways: dict[str, Any], way: str) -> bool:
    return ways.get(way, {}).get("code") == 0


def _was_timed(ways: dict[str, Any]) -> bool:
    """Times are compared where all ways were run, one after the other."""
    return all(_ran(ways, way) for way in TIMED)


def _factor(ways: dict[str, Any], way: str) -> float:
    return ways["torch"]["wall"] / ways[way]["wall"]


def _summary(results: dict[str, Any]) -> str:
    both = [ways for ways in results.values() if _ran(ways, "torch")]
    found = [f"{len(both)} programs run under PyTorch"]
    for way in TIMED[1:]:
        factors = [_factor(ways, way) for ways in both if _was_timed(ways)]
        if factors:
            median, least, most = statistics.median(factors), min(factors), max(factors)
            found.append(f"{len(factors)} {way}: PyTorch / {way} {median:.2f} (median; {least:.2f} to {most:.2f})")
    return ", ".join(found)


if __name__ == "__main__":
    main()
