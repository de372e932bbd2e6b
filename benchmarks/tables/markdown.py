"""The tables as markdown, written between markers: `<!-- table NAME -->` and `<!-- end NAME -->`."""

import statistics
import sys
from pathlib import Path

from . import kernels, plan
from .reasons import GOALS, REASONS
from .results import CACHED, COLD

COLUMNS = {
    "PyTorch": ("torch-fused", "torch-nhwc"),
    "torch.compile": ("torch-compile",),
    "JAX": ("jax", "jax-nhwc"),
    "numpy": ("numpy",),
    "pytensor": ("pytensor",),
    "tinygrad": ("tinygrad",),
}
TABLES = ("one thread", "two threads", "first steps", "off the list", "first steps off the list", "kernels")
STARTS = ("tracegrad", "torch-fused", "torch-compile", "jax")
LOSS_TOLERANCE = 1e-3  # relative, after 20 steps whose sums run in different orders


def shown_time(us):
    if us is None:
        return "–"
    return f"{us / 1e3:.3g} ms" if us >= 1000 else f"{us:.3g} µs"


def disagreement(row, peer, results):
    """Whether a peer's loss is another one: it does not do the same work then."""
    losses = [results.best(row, p, "loss_n") for p in ("tracegrad", peer)]
    return None not in losses and abs(losses[0] - losses[1]) > LOSS_TOLERANCE * max(0.01, abs(losses[0]))


def fastest(row, peers, results):
    """The shortest time of some peers, those that compute something else left out."""
    times = [results.best(row, p, "median_us") for p in peers if not disagreement(row, p, results)]
    return min((t for t in times if t is not None), default=None)


def ratio(row, results):
    """The best peer's time over tracegrad's; None as long as one is missing."""
    peers = [p for group in COLUMNS.values() for p in group]
    others, own = fastest(row, peers, results), results.best(row, "tracegrad", "median_us")
    return others / own if others and own else None


def is_behind(row, value):
    """Whether a row is under the best peer or misses its goal."""
    return value is not None and value < GOALS.get(row.name, 1.0)


def notes(rows, results):
    """Why rows are not what they should be, one paragraph each."""
    for row in measured(rows, results):
        if is_behind(row, ratio(row, results)):
            yield from (f"{row.title.split(': ')[0]}: {REASONS.get(row.name, '**no reason written**')}.", "")


def first_steps(row, peer, results):
    """First step from an empty and from a filled cache, and resident memory."""
    cold, cached = (results.best(row, peer, "first_step_s", start) for start in (COLD, CACHED))
    memory = results.best(row, peer, "rss_mb")
    shown = [f"{figure:.2f}" if figure is not None else "–" for figure in (cold, cached)]
    return " / ".join([*shown, str(memory or "–")])


def measured(rows, results):
    return [row for row in rows if results.best(row, "tracegrad", "median_us") is not None]


def columns_of(rows, results):
    return {t: peers for t, peers in COLUMNS.items() if any(fastest(row, peers, results) is not None for row in rows)}


def times(rows, results):
    """Median step times, the ratio to the best peer, and the reason where it is not what it should be."""
    columns, clang = columns_of(rows, results), any(results.runs[row.name, "tracegrad-clang"] for row in rows)
    heads = ["step", "tracegrad", *(["with clang"] * clang), *columns, "best peer / tracegrad", "goal"]
    yield "| " + " | ".join(heads) + " |"
    yield "|---|" + "---:|" * (len(heads) - 1)
    for row in measured(rows, results):
        cells = [f"**{shown_time(results.best(row, 'tracegrad', 'median_us'))}**"]
        cells += [shown_time(results.best(row, "tracegrad-clang", "median_us"))] * clang
        cells += [shown_time(fastest(row, peers, results)) for peers in columns.values()]
        value, goal = ratio(row, results), GOALS.get(row.name, 1.0)
        cells += [f"{value:.2f}" if value else "–", f"{goal:g}"]
        yield f"| {row.title} | " + " | ".join(cells) + " |"
    yield from ("", *notes(rows, results), *meanwhile(rows, results))


def meanwhile(rows, results):
    """How much of the processors other programs took, which says how far times may be trusted."""
    shares = sorted(
        run["foreign"]
        for row in rows
        for peer in row.peers
        for run in results.of(row, peer, CACHED)
        if "foreign" in run
    )
    if shares:
        median = statistics.median(shares)
        taken = f"{median:.0%} of a processor (median), at most {shares[-1]:.0%}"
        yield f"Medians of one step. Other programs took {taken} meanwhile."


def starts(rows, results):
    """First steps and memory of the peers that have a cache or compile."""
    yield "| step | " + " | ".join(STARTS) + " |"
    yield "|---|" + "---:|" * len(STARTS)
    for row in measured(rows, results):
        yield f"| {row.workload} | " + " | ".join(first_steps(row, peer, results) for peer in STARTS) + " |"


def kernel_tables(results):
    runs = {name: results.runs[f"{name}/kernels", "tracegrad"][-1:] for name in kernels.WORKLOADS}
    rows = {name: run[0]["rows"] for name, run in runs.items() if run}
    if rows:
        yield from (*kernels.shares(rows), "")
    for name in filter(rows.__contains__, kernels.BY_KERNEL):
        yield from (*kernels.table(name, rows[name]), "")


def tables(results):
    """Name -> lines of each table; those without results have none."""
    rows = plan.all_rows()
    of = {threads: [r for r in rows if r.table == "workloads" and r.threads == threads] for threads in (1, 2)}
    off_list = [r for r in rows if r.table == "off-list"]
    made = (
        with_results(of[1], results, times),
        with_results(of[2], results, times),
        with_results(of[1], results, starts),
        with_results(off_list, results, times),
        with_results(off_list, results, starts),
        kernel_tables(results),
    )
    return {name: list(lines) for name, lines in zip(TABLES, made, strict=True)}


def with_results(rows, results, made):
    """The lines of a table if one of its rows has been measured."""
    return made(rows, results) if measured(rows, results) else ()


def replaced(text, name, lines):
    """The text with other lines between the markers of a table."""
    begin, end = f"<!-- table {name} -->\n", f"<!-- end {name} -->"
    before, found, rest = text.partition(begin)
    if not found or end not in rest:
        raise ValueError(f"the page has no place for a table: {begin.strip()} ... {end}")
    body = "\n".join(lines).strip()
    return before + begin + (f"\n{body}\n\n" if body else "\n") + end + rest.partition(end)[2]


def require_places(path):
    """ValueError for a page that lacks the place of a table; to be asked before anything is measured."""
    text = Path(path).read_text(encoding="utf-8")
    for name in TABLES:
        replaced(text, name, [])


def write(path, results):
    """Writes all tables that have rows; says which rows want a reason, and returns 1 if one does."""
    page = Path(path)
    text = page.read_text(encoding="utf-8")
    for name, lines in tables(results).items():
        if lines:
            text = replaced(text, name, lines)
    page.write_text(text, encoding="utf-8")
    unexplained = [row for row in plan.all_rows() if is_behind(row, ratio(row, results)) and row.name not in REASONS]
    for row in unexplained:
        goal = GOALS.get(row.name, 1.0)
        print(f"no reason written: {row.name}: {ratio(row, results):.2f} of {goal}", file=sys.stderr)
    return int(bool(unexplained))
