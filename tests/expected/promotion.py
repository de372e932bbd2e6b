"""Result dtypes of binary operators for all pairs of dtypes and kinds of operands."""

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64".split()
SCALARS = {"True": True, "2": 2, "2.0": 2.0}
OPERATORS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "**": lambda a, b: a**b,
    "<": lambda a, b: a < b,
}


def operands(tg):
    """Operands by name: one-dimensional and zero-dimensional tensors of each dtype, and Python's numbers."""
    vectors = {f"{dtype}[1]": tg.ones(1, dtype=getattr(tg, dtype)) for dtype in DTYPES}
    points = {f"{dtype}[]": tg.ones((), dtype=getattr(tg, dtype)) for dtype in DTYPES}
    return vectors | points | SCALARS


def result_dtype(tg, symbol, left, right):
    """The dtype's bare name, or the class of the error."""
    try:
        return str(OPERATORS[symbol](left, right).dtype).split(".")[-1]
    except Exception as error:  # whatever is raised is the answer
        return type(error).__name__


def make(tg):
    known = operands(tg)
    return {
        symbol: {
            f"{a} {b}": result_dtype(tg, symbol, known[a], known[b])
            for a in known
            for b in known
            if not (a in SCALARS and b in SCALARS)
        }
        for symbol in OPERATORS
    }
