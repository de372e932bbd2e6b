"""The goals, as ratios of the best peer's step time to ours, and why a row is under its own (1 without one)."""

_ONE = dict(T1=10, T2=3, T3=1.35, T4=1.15, T5=1.8, T6=1.5, T7=2.5, T8=1.4, T9=2.6, T10=6.4)
_TWO = dict(T1=10, T2=3.9, T3=1.6, T4=1.35, T5=2.8, T6=2.0, T7=3.0, T8=1.9, T9=2.9, T10=11)

GOALS = {f"{name}/{threads}": goal for threads, goals in ((1, _ONE), (2, _TWO)) for name, goal in goals.items()}

# Of the machine of docs/performance.md, whose peak on one core is 118 GF/s.
_CONVOLUTIONS = "85 % are convolutions, at 75 % of the peak; 15 % are BatchNorm's statistics, at 15 GB/s"
_ROWS = "two error functions and two exponentials an element (see where the time goes)"
_GPT = (
    "98 % are products: at 86 % of the peak alone, at 70 to 76 with updates or GELU in them, at 50 to 56 in attention"
)

_CALL = "C takes 1.7 µs; guards, arguments and the result of the call take the rest"
_DIGITS = "97 % are products, at 83 % of the peak"
_UPDATES = "all products: at 80 % of the peak, with the update of three arrays a weight in them"
_WIDE = "all products: at 82 % of the peak, with the update, which reads and writes the weights, in them"
_IMAGES = "87 % are convolutions and products, at 78 % of the peak; the rest is pooling and the sums over its results"
_LOOP = "54 % is the loop over time, products and gates at 70 to 76 % of the peak; products beside it are at 79 to 90 %"
_SECOND = "99 % are products, with derivatives of tanh in them: at 58 % of the peak"

REASONS: dict[str, str] = {
    "T1/1": _CALL,
    "T1/2": _CALL,
    "T2/1": _DIGITS,
    "T2/2": _DIGITS,
    "T3/1": _UPDATES,
    "T3/2": _UPDATES,
    "T4/1": _WIDE,
    "T4/2": _WIDE,
    "T5/1": _IMAGES,
    "T5/2": _IMAGES,
    "T6/1": _CONVOLUTIONS,
    "T6/2": _CONVOLUTIONS,
    "T7/1": _GPT,
    "T7/2": _GPT,
    "T9/1": _SECOND,
    "T9/2": _SECOND,
    "T10/1": _ROWS,
    "T10/2": _ROWS,
    "T8/2": _LOOP,
    "loop-mlp/1": "C takes 60 µs (T2); the rest is Python: model, loss, backward and update are a guarded call each",
}
