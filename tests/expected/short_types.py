"""Operations on types of 8 and 16 bits: types and values of results, or the class of the error; gradients."""

import warnings

DTYPES = ["uint8", "int8", "int16", "float16", "bfloat16"]

#: Of ``x`` and ``y`` [3, 4] (y without zeros), ``m`` bool [3, 4], ``i`` int64 [3, 4] below 3.
EXPRESSIONS = """
x + y | x - y | x * y | x / y | x // y | x % y | x ** 2 | x ** y.abs() | -x | abs(x) | x & y | x ^ y | ~x | x << 1
x << 9 | x >> 1 | x >> 9 | x == y | x != y | x < y | x >= y | x + 300 | x * 300 | x * 2.5 | 3 - x | 1 / y | x + True
x / 255 | 2 ** x.abs() | x + y.float() | x * y.double() | x + y.half() | x - y.bfloat16() | x + y.int() | x + m
x.add(y, alpha=2) | x.sub(y, alpha=3) | x.div(y, rounding_mode='floor') | x.div(y, rounding_mode='trunc') | x.fmod(y)
x.remainder(3) | x.square() | x.sign() | x.clamp(1, 3) | x.clamp(min=y) | tg.maximum(x, y) | tg.minimum(x, y)
x.logical_and(y) | x.logical_not() | x.bitwise_and(y) | x.isnan() | x.isfinite() | x.reciprocal() | x.floor()
x.round() | x.sum() | x.sum(0) | x.sum(1, dtype=tg.float32) | x.prod(1) | x.mean(0) | x.mean(dtype=tg.float64)
x.max() | x.min() | x.amax(0) | x.amin(1) | x.max(1).values | x.max(1).indices | x.argmax() | x.argmin(1)
x.sort(1).values | x.any() | x.all(0) | x.argsort(dim=1, stable=True) | x.topk(2).values | x.median() | x.cumsum(0)
x.cumprod(1) | x.std(0) | x.var(1) | x.norm() | x.count_nonzero() | x.logsumexp(1) | x.float() | x.double() | x.half()
x.bfloat16() | x.to(tg.uint8) | x.to(tg.int8) | x.to(tg.int16) | x.int() | x.long() | x.bool() | x[1] | x[:, ::2]
x[m] | x[i[0, :2]] | x[..., None] | tg.where(m, x, y) | tg.where(m, x, 0) | tg.where(m, x, y.float()) | tg.cat([x, y])
tg.cat([x, y.float()]) | tg.stack([x, y]) | x.t() | x.reshape(2, 6) | x.permute(1, 0) | x.flip(0) | x.roll(1, 0)
x.repeat(1, 2) | x.tril() | x.unsqueeze(0).expand(2, 3, 4) | x.gather(0, i) | x.scatter_add(0, i, y)
x.index_select(1, i[0]) | x.masked_fill(m, 1) | x.masked_select(m) | tg.zeros_like(x) | tg.full_like(x, 3)
tg.arange(5, dtype=x.dtype) | x.new_ones(2) | tg.eye(2, dtype=x.dtype) | tg.linspace(0, 7, 4, dtype=x.dtype)
x @ y.t() | tg.mm(x, y.t()) | x[0].dot(y[0]) | tg.outer(x[0], y[0]) | x.trace() | x.exp() | x.log() | x.sqrt()
x.sin() | x.tanh() | x.sigmoid() | x.erf() | x.expm1() | x.log1p() | x.rsqrt() | x.atan() | tg.atan2(x, y)
x.float_power(2) | x.softmax(1) | x.log_softmax(1) | x.softmax(1, dtype=tg.float32) | tg.lerp(x, y, 0.3)
tg.addcmul(x, x, y, value=2) | tg.addcdiv(x, x, y) | tg.addmm(x @ y.t(), x, y.t()) | F.relu(x) | F.gelu(x) | F.silu(x)
F.leaky_relu(x) | F.elu(x) | F.softplus(x) | F.hardtanh(x) | F.layer_norm(x, (4,)) | F.rms_norm(x, (4,))
F.linear(x, y) | F.linear(x, y, y[0, :3]) | F.mse_loss(x, y) | F.l1_loss(x, y) | F.smooth_l1_loss(x, y)
F.cross_entropy(x, i[0, :3]) | F.nll_loss(x, i[0, :3]) | F.binary_cross_entropy_with_logits(x, y)
F.conv1d(x[None], y[None, :, :2]) | F.max_pool1d(x[None], 2) | F.avg_pool1d(x[None], 2) | F.pad(x, (1, 1))
F.normalize(x) | x.clone().add_(y) | x.clone().mul_(3) | x.clone().fill_(3) | x.clone().div_(y) | x.clone().add_(0.5)
x.clone().clamp_(1, 2) | x.clone().zero_() | x.clone().copy_(y.float() * 40) | x.clone().masked_fill_(m, 2) | x.type()
x.is_signed() | x.is_floating_point() | x.element_size() | x.bitwise_or(y)
"""

