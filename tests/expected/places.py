"""Index and scatter functions, sorts and searches, shapes and products: values, first and second gradients, errors."""

import numpy as np
from expected.programs import cotangent, leaves

ARRAYS = {
    "x": np.array([[1.5, -2.0, 0.0, 1.5], [0.5, 3.0, -2.0, 0.25], [2.0, 0.0, 1.0, -1.0]]),
    "y": np.array([[1.5, 0.5, -1.0, 2.0], [0.5, 0.0, 0.0, 1.25], [-0.5, 4.0, 3.0, -1.0]]),
    "v": np.array([2.0, -0.5, 1.0, 0.75]),
    "s": np.array(1.25),
    "z": np.zeros((0, 4)),
    "c": np.arange(24.0).reshape(2, 3, 4) / 8 - 1,
    "i": np.array([[0, 2, 1, 1], [2, 2, 0, 1], [0, 1, 1, 2]]),
    "j": np.array([2, 0, 2, 1]),
    "n": np.array([[3, 1, 2, 2], [0, 3, 1, 1], [2, 2, 5, 0]]),
    "m": np.array([[True, False, True, True], [False, False, True, False], [True, True, False, False]]),
}
BOTH = (True, False)
REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")
COPIES = (
    "alias_copy(x)", "diagonal_copy(x, 1)", "expand_copy(v, (2, 4))", "permute_copy(x, (1, 0))",
    "select_copy(x, 0, 1)", "slice_copy(x, 1, 0, 4, 2)", "split_copy(x, 2)", "split_with_sizes_copy(x, (1, 2))",
    "squeeze_copy(x[:1], 0)", "t_copy(x)", "transpose_copy(c, 0, 2)", "unbind_copy(x)", "unsqueeze_copy(x, 1)",
    "view_copy(x, (4, 3))", "view_copy(n, tg.int32)", "detach_copy(n)", "narrow_copy(x, 1, 1, 2)",
)  # fmt: skip
#: To views that show elements several times.
WRITES = (
    "t.unfold(0, 2, 2).mul_(x[0, :2])",
    "t.unfold(0, 2, 1)[1:, 1].copy_(x[1, :2])",
    "t.as_strided((2,), (2,), 1).add_(s)",
    "t.as_strided((3, 2), (1, 1))[1].fill_(5.0)",
)
EXPRESSIONS = [
    *(f"x.scatter_reduce({d}, i, y, '{r}', include_self={k})" for d in (0, 1) for r in REDUCTIONS for k in BOTH),
    *(f"x.index_reduce(0, j, c.sum(1).repeat(2, 1), '{r}', include_self={k})" for r in REDUCTIONS[1:] for k in BOTH),
    *(f"tg.scatter_reduce(n, 1, i, n + 1, '{r}')" for r in REDUCTIONS),
    *(f"tg.scatter_reduce(m, 1, i, m, '{r}')" for r in ("sum", "prod", "amax", "amin")),
    *(f"s.scatter_reduce(0, tg.tensor([0]), v[:1], '{r}', include_self=False)" for r in REDUCTIONS),
    "x.scatter(0, i, y, reduce='add').detach()", "x.scatter(1, i[:, :2], 3.0, reduce='multiply').detach()",
    "x.scatter(1, i.int(), y)", "s.scatter(0, tg.tensor(0), s * 2)", "s.scatter(0, tg.tensor([0, 0]), 5.0)",
    "s.scatter_add(0, tg.tensor([0, 0]), v[:2])", "s.gather(0, tg.tensor([0, 0]))",
    "tg.gather(x, 1, i, sparse_grad=False)", "x.put(j, v)", "x.put(j, v, accumulate=True)", "n.put(-j, j)",
    "s.put(tg.tensor([0]), v[:1])", "x.index_put((j[:2], j[1:3]), v[:2])",
    "x.index_put((j,), c[0, :1], accumulate=True)", "x.index_put((m,), v[0])", "x.index_put((j[:2],), s)",
    "(x * 1).index_put_((tg.tensor([True, False, True]),), v)", "s.index_add(0, tg.tensor(0), s)",
    "s.index_copy(0, tg.tensor([0]), v[:1])", "s.index_fill(0, tg.tensor([0]), v[0])",
    "s.index_select(0, tg.tensor([0]))", "s.unfold(0, 1, 1)", "x.index_fill(1, tg.tensor([1, 1, 3]), s)",
    "x.index_fill(0, tg.tensor(1), 2.5)", "n.index_fill(1, tg.tensor([0]), 7)", "x.index_add(1, j, c[0], alpha=-2)",
    "(x * 1).fill_diagonal_(7.0)", "(x.t() * 1).repeat(3, 1).fill_diagonal_(2.0, wrap=True)",
    "tg.masked_scatter(x, m, y)", "tg.masked_scatter(v, m, y)", "tg.masked_scatter(x, m[0], c)",
    "tg.masked_fill(x, m, s)", "tg.slice_scatter(x, y[:1], 0, -1)", "x.slice_scatter(y[:, :2], 1, 0, 4, 2)",
    "x.select_scatter(v, 0, 1)", "x.select_scatter(v[:3], -1, -2)", "x.diagonal_scatter(v[:3], 1)",
    "c.diagonal_scatter(v[:2].expand(4, 2), 0, 0, 1)", "x.diagonal_scatter(v[:2], -1)",
    "x.detach().as_strided_scatter(y[:2, :2], (2, 2), (1, 5))", "tg.take_along_dim(x, i[:1], 0)",
    "tg.take_along_dim(c, tg.tensor([[[1]]]), 2)", "x.narrow(1, tg.tensor(1), 2)", "tg.narrow_copy(x, 0, -2, 1)",
    "tg.unravel_index(n, (2, 4))", "tg.argwhere(m)", "tg.argwhere(s)", "tg.nonzero_static(n - 2, size=5)",
    "tg.nonzero_static(m, size=9, fill_value=-7)", "tg.nonzero_static(s, size=2)", "tg.nonzero_static(z, size=2)",
    "tg.sort(x, stable=True, dim=0, descending=True)", "tg.sort(m, stable=True)", "tg.msort(x)",
    "tg.argsort(n, stable=True)", "tg.topk(y, 2, 1, False)[0]", "tg.topk(s, 1)", "tg.unique(n)",
    "tg.unique(n, return_inverse=True, return_counts=True)",
    "tg.unique(m, dim=1, return_inverse=True, return_counts=True)", "tg.unique(n[:, 2:], dim=0, return_counts=True)",
    "tg.unique(tg.tensor([1.0, float('nan'), float('nan')]))", "tg.unique(z.detach())",
    "tg.unique(s.detach(), return_inverse=True)", "tg.unique_consecutive(n, return_inverse=True, return_counts=True)",
    "tg.unique_consecutive(m, dim=1, return_counts=True)", "tg.unique_consecutive(s.detach(), return_inverse=True)",
    "tg.isin(n, j)", "tg.isin(n, 2, invert=True)", "tg.isin(3, n)", "tg.isin(x, tg.tensor([0.0, 1.5]))",
    "tg.isin(n, tg.tensor([2.5, 3.0]))", "tg.isin(n, z.long())", "tg.isin(x, x / 0)",
    *(f"tg.searchsorted(tg.msort(x.t()).t().contiguous(), y, right={r}, out_int32={not r})" for r in BOTH),
    "tg.searchsorted(tg.tensor([1, 3, 5]), n, side='right')", "tg.searchsorted(tg.tensor([1, 3, 5]), 2.5)",
    "tg.searchsorted(v, s, sorter=tg.argsort(v))", "tg.searchsorted(z[:, 0], v)",
    "tg.bucketize(x, tg.tensor([-1.0, 0.0, 1.5]))", "tg.bucketize(n, tg.tensor([0, 2, 3]), right=True)",
    "tg.bucketize(2, j.sort()[0])", "tg.bucketize(tg.tensor([1.0, float('nan')]), tg.tensor([0.0, 2.0]))",
    "tg.histc(x, 5)", "tg.histc(x, 4, -1, 2)", "tg.histc(s, 3)", "tg.histc(z, 3)", "tg.histc(x.float(), 7)",
    "tg.histogram(x.detach(), 5)",
    "tg.histogram(x.detach(), tg.tensor([-2.0, 0.0, 1.0, 3.0]).double(), weight=y.detach(), density=True)",
    "tg.histogram(x.detach(), 3, range=(-1.0, 2.0), density=True)", "tg.histogram(s.detach(), 2)",
    "tg.histogram(z.detach(), 2)", "tg.histogramdd(x[:, :2].detach(), [2, 3])[0]",
    "tg.histogramdd(x[:, :2].detach(), 2, range=[-2.0, 2.0, -1.0, 1.0], density=True)[0]",
    "tg.histogramdd(x[:, :2].detach(), [tg.arange(-2, 3, 2).double(), v.detach().sort()[0]], weight=y[:, 1].detach())",
    "tg.bincount(j)", "tg.bincount(j, v.detach(), minlength=6)", "tg.bincount(j, j)",
    "tg.bincount(z[:, 0].long(), minlength=2)", "tg.broadcast_to(v, (3, 4))", "v.broadcast_to(2, 1, 4)",
    "tg.broadcast_tensors(x, v, s)", "tg.block_diag(x, v, s, n)", "tg.block_diag(z, x)", "tg.combinations(v, 3)",
    "tg.combinations(v, with_replacement=True)", "tg.combinations(j, 0)", "tg.cartesian_prod(v)",
    "tg.cartesian_prod(v[:2], v[2:])", "x.sum_to_size(3, 1)", "x.sum_to_size(4)", "n.int().sum_to_size(())",
    *(f"tg.rot90(c, {k}, {d})" for k, d in ((1, (0, 1)), (-1, (1, 2)), (2, (2, 0)), (4, (0, 1)))),
    "tg.split_with_sizes(x, (1, 3), 1)", "tg.tensor_split(x, 3, 1)", "tg.tensor_split(x, (1, -1), 1)",
    "tg.tensor_split(x, tg.tensor([2, 1]))", "tg.hsplit(x, 2)", "tg.hsplit(v, [1, 9])", "tg.vsplit(x, 3)",
    "tg.dsplit(c, 2)", "tg.unsafe_split(x, 2)", "tg.unsafe_chunk(x, 2, 1)", "tg.atleast_1d(s, v)",
    "tg.atleast_2d((s, v))", "tg.atleast_3d(v)", "tg.atleast_3d(x)", "tg.column_stack((v, x.t(), v * 2))",
    "tg.dstack((v, v))", "tg.dstack((x, y))", "tg.diagflat(x, -1)", "tg.diag_embed(x, 1, 0, 2)",
    "tg.diag_embed(x, -1, 2, 0)", "tg.diag_embed(m)", "tg.diag(m[0])", "tg.triu(m)", "tg.flip(x, dims=(0, 1))",
    "x.flip(())", "x.swapdims(0, 1)", "(x * 1).swapaxes_(0, 1)", "tg.squeeze(x[:1], ())", "x.roll((1, 2), (0, 1))",
    "x.roll(1, ())", "x.repeat_interleave(2, 1, output_size=8)", "tg.repeat_interleave(j)", "x.unfold(1, 2, 1)",
    "x.t().unfold(0, 3, 1)", "x.unfold(1, 2, 2).unfold(0, 2, 1)", "tg.unfold_copy(x, 0, 2, 1)",
    "x.as_strided((2, 3), (1, 2), 1)", "x[1:].as_strided((2, 2), (1, 1))", "tg.as_strided_copy(x, (4,), (2,))",
    "c.mH", "tg.adjoint(x)", "x.expand(size=(2, 3, 4))", "x.permute(dims=(1, 0))", "x.view(size=(4, 3))",
    *(f"tg.{name}" for name in COPIES),
    "x.view(tg.int64)", "(n * 1).resize_(2, 3)", "(n * 1).resize_as_(v)", "(n + 0).apply_(lambda k: k * 2)",
    "(n + 0).map_(n, lambda k, o: k - o)", "tg.zeros(2).set_(tg.arange(6.0), 1, (2,), (3,))", "x.to_dense()",
    *(f"(lambda t: ({write}, t)[1])(v * 1)" for write in WRITES),
    "tg.addbmm(x[:, :3], c[:, :, :3], c[:, :, 1:], beta=0.5, alpha=2)", "tg.addr(x, v[:3], v, beta=2, alpha=0.5)",
    "(x * 1).addr_(v[:3], v)", "tg.addr(n, j[:3], j, alpha=2)", "tg.addr(m, m[:, 0], m[0])", "tg.vdot(v, x[0])",
    "tg.vdot(j, j)", "tg.inner(x, y)", "tg.inner(x, s)", "tg.inner(c, v)", "tg.cross(x[:, :3], y[:, 1:], dim=1)",
    "tg.cross(x, y)", "tg.cross(c[:1], c[1:])", "tg.kron(x, v)", "tg.kron(s, x)", "tg.kron(n, j)",
    "tg.tensordot(x, y)", "tg.tensordot(x, c, ([0], [1]))", "tg.tensordot(x, v, 0)",
    "tg.tensordot(x, y[:, :1], ([0, 1], [0, 1]))", "tg.tensordot(n, n, ([1], [1]))",
    "F.bilinear(x, y, c.transpose(0, 1).repeat(1, 2, 1).reshape(3, 4, 4), v[:3])", "F.pdist(c.reshape(6, 4))",
    "F.pdist(x, 1.0)", "F.pdist(x, float('inf'))", "F.pdist(x[:1])",
    "tg.cdist(x, y, 1.0, compute_mode='donot_use_mm_for_euclid_dist')", "tg.cdist(x, c)",
    "(v[:3] * 1).addmv_(x, v, beta=0.5)", "tg.addmv(j[:3], n, j, alpha=2.5)", "tg.addmm(s / 0, x, y.t(), beta=0)",
    "tg.trace(n.int())", "tg.einsum(x, [0, 1], y, [2, 1], [2, 0])", "tg.einsum(c, [..., 1], [...])",
    "tg.einsum('ij,ij->j', x, v[None])", "tg.einsum('ij->', n.int())", "tg.einsum('ij,j->i', x, v)",
]  # fmt: skip
WRONG = [
    "x.scatter_reduce(0, i, y, 'median')", "x.scatter_reduce(0, i, n, 'sum')", "x.scatter_reduce(0, i + 5, y, 'sum')",
    "x.scatter(0, i, y, reduce='mean')", "tg.scatter_reduce(m, 0, i, m, 'mean')", "x.index_reduce(0, j, x, 'prod')",
    "x.index_reduce(0, i, x, 'prod')", "x.index_reduce(0, j[:3], x, 'sum')",
    "x.index_reduce(0, j[:3] + 3, x, 'prod')", "x.index_reduce(0, j[:3], x.float(), 'prod')", "x.put(j, v[:2])",
    "x.put(j + 50, v)", "x.put(v, v)", "x.put(j, j)", "x.index_put(j, v)", "x.index_put((v,), v)",
    "x.index_put((j,), j)", "x.index_put((j,) * 3, v)", "s.index_select(0, j[:2] * 0)",
    "s.index_add(0, tg.tensor([0]), v[:1])", "x.index_fill(0, j, v)", "x.index_fill(0, i, 1.0)",
    "v.fill_diagonal_(1)", "c.detach().fill_diagonal_(1)", "tg.masked_scatter(x, m, v[:1])",
    "tg.masked_scatter(x, n, x)", "tg.slice_scatter(x, x, 0, 1)", "tg.slice_scatter(x, x, step=0)",
    "tg.select_scatter(x, v, 0, 3)", "tg.select_scatter(x, x, 0, 1)", "tg.diagonal_scatter(x, v)",
    "tg.as_strided_scatter(x, v, (2,), (2,))", "tg.unravel_index(x, (2, 2))", "tg.unravel_index(n, (-2, 2))",
    "tg.nonzero_static(n, size=-1)", "x.narrow(0, j, 1)", "x.narrow(0, v[0], 1)", "x.narrow(0, 1, 5)",
    "x.narrow(0, 1, -1)", "s.narrow(0, 0, 1)", "x.narrow(0, -5, 1)", "tg.unique(tg.ones(0, 2), dim=1)",
    "tg.unique_consecutive(tg.ones(2, 0), dim=0)", "tg.isin(1, 1)", "tg.isin(m, m)",
    "tg.searchsorted(v, v, side='up')", "tg.searchsorted(v, v, side='left', right=True)", "tg.searchsorted(x, v)",
    "tg.searchsorted(x, 1.0)", "tg.searchsorted(s, v)", "tg.searchsorted(v, v, sorter=j[:2])",
    "tg.searchsorted(v, v, sorter=v)", "tg.searchsorted(v, v, sorter=j + 5)", "tg.bucketize(x, x)", "tg.histc(n)",
    "tg.histc(x, 0)", "tg.histc(x, 3, 2, 1)", "tg.histc(x / 0, 3)", "tg.histogram(n, 3)",
    "tg.histogram(x, 3, range=(2.0, 1.0))", "tg.histogram(x, x)", "tg.histogram(x, 3, weight=v)",
    "tg.histogramdd(v, 2)", "tg.histogramdd(x, [2])", "tg.bincount(v)", "tg.bincount(-j)", "tg.bincount(i)",
    "tg.bincount(j, minlength=-1)", "tg.bincount(j, v[:1])", "tg.bincount(m[0])", "tg.sort(x, True)",
    "tg.broadcast_to(x, (2, 4))", "tg.broadcast_shapes((2,), (3,))", "tg.broadcast_shapes((2, -1))",
    "tg.broadcast_tensors(x, v[:3])", "tg.block_diag(c)", "tg.combinations(x)", "tg.combinations(v, -1)",
    "tg.cartesian_prod(x)", "x.sum_to_size(4, 1)", "tg.rot90(x, 1, (0, 0))", "tg.rot90(v, 1, (0, 1))",
    "tg.rot90(x, 1, (0,))", "tg.rot90(x, 1, (0, 5))", "tg.split(s, 1)", "tg.split_with_sizes(x, (1, 1))",
    "tg.split_with_sizes(x, (4, -1))", "tg.tensor_split(x, 0)", "tg.tensor_split(s, 1)", "tg.tensor_split(x, v)",
    "tg.hsplit(x, 3)", "tg.hsplit(s, 1)", "tg.vsplit(v, 2)", "tg.dsplit(x, 1)", "tg.column_stack(())",
    "tg.column_stack((v, x))", "tg.dstack(())", "tg.hstack(())", "tg.vstack(())", "tg.diag_embed(x, 0, 1, 1)",
    "tg.diag_embed(s)", "tg.fliplr(v)", "tg.flipud(s)", "tg.flip(x, (0, 0))", "tg.flip(x)", "x.roll(())",
    "tg.movedim(x, (0, 0), (0, 1))", "tg.movedim(x, (0, 1), (0, 0))", "tg.movedim(x, (0, 1), 0)", "v.expand(-1, 4)",
    "x.expand(3, 3)", "v.expand(-2)", "x.repeat_interleave(2, 1, output_size=7)", "x.unfold(0, 4, 1)",
    "x.unfold(0, 2, 0)", "x.unfold(0, -1, 1)", "x.as_strided((3,), (9,))", "x.as_strided((3,), (1, 1))",
    "x.resize_(2)", "x.detach().set_(n)", "x.apply_(abs)", "x.detach().map_(n, max)", "s.view(tg.int32)",
    "v[:3].float().view(tg.float64)", "n[:, 1].view(tg.int32)", "v.adjoint()", "tg.addr(x, v, v)", "tg.addr(x, x, v)",
    "tg.addr(n, j[:3], j, alpha=0.5)", "tg.addbmm(x, c, c)", "tg.addbmm(s, x, c)", "tg.addbmm(x, c[:1], c)",
    "tg.vdot(v, v[:2])", "tg.vdot(x, v)", "tg.vdot(v, v.float())", "tg.inner(x, v[:2])", "tg.inner(v, v.float())",
    "tg.cross(v, v)", "tg.cross(x, v)", "tg.cross(x, y, 1)", "tg.tensordot(x, y, -1)", "tg.tensordot(x, y, 3)",
    "tg.tensordot(x, y, ([0], [0, 1]))", "tg.tensordot(x, y, ([0], [1]))", "tg.tensordot(x, y.float())",
    "F.bilinear(x, y, c)", "F.bilinear(v, y, c)", "F.pdist(v)", "F.pdist(n)", "F.pdist(x, -1.0)",
    "tg.cdist(x, y, -1.0)", "tg.cdist(x, y, compute_mode='fast')", "tg.cdist(n, n)", "tg.einsum('ij->ii', x)",
    "tg.einsum('i1->i', x)", "tg.einsum(x, [0, 60])", "tg.einsum('ij')", "nn.Bilinear(0, 1, 1)",
]  # fmt: skip


