"""Special kernels as records of their templates: ``check.c.j2``, ``argmax.c.j2``, ``scatter_rows.c.j2``, ..."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..schedule.expressions import RankNames, rank_names
from ..schedule.records import SpecialKernel
from .comments import sanitised
from .environment import render
from .loops import Loop

_SUMMED_IN_DOUBLE = ". float is summed in double, so that the roundings of a long row do not add up."

#: The template of each kind, and the words in which kinds of one template differ.
_TEMPLATES: dict[str, tuple[str, dict[str, str]]] = {
    "check": ("check.c.j2", {}),
    "check_divisor": ("check_divisor.c.j2", {}),
    "argmax": ("argmax.c.j2", {"better": ">", "fold": "max"}),
    "argmin": ("argmax.c.j2", {"better": "<", "fold": "min"}),
    "cumsum": ("cumsum.c.j2", {"is_rounded": "", "roundings": _SUMMED_IN_DOUBLE}),
    "cumsum_rounded": ("cumsum.c.j2", {"is_rounded": "yes", "roundings": ", each rounded before the next."}),
    "put": ("scatter_rows.c.j2", {"assign": "="}),
    "index_add": ("scatter_rows.c.j2", {"assign": "+="}),
    "scatter": ("scatter.c.j2", {"assign": "="}),
    "scatter_add": ("scatter.c.j2", {"assign": "+="}),
    "running_argmax": ("running_argmax.c.j2", {"better": ">="}),
    "running_argmin": ("running_argmax.c.j2", {"better": "<="}),
    "scatter_prod": ("scatter_fold.c.j2", {"fold": "product", "better": ""}),
    "scatter_amax": ("scatter_fold.c.j2", {"fold": "largest", "better": ">"}),
    "scatter_amin": ("scatter_fold.c.j2", {"fold": "smallest", "better": "<"}),
    "argsort": ("argsort.c.j2", {}),
    "search": ("search.c.j2", {"where": "not below", "reached": ">="}),
    "search_right": ("search.c.j2", {"where": "above", "reached": ">"}),
    "window_argmax": ("window_argmax.c.j2", {}),
    "window_argmax_small": ("window_argmax_small.c.j2", {}),
    "unpick": ("unpick.c.j2", {}),
    "random_seed": ("helper.c.j2", {"function": "tg_random_seed"}),
    "random_words": ("helper.c.j2", {"function": "tg_random_words"}),
    "random_poisson": ("helper.c.j2", {"function": "tg_rejection_poisson"}),
    "random_binomial": ("helper.c.j2", {"function": "tg_rejection_binomial"}),
    "random_gamma": ("helper.c.j2", {"function": "tg_rejection_gamma"}),
    "permutation": ("helper.c.j2", {"function": "tg_permutation"}),
}


@dataclass(frozen=True)
class SpecialRecord:
    """What the template of a special kernel prints. `buffers`, `ctypes` and `numbers` are looked up by role."""

    name: str
    comment: tuple[str, ...]
    parameters: str
    buffers: Mapping[str, str]
    ctypes: Mapping[str, str]
    numbers: Mapping[str, int]
    words: Mapping[str, str]
    ranks: RankNames | None
    arguments: tuple[str, ...]
    loops: tuple[Loop, ...]
    places: Mapping[str, str]
    table: tuple[int, ...]


def special_text(kernel: SpecialKernel, parameters: str, ctype_of: Callable[[str], str]) -> str:
    """The C function of a special kernel; `ctype_of` tells the element type of a buffer."""
    template, words = _TEMPLATES[kernel.kind]
    roles = dict((*kernel.operands, *kernel.outputs))
    record = SpecialRecord(
        name=kernel.name,
        comment=(sanitised(f"{kernel.op}  {kernel.origin}".rstrip()),),
        parameters=parameters,
        buffers=roles,
        ctypes={role: ctype_of(name) for role, name in roles.items()},
        numbers=dict(kernel.numbers),
        words=words,
        ranks=rank_names(words["fold"], ctype_of(roles["x"])) if kernel.kind in ("argmax", "argmin") else None,
        arguments=(
            *(name for _, name in (*kernel.outputs, *kernel.operands)),
            *(str(value) for _, value in kernel.numbers),
        ),
        loops=tuple(Loop(v.name, str(v.extent)) for v in kernel.loops),
        places={name: str(index) for name, index in kernel.places},
        table=kernel.table,
    )
    return render(template, record)
