"""Calls that PyTorch's operator database has found to differ once: their results and gradients as numbers."""

import numpy as np

EXPRESSIONS = """
tg.vdot(z, y) | z.vdot(z) | tg.cov(z) | tg.cov(zz) | tg.cov(zz, correction=0) | tg.corrcoef(zz) | tg.corrcoef(z)
tg.cov(x, aweights=tg.tensor([0.3, 0.7, 0.1])) | tg.cov(x, fweights=tg.tensor([1, 2, 3])) | tg.gradient(z)[0]
tg.cov(x, fweights=tg.tensor([1, 2, 3]), aweights=tg.tensor([0.3, 0.7, 0.1])) | tg.gradient(zz, dim=1)[0]
tg.sinc(z) | tg.sinc(z * 0) | tg.dist(z, y) | tg.dist(z, y, 1) | tg.linspace(-2.0, 3.0, 5, dtype=tg.complex64)
tg.linspace(-2.0, 3.0, 0, dtype=tg.complex64) | tg.logspace(0, -3, 4, dtype=tg.complex128) | tg.norm(x, 'nuc')
x.norm('nuc') | tg.norm(tg.stack([x, 2 * x]), 'nuc', dim=(1, 2)) | F.softshrink(x.bfloat16(), 0.0).double()
F.avg_pool1d(i, 3, 2, 1) | F.avg_pool2d(-i, 2) | F.avg_pool2d(i, 3, 2, 1, count_include_pad=False)
F.avg_pool3d(i[None], 2) | F.interpolate(x[None].half(), size=5, mode='linear').double()
F.interpolate(x[None].bfloat16(), size=5, mode='linear').double() | F.interpolate(u, size=3) | F.interpolate(u, size=7)
F.interpolate(x[None, None].half(), size=(5, 4), mode='bicubic').double()
tg.lu(x[:, :2], get_infos=True).LU | seeded(lambda: (z * 0).normal_(1, 2)) | x.to(tg.float64, False, True) * 2
2.3 ** x | tg.float_power(2.3, x) | tg.special.xlog1py(x * x, 2.3) | tg.ldexp(x, x) | 2.3 ** z | tg.logcumsumexp(zz, 1)
F.rms_norm(zz, (3,)) | tg.linalg.cholesky(zz @ zz.mH + tg.eye(2), upper=True) | tg.linalg.det(z[:1, None])
(F.local_response_norm(i[None], 2, k=1.25) * 1000).round()
tg.histc(x.bfloat16(), 10, -3, 3).double() | tg.linalg.norm(tg.zeros(0, 3), 1)
tg.abs(seeded(lambda: tg.svd_lowrank(x, 2))[2]) | tg.abs(seeded(lambda: tg.pca_lowrank(zz, 1))[0])
tg.linalg.norm(tg.zeros(3, 0), 2) | seeded(lambda: (z * 0).uniform_(1, 2)) | z.clone().float_power_(tg.ones(3))
F.interpolate((u * 9)[None], size=(5, 3), mode='bilinear') | F.interpolate((u * 9)[None], size=(3, 7), mode='bicubic')
F.interpolate((u * 9)[None], size=(2, 3), mode='bicubic', antialias=True) | x.clone().xlogy_(tg.tensor(3.0).double())
tg.signal.windows.kaiser(7, sym=False, dtype=tg.float64) | tg.signal.windows.nuttall(6, dtype=tg.float64)
tg.signal.windows.exponential(5, tau=2.0, dtype=tg.float64)
tg.gather(x, 0, tg.zeros(2, 0).long()) | tg.gather(x[0], 0, tg.zeros(2, 0).long()) | x.t()[::2].ravel()
"""


def expressions():
    return [text.strip() for line in EXPRESSIONS.strip().splitlines() for text in line.split(" | ")]


def evaluated(tg, expression):
    """The result, and the gradients of the sum of its squared absolutes by x, z and zz where there are some."""
    draw = np.random.default_rng(7)

    def leaf(*shape):
        return draw.normal(size=shape)

    x = tg.from_numpy(leaf(2, 3)).requires_grad_()
    z, y = (tg.from_numpy(leaf(3) + 1j * leaf(3)).requires_grad_() for _ in range(2))
    zz = tg.from_numpy(leaf(2, 3) + 1j * leaf(2, 3)).requires_grad_()
    i, u = tg.arange(32).reshape(2, 4, 4) - 5, tg.arange(24).reshape(2, 3, 4).to(tg.uint8)

    def seeded(function):
        tg.manual_seed(0)
        return function()

    scope = {"tg": tg, "F": tg.nn.functional, "x": x, "y": y, "z": z, "zz": zz, "i": i, "u": u, "seeded": seeded}
    out = eval(expression, scope)
    found = {"value": out.detach().resolve_conj().numpy()}
    if out.requires_grad:
        (out.abs() ** 2).sum().backward()
        found |= {
            name: scope[name].grad.resolve_conj().numpy() for name in ("x", "z", "zz") if scope[name].grad is not None
        }
    return found


def make(tg):
    texts = expressions()
    return {f"{number}/{key}": x for number, text in enumerate(texts) for key, x in evaluated(tg, text).items()}
