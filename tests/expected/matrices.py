"""Linear algebra, complex numbers and Fourier transforms: values, first and second gradients, and what is refused."""

import numpy as np

_RANDOM = np.random.default_rng(7)


def _numbers(*shape):
    """Rounded, so that equal singular values and eigenvalues do not come about."""
    return _RANDOM.standard_normal(shape).round(3)


A = _numbers(3, 3)
ARRAYS = {
    "a": A,
    "s": (A @ A.T + np.eye(3)).round(3),
    "b": _numbers(3, 2),
    "w": _numbers(2, 4),
    "t": _numbers(2, 3, 3),
    "v": _numbers(3),
    "q": np.outer(A[0], A[1]).round(6),  # singular
    "f": _numbers(2, 8),
    "c": _numbers(3, 3) + 1j * _numbers(3, 3),
    "z": _numbers(4) + 1j * _numbers(4),
    "h": _numbers(2, 5) + 1j * _numbers(2, 5),
}
#: Of each square matrix of these names, real and complex ones, single and in batches.
SQUARE = [
    "L.inv({})", "L.det({})", "L.slogdet({})[1]", "L.matrix_exp({})", "L.matrix_power({}, 3)",
    "L.matrix_power({}, -2)", "L.pinv({})", "L.svdvals({})", "L.svd({})[0].abs()", "L.svd({})[2].abs()",
    "L.lu({})[1]", "L.lu({})[2]", "L.lu_factor({})[0]", "L.qr({})[0].abs()", "L.qr({})[1].abs()", "L.cond({})",
    "L.matrix_norm({}, 'nuc')", "L.matrix_norm({}, 2)", "L.matrix_norm({}, -1)", "L.solve({}, b.to({}.dtype))",
    "L.lstsq({}, b.to({}.dtype))[0]", "L.cholesky({} @ {}.mH + 3 * tg.eye(3))", "L.eigvalsh({} + {}.mH)",
    "L.eigh({} + {}.mH)[1].abs()", "L.eigvals({}).abs().sum()", "L.eig({})[1].abs().sum()",
    "L.solve_triangular({}, b.to({}.dtype), upper=True)",
    "L.lu_solve(*L.lu_factor({}), b.to({}.dtype), adjoint=True)",
    "tg.cholesky_inverse(L.cholesky({} @ {}.mH + tg.eye(3)))",
    "tg.cholesky_solve(b.to({}.dtype), {})", "L.tensorinv({}, ind=1)", "L.vecdot({}, {} * 2)",
]  # fmt: skip
MATRICES = [
    "tg.logdet(s)", "L.det(q)", "L.matrix_rank(q)", "L.pinv(q)", "L.pinv(w)", "L.pinv(s, hermitian=True)",
    "L.svd(w)[1]", "L.svd(w, full_matrices=False)[2].abs()", "L.svd(b, full_matrices=False)[0].abs()",
    "L.qr(w)[1].abs()", "L.qr(b)[0].abs()", "L.qr(b, 'r')[1].abs().detach()", "L.lu(w)[2]", "L.lu(b)[1]",
    "L.lstsq(b, v)[0]", "L.lstsq(b, v, driver='gelsd')[1]", "L.lstsq(w, b[:2])[0]",
    "L.ldl_factor(a + a.mT)[0].detach()", "L.ldl_solve(*L.ldl_factor(a.detach() + a.mT.detach()), b.detach())",
    "L.householder_product(b, v[:2])", "tg.ormqr(b, v[:2], a)", "tg.triangular_solve(b, a)[0]",
    "L.multi_dot([v, a, b])", "L.cross(a, b[:, :1] * a)", "L.vander(v)", "L.vander(v, N=5)",
    "L.diagonal(t, offset=1)", "L.tensorsolve(a, v)", "L.norm(a)", "L.norm(v, 3)", "L.norm(a, 1)",
    "L.vector_norm(a.detach(), 0)", "L.vector_norm(t, 2.5, (0, 2))", "L.vector_norm(a, float('inf'), 0)",
    "L.matrix_norm(t, 'fro', (0, 2), True)", "tg.svd(w)[2].abs()", "a.inverse()", "a.det()",
    "L.cholesky(s, upper=True)", "L.solve(a, w[:, :3], left=False)", "L.inv_ex(a)[0]", "L.cholesky_ex(-s)[1]",
    "L.lu_factor_ex(q * 0)[2]", "tg.nuclear_norm(w)", "a.mH", "tg.adjoint(t)", "L.matrix_exp(a * 30)",
]  # fmt: skip
BATCHES = [
    "L.inv(t)", "L.det(t)", "L.slogdet(t)[1]", "L.svd(t)[2].abs()", "L.solve(t, b)", "L.solve(t, a[:2])",
    "L.lu(t)[2]", "L.eigh(t + t.mT)[1].abs()", "L.matrix_exp(t)", "L.cond(t.detach(), 1)", "L.qr(t)[0].abs()",
    "L.pinv(t)", "L.lstsq(t, a[:2])[0]",
]  # fmt: skip
COMPLEX = [
    "z * z", "z / (z + 3)", "z * 2.5", "z + v[0]", "v[1] / z", "z - 1j", "z ** 2", "z ** 1.5", "z ** z", "z.exp()",
    "z.log()", "z.log2()", "z.sqrt()", "z.rsqrt()", "z.sin()", "z.tan()", "z.tanh()", "z.acos()", "z.acosh()",
    "z.asin()", "z.atan()", "z.sigmoid()", "z.reciprocal()", "z.abs()", "z.angle()", "z.sgn()", "z.conj()", "z.real",
    "z.imag", "tg.view_as_real(z)", "tg.view_as_complex(w.reshape(4, 2))", "tg.complex(v, a[0])",
    "tg.polar(v.abs(), a[0])", "c.sum(0)", "c.mean()", "c.prod(1)", "c.cumsum(0)", "c.cumprod(1)", "c.var()",
    "c.std(0)", "c.norm()", "c @ c", "c @ c.mH", "tg.einsum('ij,jk->ik', c, c)", "c[1:, ::2]", "c[[0, 2]]",
    "tg.where(v > 0, c, 1j)", "tg.cat([c, c])", "c.t().reshape(9)", "c.tril()", "c.diagonal()",
    "(z == z.conj()).float()", "z.logsumexp(0)", "(0 * z).detach().sgn()", "(0 * z).abs()", "c.addmm(c, c, beta=2)",
    "z.lerp(z * 2j, 0.3)", "z.detach().nan_to_num()", "z.isreal()", "tg.logaddexp(z, z * z)", "z.to(tg.complex64)",
    "z.square()", "c.float().mean()",
]  # fmt: skip
TRANSFORMS = [
    "tg.fft.{}(f)", "tg.fft.{}(f, 5)", "tg.fft.{}(f, 11, norm='ortho')", "tg.fft.{}(f, dim=0, norm='forward')",
    "tg.fft.{}(h)", "tg.fft.{}(h, 4, norm='backward')", "tg.fft.{}n(t)", "tg.fft.{}n(t, s=(4, -1))",
    "tg.fft.{}2(t, norm='ortho')", "tg.fft.{}n(t, dim=(0, 2), norm='forward')",
]  # fmt: skip
OF_REAL = ("rfft", "ihfft")
FOURIER = [
    text.format(name)
    for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    for text in TRANSFORMS
    if not (name in OF_REAL and "(h" in text)
] + [
    "tg.fft.fftfreq(5, 0.5)", "tg.fft.rfftfreq(6)", "tg.fft.fftshift(f)", "tg.fft.ifftshift(f, 1)",
    "tg.fft.fft(f.float())", "tg.fft.rfft(f.float().half().float())", "tg.fft.fft(tg.arange(4))",
    "tg.stft(f, 4, return_complex=True)", "tg.stft(f, 4, 2, window=tg.hann_window(4).double(), return_complex=True)",
    "tg.stft(f, 4, 1, 3, window=f[0, :3], center=False, normalized=True, return_complex=False)",
    "tg.istft(tg.stft(f, 4, return_complex=True), 4, length=7)", "tg.hann_window(7)", "tg.hamming_window(6, False)",
    "tg.blackman_window(7, dtype=tg.float64)[1:]", "tg.bartlett_window(5)", "tg.kaiser_window(6, True, 8.0)",
]  # fmt: skip
EXPRESSIONS = [
    *(text.replace("{}", name) for text in SQUARE for name in ("a", "c")), *BATCHES, *MATRICES, *COMPLEX, *FOURIER
]  # fmt: skip
ERRORS = [
    *(f"L.{name}({x})" for name in ("inv", "det", "slogdet", "cholesky", "cholesky_ex", "eigh", "qr", "svd", "lu",
      "pinv", "lu_factor", "matrix_exp", "matrix_rank", "cond", "eigvals", "ldl_factor_ex")
      for x in ("tg.ones(2, 3)", "tg.ones(3)", "tg.ones(2, 2).long()", "tg.zeros(2, 2, 2)")),
    "L.solve(tg.zeros(2, 2), tg.ones(3))", "L.solve(tg.eye(2), tg.ones(3, 2))",
    "L.solve(tg.eye(2), tg.eye(2).double())",
    "L.solve(tg.stack([tg.eye(2), tg.zeros(2, 2)]), tg.ones(2, 2, 1))", "L.solve_triangular(tg.eye(2), tg.eye(2))",
    "L.solve_triangular(tg.eye(2), tg.ones(3, 2), upper=True)", "L.lstsq(tg.eye(2), tg.eye(2), driver='x')",
    "L.lstsq(tg.ones(2, 3), tg.ones(3))", "L.matrix_power(tg.eye(2), 1.5)", "L.matrix_power(tg.zeros(2, 2), -1)",
    "L.tensorinv(tg.ones(2, 3))", "L.tensorinv(tg.ones(2, 3), ind=0)", "L.vander(tg.ones(3), N=1)",
    "L.cross(tg.ones(3), tg.ones(2))", "L.multi_dot([tg.eye(2)])", "L.multi_dot([tg.ones(2, 3), tg.ones(2, 3)])",
    "L.lu(tg.eye(2), pivot=False)", "L.qr(tg.eye(2), 'x')", "L.eigh(tg.eye(2), 'x')",
    "L.svd(tg.eye(2), driver='gesvd')",
    "L.cond(tg.eye(2), 'x')", "L.matrix_norm(tg.eye(2), 3)", "L.norm(tg.ones(2, 2, 2), 'fro')", "L.norm(tg.eye(2), 3)",
    "L.vector_norm(tg.ones(3), 'x')", "L.svd(tg.full((2, 2), float('nan')))", "tg.symeig(tg.eye(2))",
    "tg.eig(tg.eye(2))",
    "tg.solve(tg.eye(2), tg.eye(2))", "tg.eye(2).lstsq(tg.eye(2))", "tg.matrix_rank(tg.eye(2))", "tg.ones(3).mH",
    "tg.ones(3).H", "tg.ones(3).adjoint()", "L.qr(tg.eye(2, requires_grad=True), 'r').R.sum().backward()",
    "L.qr(tg.ones(3, 2, requires_grad=True), 'complete').Q.sum().backward()",
    "tg.geqrf(tg.eye(2, requires_grad=True))[0].sum().backward()", "L.householder_product(tg.ones(2, 3), tg.ones(3))",
    *(f"tg.ones(2, dtype=tg.complex64){rest}" for rest in (" < 1", " > 1", ".sort()", ".max()", ".argmax()", ".floor()",
      ".sign()", ".erf()", " // 2", " % 2", ".sum().backward()", ".amax()")),
    "tg.maximum(tg.ones(2) * 1j, tg.ones(2) * 1j)", "tg.ones(2).add_(1j * tg.ones(2))", "tg.ones(2).imag",
    "tg.view_as_real(tg.ones(2))", "tg.view_as_complex(tg.ones(3))", "tg.complex(tg.ones(2), tg.ones(2).double())",
    "(tg.ones(2) * 1j).requires_grad_().sum().backward()", "tg.atan2(tg.ones(2) * 1j, tg.ones(2) * 1j)",
    "tg.fft.fft(tg.tensor(1.))", "tg.fft.fft(tg.ones(3), n=0)", "tg.fft.fft(tg.ones(3), norm='x')",
    "tg.fft.fft(tg.ones(3), dim=1)", "tg.fft.rfft(tg.ones(3) * 1j)", "tg.fft.fft(tg.ones(4).half())",
    "tg.fft.irfft(tg.ones(1))", "tg.fft.fftn(tg.eye(2), s=(2,), dim=(0, 1))", "tg.fft.fftn(tg.ones(2), s=(2, 2))",
    "tg.fft.fftn(tg.eye(2), dim=(0, 0))", "tg.fft.rfftn(tg.eye(2), dim=())", "tg.fft.fftfreq(4, dtype=tg.int64)",
    "tg.stft(tg.ones(8), 4)", "tg.istft(tg.ones(3, 4), 4)", "tg.hann_window(-1)", "tg.hann_window(4, dtype=tg.int64)",
]  # fmt: skip


