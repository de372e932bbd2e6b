"""What less usual operations keep for the backward pass, as a write to it before ``backward()`` shows.

As in `saved_tensors`, with numbers written that are others: gradients count, too, where the write is accepted.
"""

#: Calls of operands `x`, `y` [3, 3], `s` (symmetric, positive), `b` [2, 3, 3], `v` [3], `i` (places, [3, 3]).
CALLS = [
    "tg.addbmm(x, b, b * 2)", "tg.addbmm(x, b, c)", "tg.cholesky_solve(x, s)", "tg.cholesky_solve(x, s, upper=True)",
    "x.cummax(0)[0]", "x.cummin(1)[0]", "tg.div(x, y, rounding_mode='trunc')", "tg.div(x, y, rounding_mode='floor')",
    "tg.div(x, 2.0, rounding_mode='floor')", "tg.linalg.lu_solve(s, p, x)", "tg.linalg.lu_solve(s, p, x, left=False)",
    "tg.linalg.lu_solve(s, p, x, adjoint=True)", "tg.nanmedian(x)", "tg.nanmedian(x, 0)[0]",
    "F.layer_norm(x, (3,), v, w)", "F.layer_norm(x, (3,), None, w)", "F.layer_norm(x, (3,), v)",
    "F.bilinear(x, y, b)", "F.bilinear(x, y, b, u)", "tg.dist(x, y)", "tg.dist(x, y, 1)", "tg.dist(x, y, 3)",
    "tg.float_power(x, y)", "tg.float_power(x, 2)", "tg.sgn(x)", "tg.triangular_solve(x, s)[0]", "tg.angle(x)",
    "x.index_reduce(0, j, y, 'mean')", "x.index_reduce(0, j, y, 'prod')", "x.index_reduce(0, j, y, 'amax')",
    "x.put(i, y)", "x.put(i, y, accumulate=True)", "tg.logcumsumexp(x, 0)", "tg.erfinv(x)", "tg.nanmean(x)",
    "tg.nansum(x)", "tg.nansum(x, 1)", "x.scatter_reduce(0, i, y, 'sum')", "x.scatter_reduce(0, i, y, 'mean')",
    "x.scatter_reduce(0, i, y, 'amax')", "x.scatter_reduce(0, i, y, 'prod', include_self=False)",
    "tg.linalg.cross(x, y)", "tg.cross(x, y, dim=0)", "tg.linalg.householder_product(s, v)", "tg.ormqr(s, v, x)",
    "tg.ormqr(s, v, x, left=False)", "tg.ormqr(s, v, x, transpose=True)", "tg.special.log_ndtr(x)",
    "tg.special.ndtri(x)", "tg.special.erfcx(x)", "tg.digamma(x)", "tg.lgamma(x)",
    "tg.linalg.solve_triangular(s, x, upper=True)", "tg.linalg.inv(s)", "tg.linalg.det(s)", "tg.linalg.solve(s, x)",
    "tg.linalg.cholesky(s)", "tg.trace(s)",
]  # fmt: skip
OPERANDS = "x y s b c v w u i j p".split()


def leaves(tg):
    """The operands, in float64."""
    ramp = (tg.arange(9.0, dtype=tg.float64) / 10 + 0.11).reshape(3, 3)
    return {
        "x": ramp, "y": ramp.flip(0) * 0.7 + 0.05, "s": ramp @ ramp.t() + 2 * tg.eye(3, dtype=tg.float64),
        "b": tg.stack([ramp, ramp * 0.5]), "c": tg.stack([ramp + 1, ramp * 0.3]), "v": ramp[0] + 0.5,
        "w": ramp[1] - 0.2, "u": ramp[0, :2] * 3, "i": tg.tensor([[0, 1, 2], [2, 0, 1], [1, 2, 0]]),
        "j": tg.tensor([2, 0, 1]), "p": tg.tensor([1, 2, 3], dtype=tg.int32),
    }  # fmt: skip


def operands_of(call):
    """The names of the operands that a call reads."""
    names = compile(call, call, "eval").co_names
    return [name for name in OPERANDS if name in names]


def questions():
    """(call, operands that require gradients, what is written)."""
    for call in CALLS:
        floating = [name for name in operands_of(call) if name not in "ijp"]
        for requiring in [floating, *[[name] for name in floating if len(floating) > 1]]:
            for written in (*floating, "out"):
                yield call, "".join(requiring), written


def outcome(tg, call, requiring, written):
    """ "refused", what is raised, or the gradients."""
    known, sources = leaves(tg), []
    for name in requiring:
        sources.append(known[name].clone().requires_grad_())
        known[name] = sources[-1] * 1
    try:
        out = eval(call, {"tg": tg, "F": tg.nn.functional, **known})
        with tg.no_grad():
            (out if written == "out" else known[written]).mul_(1.5)
        (out * 1.25).sum().backward()
    except RuntimeError as error:
        return "refused" if "modified by an inplace operation" in str(error) else "RuntimeError"
    return [None if x.grad is None else [round(g, 6) for g in x.grad.flatten().tolist()] for x in sources]


def label(call, requiring, written):
    """A question in one line."""
    return f"{call} | {requiring} | {written}"


def make(tg):
    """The outcome of each question, by label."""
    return {label(*question): outcome(tg, *question) for question in questions()}
