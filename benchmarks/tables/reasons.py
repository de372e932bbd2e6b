"""The goals, as ratios of the best peer's step time to ours, and why a row is under its own (1 without one)."""

_ONE = dict(T1=10, T2=3, T3=1.35, T4=1.15, T5=1.8, T6=1.5, T7=2.5, T8=1.4, T9=2.6, T10=6.4)
_TWO = dict(T1=10, T2=3.9, T3=1.6, T4=1.35, T5=2.8, T6=2.0, T7=3.0, T8=1.9, T9=2.9, T10=11)

GOALS = {f"{name}/{threads}": goal for threads, goals in ((1, _ONE), (2, _TWO)) for name, goal in goals.items()}

_CONVOLUTIONS = "81 % are convolutions at 153 to 171 of 240 GF/s, 17 % BatchNorm's statistics"
_ROWS = "two error functions and two exponentials an element (see where the time goes)"
_GPT = "83 % are products, at 222 of 240 GF/s alone, at 160 to 190 with what is fused into them"

_CALL = "C takes 1.2 µs; guards, arguments and the result of the call take the rest"
_UPDATES = "99 % are products: at 200 to 204 of 240 GF/s, at 156 to 159 with the update of three arrays a weight"
_WIDE = "all products: at 189 to 201 of 240 GF/s, at 164 to 166 with the update, which reads and writes the weights"
_DIGITS = "74 % are convolutions, at 184 to 224 of 240 GF/s, at 101 to 107 of one channel; pooling takes 10 %"
_SECOND = "99 % are products: plain ones at 227 to 233 of 240 GF/s, at 121 to 161 with derivatives of tanh in them"

REASONS: dict[str, str] = {
    "T1/1": _CALL,
    "T2/1": "96 % are products, at 186 to 210 of 240 GF/s",
    "T3/1": _UPDATES,
    "T3/2": _UPDATES,
    "T4/1": _WIDE,
    "T4/2": _WIDE,
    "T5/1": _DIGITS,
    "T5/2": _DIGITS,
    "T9/1": _SECOND,
    "T6/1": _CONVOLUTIONS,
    "T6/2": _CONVOLUTIONS,
    "T7/1": _GPT,
    "T7/2": _GPT,
    "T10/1": _ROWS,
    "T10/2": _ROWS,
    "loop-mlp/1": "C takes 30 µs (T2); the rest is Python: model, loss, backward and update are a guarded call each",
}
