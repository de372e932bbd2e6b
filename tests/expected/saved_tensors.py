"""What functions keep for the backward pass, as a write to it before ``backward()`` shows: accepted, or refused."""

import ast

#: Element by element, with one operand.
UNARY = (
    "abs acos asin asinh atan atanh ceil cos cosh erf exp expm1 floor frac log log10 log1p log2 neg positive "
    "reciprocal relu round rsqrt sigmoid sign sin sinh sqrt square tan tanh trunc nan_to_num clone sum mean prod std "
    "var norm max min amax amin median squeeze flatten ravel t trace diag diagonal triu tril fliplr"
).split()
BINARY = (
    "add sub mul div maximum minimum remainder fmod atan2 hypot logaddexp xlogy float_power mm matmul pow max min"
).split()
#: Methods that store their result in the operand.
IN_PLACE_UNARY = (
    "abs_ neg_ sign_ exp_ expm1_ log_ log1p_ log2_ log10_ sigmoid_ sqrt_ rsqrt_ sin_ cos_ tan_ tanh_ floor_ ceil_ "
    "round_ trunc_ frac_ reciprocal_ square_ relu_ erf_ zero_"
).split()
IN_PLACE_BINARY = "add_ sub_ mul_ div_ pow_ copy_ remainder_ fmod_".split()
FUNCTIONAL = (
    "relu relu6 leaky_relu elu selu celu gelu silu mish softplus logsigmoid hardtanh hardsigmoid hardswish softsign "
    "tanhshrink normalize"
).split()
LOSSES = "mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy_with_logits cosine_similarity".split()
#: Everything else, in the operands' names.
CALLS = [
    "tg.acosh(w)", "x * 2.0", "2.0 * x", "x / 2.0", "2.0 / x", "1 / x", "x ** 2", "x ** 3", "x ** 0.5", "x ** -1",
    "x ** 1", "x ** 0", "2.0 ** x", "x - 1", "1 - x", "x % 0.3", "-x", "x @ v", "v @ v", "tg.addmm(x, y, w)",
    "tg.dot(v, v)", "tg.outer(v, v)", "tg.mv(x, v)", "tg.addmv(v, x, v)", "tg.bmm(b, b)", "tg.baddbmm(b, b, b)",
    "tg.addcmul(x, y, w)", "tg.addcdiv(x, y, w)", "tg.lerp(x, y, 0.3)", "tg.lerp(x, y, 0.7)", "tg.lerp(x, y, w)",
    "tg.where(x > 0.5, x, y)", "tg.clamp(x, 0.3, 0.6)", "tg.clamp(x, min=0.3)", "tg.clamp(x, max=0.6)",
    "tg.clamp(x, y, w)", "x.clamp_min(0.5)", "x.clamp_max(0.5)", "tg.cumsum(x, 0)", "tg.cumprod(x, 0)",
    "tg.logsumexp(x, 0)", "tg.softmax(x, 0)", "tg.log_softmax(x, 0)", "F.softmin(x, 0)", "x.sum(0)", "x.mean(0)",
    "x.prod(0)", "x.std(0)", "x.var(0)", "x.max(0)[0]", "x.min(0)[0]", "x.amax(0)", "x.amin(0)", "x.median(0)[0]",
    "x.norm(dim=0)", "x.norm(p=1)", "x.norm(p=3)", "x.norm(p=float('inf'))", "x.sort(0)[0]", "x.topk(2)[0]",
    "x.gather(0, i)", "x.index_select(0, j)", "x.take(j)", "x.scatter(0, i, y)", "x.scatter_add(0, i, y)",
    "x.index_add(0, j, y)", "x.index_copy(0, j, y)", "x.index_fill(0, j, 0.5)", "x.masked_fill(m, 0.5)",
    "x.masked_select(m)", "x[j]", "x[m]", "x[0]", "x[0].exp()", "x.roll(1, 0)", "x.flip(0)", "x.repeat(2, 1)",
    "x.repeat_interleave(2, 0)", "x.unfold(0, 2, 1)", "tg.cat([x, y])", "tg.stack([x, y])",
    "tg.einsum('ij,jk->ik', x, y)", "tg.einsum('ii->i', x)", "x.expand(2, 3, 3)", "x.double()", "x.contiguous()",
    "x.t().contiguous()", "tg.cdist(x, y)", "F.linear(x, y)", "F.linear(x, y, v)", "F.glu(z)", "F.prelu(x, u)",
    "F.threshold(x, 0.5, 0.1)", "F.gelu(x, approximate='tanh')", "F.leaky_relu(x, 0.2)", "F.elu(x, 0.5)",
    "F.hardtanh(x, 0.3, 0.6)", "F.binary_cross_entropy(x, y)", "F.kl_div(x, y, reduction='batchmean')",
    "F.poisson_nll_loss(x, y)", "F.mse_loss(x, y, reduction='none')", "x.prod(0, keepdim=True)",
    "x.std(0, keepdim=True)", "tg.logsumexp(x, 0, keepdim=True)", "x.norm(dim=0, keepdim=True)",
    "x.amax(0, keepdim=True)", "F.elu(x, inplace=True)", "F.leaky_relu(x, inplace=True)",
    "F.hardtanh(x, inplace=True)", "F.threshold(x, 0.5, 0.1, inplace=True)", "F.relu(x, inplace=True)",
    "F.selu(x, inplace=True)", "F.celu(x, inplace=True)", "F.relu6(x, inplace=True)", "F.hardswish(x, inplace=True)",
    "F.silu(x, inplace=True)", "F.mish(x, inplace=True)", "F.hardsigmoid(x, inplace=True)", "x.clamp_(0.3, 0.6)",
    "x.masked_fill_(m, 0.5)", "x.t().exp_()", "x[0].exp_()", "x[0].relu_()", "F.mse_loss(x, y, reduction='sum')",
    "F.cross_entropy(x, j)", "F.cross_entropy(x, y)", "F.nll_loss(x, j)", "F.cross_entropy(x, j, weight=v.detach())",
    "F.gaussian_nll_loss(x, y, w)", "F.layer_norm(x, (3,))", "F.layer_norm(x, (3,), v, v)", "F.rms_norm(x, (3,))",
    "F.rms_norm(x, (3,), v)", "F.batch_norm(x, None, None, v, v, True)",
    "F.batch_norm(x, v.detach() * 1, v.detach() * 1, v, v, False)", "F.embedding(j, x)", "F.pad(x, (1, 1))",
    "F.pairwise_distance(x, y)", "F.pad(b, (1, 1), mode='reflect')", "F.conv1d(b, b)", "F.conv1d(b, b, v)",
    "F.conv_transpose1d(b, b)", "F.max_pool1d(b, 2)", "F.avg_pool1d(b, 2)", "F.adaptive_avg_pool1d(b, 2)",
    "F.adaptive_max_pool1d(b, 2)", "F.avg_pool2d(b, 2)", "F.max_pool2d(b, 2)",
    "F.scaled_dot_product_attention(b, b, b)", "tg.var_mean(x, 0)[0]", "tg.var_mean(x)[1]", "tg.std_mean(x)[0]",
    "tg.std_mean(x, 0)[1]", "F.adaptive_avg_pool1d(b, 1)", "F.adaptive_avg_pool2d(b, (1, 1))",
    "F.adaptive_avg_pool3d(b[None], 1)", "F.adaptive_avg_pool2d(b, (1, 2))", "F.adaptive_max_pool2d(b, 1)",
]  # fmt: skip