def tensors_of(tg, value):
    """The tensors in a result, in order."""
    if isinstance(value, (tuple, list)):
        return [tensor for item in value for tensor in tensors_of(tg, item)]
    return [value]


def program(tg, expression, names):
    """A function of tensors that returns the results, and their first and second gradients, by name."""

    def run(*tensors):
        inputs = dict(zip(names, tensors, strict=True))
        values = tensors_of(tg, eval(expression, {"tg": tg, "F": tg.nn.functional, "nn": tg.nn, **inputs}))
        found = {f"value_{place}": value.detach() for place, value in enumerate(values)}
        given = {name: tensor for name, tensor in inputs.items() if tensor.requires_grad}
        first = gradients(tg, [value for value in values if value.requires_grad], given)
        second = gradients(tg, [g for g in first.values() if g.requires_grad], given)
        found |= {f"grad_{name}": g.detach() for name, g in first.items()}
        return found | {f"second_{name}": g.detach() for name, g in second.items()}

    return run


def gradients(tg, values, given):
    """The gradients of all values together by the tensors given, with a graph of their own; those that are there.

    None where PyTorch has no derivative, as of the gradients of cdist and pdist.
    """
    if not values:
        return {}
    weights = [cotangent(tg, value) for value in values]
    try:
        found = tg.autograd.grad(values, list(given.values()), weights, create_graph=True, allow_unused=True)
    except NotImplementedError:
        return {}
    return {name: g for name, g in zip(given, found, strict=True) if g is not None}


def run_places(tg, expression):
    return program(tg, expression, ARRAYS)(*leaves(tg, ARRAYS))


LAYERS = ["Bilinear(4, 4, 2)", "Bilinear(4, 4, 3, bias=False)"]


def run_layer(tg, text):
    """Initial parameters of a layer, and its result."""
    tg.manual_seed(3)
    layer = eval(f"nn.{text}", {"nn": tg.nn})
    x, y = (tg.tensor(ARRAYS[name]).float() for name in "xy")
    return {**layer.state_dict(), "out": layer(x, y).detach()}


def make(tg):
    """Results by ``expression|name``."""
    found = {expression: run_places(tg, expression) for expression in EXPRESSIONS}
    found |= {text: run_layer(tg, text) for text in LAYERS}
    return {f"{key}|{name}": tensor.numpy() for key, results in found.items() for name, tensor in results.items()}


def error_of(tg, expression):
    """The class and the first line of what a call raises, nothing for none."""
    try:
        run_places(tg, expression)
    except Exception as error:
        return [type(error).__name__, str(error).split("\n")[0]]
    return []


def make_errors(tg):
    return {expression: error_of(tg, expression) for expression in WRONG}
