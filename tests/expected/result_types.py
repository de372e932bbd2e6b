"""The types that operands are promoted to, for all pairs of dtypes and kinds of operands, and conversions."""

DTYPES = (
    "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
)  # fmt: skip
NUMBERS = {"True": True, "2": 2, "2.5": 2.5, "1j": 1j}


def _name(dtype):
    return str(dtype).split(".")[-1]


def _operands(tg):
    """One-dimensional and zero-dimensional tensors of each dtype, and Python's numbers."""
    vectors = {f"{name}[1]": tg.ones(1, dtype=getattr(tg, name)) for name in DTYPES}
    points = {f"{name}[]": tg.ones((), dtype=getattr(tg, name)) for name in DTYPES}
    return vectors | points | NUMBERS


def result_types(tg):
    """By left operand, then by right operand."""
    known = _operands(tg)
    return {
        a: {b: _name(tg.result_type(known[a], known[b])) for b in known if not (a in NUMBERS and b in NUMBERS)}
        for a in known
    }


def promoted_types(tg):
    return {a: {b: _name(tg.promote_types(getattr(tg, a), getattr(tg, b))) for b in DTYPES} for a in DTYPES}


def conversions(tg):
    """Numbers of each dtype in each other one; what does not fit is left out, since C decides."""
    found = {}
    for name in DTYPES:
        values = [0, 1, 2, 100] if name in ("bool", "uint8", "int8", "int16", "int32", "int64") else [0.5, -1.75, 100]
        x = tg.tensor(values, dtype=getattr(tg, name))
        found[name] = {
            to: [str(number) for number in x.to(getattr(tg, to)).tolist()]
            for to in DTYPES
            if not (to == "uint8" and values[1] < 0)
        }
    return found


def make(tg):
    return {"result": result_types(tg), "promoted": promoted_types(tg), "conversions": conversions(tg)}
