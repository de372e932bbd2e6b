"""The goals, as ratios of the best peer's step time to ours, and why a row is under its own (1 without one)."""

_ONE = dict(T1=10, T2=3, T3=1.35, T4=1.15, T5=1.8, T6=1.5, T7=2.5, T8=1.4, T9=2.6, T10=6.4)
_TWO = dict(T1=10, T2=3.9, T3=1.6, T4=1.35, T5=2.8, T6=2.0, T7=3.0, T8=1.9, T9=2.9, T10=11)

GOALS = {f"{name}/{threads}": goal for threads, goals in ((1, _ONE), (2, _TWO)) for name, goal in goals.items()}

_CONVOLUTIONS = "81 % are convolutions at 153 to 171 of 240 GF/s, 17 % BatchNorm's statistics"
_ROWS = "191 vector instructions for 16 elements, two a cycle (see where the time goes)"
_GPT = "83 % are products, at 222 of 240 GF/s alone, at 160 to 190 with what is fused into them"

REASONS: dict[str, str] = {
    "T6/1": _CONVOLUTIONS,
    "T6/2": _CONVOLUTIONS,
    "T7/1": _GPT,
    "T7/2": _GPT,
    "T10/1": _ROWS,
    "T10/2": _ROWS,
    "loop-mlp/1": "C takes 30 µs (T2); the rest is Python: model, loss, backward and update are a guarded call each",
}