def leaves(library):
    """The inputs; all of them require gradients."""
    return {name: library.tensor(array, requires_grad=True) for name, array in ARRAYS.items()}


def evaluated(library, expression, inputs):
    """The value of one expression."""
    return eval(expression, {"tg": library, "L": library.linalg, **inputs})


def loss(library, values):
    """A weighted sum of squares, in which each element counts differently."""
    total = 0
    for i, value in enumerate(values):
        weights = library.tensor(np.cos(np.arange(value.numel()) + i).tolist(), dtype=library.float64)
        total = total + (weights.reshape(value.shape) * value.abs() ** 2).sum()
    return total


def _plain(x):
    return x.detach().resolve_conj().numpy()


def results(library, expression):
    """Its value, its gradients and those of the gradients."""
    inputs = leaves(library)
    value = evaluated(library, expression, inputs)
    found, outs = {"value": value}, [value]
    for order in ("grad", "second") if value.requires_grad else ():
        outs = [out for out in outs if out.requires_grad]
        if not outs:
            break
        made = library.autograd.grad(loss(library, outs), [*inputs.values()], create_graph=True, allow_unused=True)
        found |= {f"{order}_{name}": g for name, g in zip(inputs, made, strict=True) if g is not None}
        outs = [g for g in made if g is not None]
    return {name: _plain(x) for name, x in found.items()}


def refused(library, expression):
    """The class and the first line of what the expression raises."""
    try:
        evaluated(library, expression, {})
    except Exception as error:
        return [type(error).__name__, str(error).split("\n")[0]]
    return None


def described(found):
    """Names, types and shapes of results."""
    return " ".join(f"{name}:{array.dtype}{list(array.shape)}".replace(" ", "") for name, array in found.items())


def joined(found):
    """All numbers of results in one row; of complex ones both parts."""
    rows = [np.stack([array.real, array.imag]) if array.dtype.kind == "c" else array for array in found.values()]
    return np.concatenate([row.astype(np.float64).ravel() for row in rows])


def make(library):
    """The numbers of each expression, and what they are; and the errors."""
    all_found = {expression: results(library, expression) for expression in EXPRESSIONS}
    numbers = {expression: joined(found) for expression, found in all_found.items()}
    texts = {expression: described(found) for expression, found in all_found.items()}
    return numbers, {"results": texts, "errors": {expression: refused(library, expression) for expression in ERRORS}}
