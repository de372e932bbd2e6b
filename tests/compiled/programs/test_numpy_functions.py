"""Steps with work of numpy in their middle: linear algebra, transforms, complex numbers. Only that is outside of C."""

import numpy as np
import pytest

from tracegrad.compiler.errors import CaptureError


def spd(tg, h):
    return h @ h.mT + 3 * tg.eye(4)


def written(tg, h):
    """Memory that is written to between looks at it as complex and as real numbers."""
    memory = h.detach() * 2
    numbers = tg.view_as_complex(memory.reshape(4, 2, 2))
    memory += 1
    parts = tg.view_as_real(numbers)
    memory *= 3
    numbers.imag.add_(5)
    return h * parts.reshape(4, 4) + memory + h * numbers.abs().sum()


MIDDLES = {
    "inv": lambda tg, h: tg.linalg.inv(spd(tg, h)),
    "solve": lambda tg, h: tg.linalg.solve(spd(tg, h), h),
    "cholesky": lambda tg, h: tg.linalg.cholesky(spd(tg, h)),
    "slogdet": lambda tg, h: tg.linalg.slogdet(spd(tg, h))[1],
    "svd": lambda tg, h: tg.linalg.svd(h)[1],
    "eigh": lambda tg, h: tg.linalg.eigh(spd(tg, h))[1] ** 2,
    "qr": lambda tg, h: tg.linalg.qr(h)[1] ** 2,
    "pinv": lambda tg, h: tg.linalg.pinv(h),
    "matrix_exp": lambda tg, h: tg.linalg.matrix_exp(h),
    "lstsq": lambda tg, h: tg.linalg.lstsq(spd(tg, h), h)[0],
    "rfft": lambda tg, h: tg.fft.rfft(h).abs(),
    "irfft": lambda tg, h: tg.fft.irfft(tg.fft.rfft(h) * tg.tensor([1.0, 0.5, 0.25])),
    "eigvals": lambda tg, h: tg.linalg.eigvals(h).abs(),
    "complex": lambda tg, h: (tg.polar(h.abs() + 1, h) * (2 + 1j)).real,
    "parts": lambda tg, h: tg.view_as_real(tg.view_as_complex(h.reshape(4, 2, 2))).reshape(4, 4) * 2,
    "loss": lambda tg, h: tg.nn.functional.mse_loss((h * (1 + 2j)).imag, h.detach()),
    "write": written,
}
CALLS = 6
FAST = ("solve", "irfft", "write")
NO_C = ("complex", "parts", "loss", "write")


def trained(tg, middle, compile):
    tg.manual_seed(0)
    layers = tg.nn.Sequential(tg.nn.Linear(4, 8), tg.nn.Tanh(), tg.nn.Linear(8, 4))
    optimizer = tg.optim.Adam(layers.parameters(), lr=0.01)

    def step(x):
        optimizer.zero_grad()
        h = layers(x)
        loss = (middle(tg, h) ** 2).mean() + h.sum() * 0.01
        loss.backward()
        optimizer.step()
        return loss

    run = tg.compile(step) if compile else step
    random = np.random.default_rng(1)
    losses, ways = [], []
    for _ in range(CALLS):
        losses.append(run(tg.from_numpy(random.standard_normal((4, 4)).astype(np.float32))).item())
        ways.append(run.way if compile else "eager")
    return losses, [p.detach().numpy().copy() for p in layers.parameters()], ways, run


@pytest.mark.parametrize("name", [n if n in FAST else pytest.param(n, marks=pytest.mark.long) for n in MIDDLES])
def test_a_training_step_around_it(tg, name):
    losses, parameters, _, _ = trained(tg, MIDDLES[name], False)
    found, others, ways, step = trained(tg, MIDDLES[name], True)
    np.testing.assert_allclose(found, losses, rtol=1e-4)
    for one, other in zip(others, parameters, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    assert ways[-1] == "re-record"
    words = "compiled code has no complex64" if name in NO_C else "needs a tensor's numbers"
    assert words in str(step.explain())


def test_what_is_made_of_products_is_replayed(tg):
    _, _, ways, _ = trained(tg, lambda tg, h: tg.linalg.multi_dot([h, h, tg.linalg.matrix_power(h, 3)]), True)
    assert ways[-1] == "replay"


def test_a_compiled_forward_with_an_eager_backward(tg):
    w = tg.tensor(np.eye(3, dtype=np.float32) * 2, requires_grad=True)
    forward = tg.compile(lambda x: tg.linalg.solve(w, x).sum() + tg.fft.fft(x * w).abs().sum())
    for i in range(5):
        x = tg.full((3, 3), float(i + 1))
        w.grad = None
        forward(x).backward()
        found, w.grad = w.grad, None
        (tg.linalg.solve(w, x).sum() + tg.fft.fft(x * w).abs().sum()).backward()
        np.testing.assert_allclose(found.numpy(), w.grad.numpy(), rtol=1e-5)


def test_fullgraph_names_the_function_and_the_line(tg):
    step = tg.compile(lambda x: tg.linalg.inv(x), fullgraph=True)
    with pytest.raises(CaptureError, match=r"linalg\.inv\(\)"):
        step(tg.eye(2))


def test_a_singular_matrix_is_refused_at_every_call(tg):
    step = tg.compile(lambda x: tg.linalg.inv(x * 2))
    for _ in range(3):
        assert step(tg.eye(2)).tolist() == [[0.5, 0.0], [0.0, 0.5]]
        with pytest.raises(tg.linalg.LinAlgError, match="The diagonal element 2 is zero"):
            step(tg.tensor([[1.0, 0.0], [0.0, 0.0]]))