#: Functions of ``x`` (float16 or bfloat16) and ``y`` whose sum is differentiated by x.
DIFFERENTIATED = """
x * y | x / y | x.sigmoid() | x.exp() | x.softmax(1) * y | x.log_softmax(1) * y | F.gelu(x) | F.silu(x)
x.mean(0) * 3 | x.std(1) | x @ y.t() | F.linear(x, y, y[0, :3]) | F.layer_norm(x, (4,)) * y | F.softplus(x)
tg.addcmul(x, x, y) | x.float() * y | x.clamp(-1, 1) | x.cumsum(0) * y | x.norm() | F.mse_loss(x, y)
F.cross_entropy(x, i[0, :3]) | x.max(1).values | x[m] * 2 | tg.where(m, x, y) * 3
"""


#: Random numbers of each type, after ``manual_seed(3)``.
DRAWS = """
tg.randint(0, 100, (17,), dtype=D) | tg.zeros(17, dtype=D).random_() | tg.zeros(9, dtype=D).random_(5)
tg.zeros(9, dtype=D).bernoulli_(0.3) | tg.randperm(9, dtype=D) | tg.randint_like(tg.ones(5, dtype=D), 7)
"""
FLOATING_DRAWS = """
tg.rand(9, dtype=D) | tg.randn(9, dtype=D) | tg.randn(17, dtype=D) | tg.randn(40, dtype=D) | tg.randn(32, dtype=D)
tg.zeros(9, dtype=D).uniform_(-1.3, 2.7) | tg.zeros(9, dtype=D).normal_(0.3, 2.7)
tg.zeros(40, dtype=D).normal_(0.3, 2) | tg.zeros(9, dtype=D).exponential_(0.3)
tg.bernoulli(tg.full((9,), 0.4, dtype=D)) | F.dropout(tg.ones(9, dtype=D), 0.4)
tg.multinomial(tg.arange(9, dtype=D), 3) | tg.normal(tg.zeros(20, dtype=D), tg.ones(20, dtype=D) * 2)
tg.nn.init.kaiming_uniform_(tg.zeros(5, 4, dtype=D)) | tg.nn.init.xavier_normal_(tg.zeros(5, 4, dtype=D))
"""


def split(text):
    """The expressions, which stand between " | "."""
    return [part.strip() for line in text.strip().splitlines() for part in line.split(" | ")]


def operands(tg, dtype, requires_grad=False):
    of = getattr(tg, dtype)
    x, y = [[3, 1, 0, 100], [2, 120, 7, 5], [1, 1, 4, 90]], [[1, 2, 3, 7], [5, 3, 2, 1], [9, 1, 6, 4]]
    if "float" in dtype:
        x, y = [[n / 16 - 1.3 for n in row] for row in x], [[n / 3 - 1.1 for n in row] for row in y]
    elif dtype != "uint8":
        x, y = [[n if n % 2 else -n for n in row] for row in x], [[-n if n % 3 else n for n in row] for row in y]
    known = {"x": tg.tensor(x, dtype=of), "y": tg.tensor(y, dtype=of)}
    known["m"] = tg.tensor([[True, False, True, True], [False, False, True, False], [True, True, False, False]])
    known["i"] = tg.tensor([[0, 2, 1, 0], [1, 1, 2, 0], [2, 0, 0, 1]])
    if requires_grad:
        known["x"].requires_grad_()
    return {**known, "tg": tg, "F": tg.nn.functional}


def answer(tg, value):
    """A result as its type and its numbers."""
    if not isinstance(value, tg.Tensor):
        return [type(value).__name__, str(value).split(".")[-1]]
    value = value.detach()
    name = str(value.dtype).split(".")[-1]
    return [name, value.tolist()]


def outcome(tg, expression, known):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return answer(tg, eval(expression, dict(known)))
    except Exception as error:
        return ["raised", type(error).__name__]


def gradient(tg, expression, dtype):
    known = operands(tg, dtype, requires_grad=True)
    eval(expression, dict(known)).sum().backward()
    return answer(tg, known["x"].grad)


def draws(tg, dtype):
    known = {"tg": tg, "F": tg.nn.functional, "D": getattr(tg, dtype)}
    found = {}
    for expression in split(DRAWS) + split(FLOATING_DRAWS) * ("float" in dtype):
        tg.manual_seed(3)
        found[expression] = answer(tg, eval(expression, dict(known)))
    return found


def make(tg):
    return {
        "draws": {d: draws(tg, d) for d in DTYPES},
        "results": {d: {e: outcome(tg, e, operands(tg, d)) for e in split(EXPRESSIONS)} for d in DTYPES},
        "gradients": {d: {e: gradient(tg, e, d) for e in split(DIFFERENTIATED)} for d in ("float16", "bfloat16")},
    }