def expressions():
    """All calls, as Python text."""
    return [
        *[f"tg.{name}(x)" for name in UNARY],
        *[f"tg.{name}(x, y)" for name in BINARY],
        *[f"x.{name}()" for name in IN_PLACE_UNARY],
        *[f"x.{name}(y)" for name in IN_PLACE_BINARY],
        *[f"F.{name}(x)" for name in FUNCTIONAL],
        *[f"F.{name}(x, y)" for name in LOSSES],
        *CALLS,
    ]


def leaves(tg):
    """The operands: floating-point ones get gradients."""
    ramp = tg.linspace(0.2, 0.9, 9).reshape(3, 3)
    return {
        "x": ramp, "y": ramp.flip(0) * 0.9, "w": ramp + 1.5, "v": tg.tensor([0.5, 1.5, 2.5]),
        "u": tg.tensor([0.25]), "z": tg.linspace(-1.0, 1.0, 12).reshape(3, 4),
        "b": tg.linspace(0.1, 0.9, 27).reshape(3, 3, 3),
        "i": tg.tensor([[0, 1, 2], [2, 0, 1], [1, 2, 0]]), "j": tg.tensor([2, 0, 1]), "m": ramp > 0.5,
    }  # fmt: skip


FLOATING = "xywvuzb"


def operands_of(expression):
    """The names of the operands in an expression, in the order of the alphabet."""
    named = {node.id for node in ast.walk(ast.parse(expression, mode="eval")) if isinstance(node, ast.Name)}
    return sorted(named - {"tg", "F", "float"})


def questions():
    """(expression, operands that require gradients, what is written)."""
    for expression in expressions():
        names = operands_of(expression)
        floating = [name for name in names if name in FLOATING]
        subsets = [floating, *[[name] for name in floating if len(floating) > 1]]
        for requiring in subsets:
            for written in (*names, "out"):
                yield expression, "".join(requiring), written


def program(tg, expression, requiring, written):
    """A function without arguments: computes, writes, and goes backward."""

    def run():
        known = leaves(tg)
        for name in FLOATING:
            known[name] = known[name].clone().requires_grad_() * 1 if name in requiring else known[name].clone()
        out = eval(expression, {"tg": tg, "F": tg.nn.functional, **known})
        target = out if written == "out" else known[written]
        shown = target.detach()
        shown.copy_(shown.clone())
        out.sum().backward()

    return run


def outcome(run):
    """What became of the program."""
    try:
        run()
    except RuntimeError as error:
        return "refused" if "modified by an inplace operation" in str(error) else "RuntimeError"
    except Exception as error:  # whatever else is raised is an answer as well
        return type(error).__name__
    return "accepted"


def label(expression, requiring, written):
    """A question in one line."""
    return f"{expression} | {requiring} | {written}"


def outcomes(tg):
    """The outcome of each question, by label."""
    return {label(*question): outcome(program(tg, *question)) for question in questions()}


def make(tg):
    """What is stored: what is not accepted."""
    return {question: found for question, found in outcomes(tg).items() if found != "accepted"}
