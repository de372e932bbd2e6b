"""Functions under autocast in PyTorch: result types and values.  python tests/expected/autocasting.py

From the root of the repository; needs PyTorch.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

STORED = Path(__file__).with_suffix(".json")

#: Functions of the operands of `operands`, in PyTorch's names.
FUNCTIONS = """
a@b torch.mm(a,b) torch.matmul(c,b) torch.bmm(c,c) torch.addmm(a,a,b) torch.baddbmm(c,c,c) torch.addbmm(a,c,c)
torch.mv(a,v) torch.dot(v,v) torch.outer(v,v) torch.einsum('ij,jk->ik',a,b) torch.chain_matmul(a,b) torch.linalg.multi_dot([a,b,a])
torch.tensordot(a,b,1) torch.inner(a,b) torch.addmv(v,a,v) torch.addr(a,v,v) torch.kron(a,b) torch.linalg.matmul(a,b)
F.linear(a,b) F.linear(a,b,v) F.linear(c,b,v) F.conv1d(s,k) F.conv1d(s,k,v) F.conv1d(s,k,padding='same') F.conv2d(i,w) F.conv3d(i3,w3)
F.conv_transpose1d(s,k) F.conv_transpose2d(i,w) F.conv_transpose3d(i3,w3) F.scaled_dot_product_attention(c,c,c)
F.mse_loss(a,b) F.l1_loss(a,b) F.smooth_l1_loss(a,b) F.huber_loss(a,b) F.cross_entropy(a,y) F.nll_loss(a,y) F.kl_div(a,b)
F.binary_cross_entropy(p,p) F.binary_cross_entropy_with_logits(a,p) F.poisson_nll_loss(a,p) F.soft_margin_loss(a,b) F.gaussian_nll_loss(a,b,p)
F.hinge_embedding_loss(a,b) F.margin_ranking_loss(v,v,v) F.multi_margin_loss(a,y) F.triplet_margin_loss(a,b,p) F.cosine_embedding_loss(a,b,v)
F.ctc_loss(l,t,(5,5),(2,2)) F.multilabel_margin_loss(a,yl)
torch.prod(a) torch.prod(a,1) a.prod() torch.quantile(a,0.5) torch.nanquantile(a,0.5) torch.trace(a) torch.cdist(a,b) torch.polar(p,p) torch.stft(s[0,0],4,window=torch.ones(4),return_complex=True)
F.prelu(a,v[:1]) F.avg_pool3d(i3,2) F.max_pool3d(i3,2) F.adaptive_avg_pool3d(i3,1) F.adaptive_max_pool3d(i3,1) F.grid_sample(i,g,align_corners=False)
F.avg_pool2d(i,2) F.max_pool2d(i,2) F.adaptive_avg_pool2d(i,1) F.avg_pool1d(s,2) F.interpolate(i,scale_factor=2)
torch.linalg.inv(a) torch.linalg.solve(a,b) torch.linalg.qr(a)[0].abs() torch.linalg.svdvals(a) torch.linalg.eigvalsh(a) torch.linalg.cholesky(a@a.T+9*e) torch.pinverse(a) torch.inverse(a) torch.linalg.det(a) torch.linalg.norm(a)
torch.fft.fft(a) torch.fft.rfft(a) torch.fft.irfft(a) torch.view_as_complex(i[0,0,:2,:2].contiguous())
torch.cat([a,h]) torch.stack([a,h]) torch.cat([h,h]) torch.stack([h,h]) torch.cat([a,d]) torch.index_copy(a,0,y,b) torch.hstack([a,h]) torch.vstack([h,h])
a+h a*h h+h h*2 h.sum() h.mean() a.sum() torch.exp(h) torch.softmax(h,1) F.softmax(a,1) F.log_softmax(h,1) F.relu(h) F.gelu(h) torch.tanh(h) F.layer_norm(h,(3,)) F.layer_norm(h,(3,),v,v) F.batch_norm(h,v,p[0],v,v) F.group_norm(h,1,v,v)
F.layer_norm(a,(3,)) F.normalize(a) F.cosine_similarity(a,b) F.embedding(y,a) F.dropout(h,0.0) torch.where(a>0,a,h) torch.addcmul(a,a,h) torch.cumsum(h,0) torch.var(h) torch.std(a) torch.norm(a) torch.logsumexp(h,1) a@d d@d F.linear(d,d) F.mse_loss(d,d) F.mse_loss(h,h) F.mse_loss(a,h) torch.mm(h,a) torch.mm(h,h) F.linear(h,a,v)
F.glu(i) F.pad(i,(1,1)) F.unfold(i,2) F.one_hot(y,3) F.pixel_shuffle(i3[0].reshape(1,4,2,4)[:,:4],2) torch.clamp(h,0,1) a.float() h.float() a.half().dtype torch.zeros(2) torch.ones_like(h) torch.rand(2) F.bilinear(a,b,c[:,:3,:3],v) F.pairwise_distance(a,b)
F.pad(x,(1,1),mode='reflect') F.pad(x4,(1,1,1,1),mode='reflect') F.pad(x5,(1,1,1,1,1,1),mode='reflect') F.pad(x,(1,1),mode='replicate') F.pad(x4,(1,1,1,1),mode='replicate') F.pad(x5,(1,1,1,1,1,1),mode='replicate') F.pad(x,(1,1),mode='circular') F.pad(x4,(1,-1),mode='constant')
nn.ReflectionPad1d(1)(x) nn.ReflectionPad2d(1)(x4) nn.ReflectionPad3d(1)(x5) nn.ReplicationPad1d(1)(x) nn.ReplicationPad2d(1)(x4) nn.ReplicationPad3d(1)(x5) nn.ZeroPad2d(1)(x4) nn.CircularPad2d(1)(x4)
F.max_unpool1d(x,x.long()*0+1,2) F.max_unpool2d(x4,x4.long()*0+1,2) F.max_unpool3d(x5,x5.long()*0+1,2) nn.MaxUnpool1d(2)(x,x.long()*0+1)
torch.inverse(q) q.inverse() torch.pinverse(q) q.pinverse() torch.svd(q)[1] q.svd()[1] torch.qr(q)[1].abs() q.qr()[1].abs() torch.lu(q)[0] torch.geqrf(q)[0] q.geqrf()[0] torch.cholesky(z) z.cholesky() torch.cholesky_inverse(z) torch.cholesky_solve(q,z) q.cholesky_solve(z) torch.triangular_solve(q,z)[0] q.triangular_solve(z)[0]
torch.ormqr(q,z[0],q) q.ormqr(z[0],q) torch.orgqr(q,z[0]) q.orgqr(z[0]) torch.lu_solve(q,*torch.linalg.lu_factor(q.float())) torch.det(q) q.det() torch.logdet(z) torch.slogdet(z)[1] torch.matrix_power(q,2) torch.linalg.matrix_power(q,-1)
torch.linalg.cholesky(z) torch.linalg.cholesky_ex(z)[0] torch.linalg.cond(q) torch.linalg.eigvals(z).real torch.linalg.eigvalsh(z) torch.linalg.eigh(z)[0] torch.linalg.eig(z)[0].real torch.linalg.inv(q) torch.linalg.inv_ex(q)[0] torch.linalg.lstsq(q,q)[0] torch.linalg.matrix_rank(q) torch.linalg.qr(q)[1].abs() torch.linalg.solve(q,q) torch.linalg.solve_ex(q,q)[0] torch.linalg.svd(q)[1] torch.linalg.svdvals(q)
torch.linalg.tensorinv(q,1) torch.linalg.tensorsolve(q,v) torch.linalg.vecdot(q,q) torch.linalg.vecdot(q[0],q[0]) torch.linalg.vecdot(v,v) torch.linalg.vecdot(a,b) torch.linalg.pinv(q) torch.linalg.lu(q)[1] torch.linalg.lu_factor(q)[0] torch.linalg.ldl_factor(z)[0] torch.linalg.solve_triangular(z,q,upper=True) torch.linalg.det(q) torch.linalg.norm(q) torch.linalg.vector_norm(q) torch.linalg.matrix_norm(q) torch.linalg.householder_product(q,z[0]) torch.linalg.cross(q,q) torch.linalg.vander(q[0]) torch.linalg.multi_dot([q,q,q]) torch.linalg.diagonal(q)
torch.prod(q) torch.trace(q) torch.cdist(q,q) torch.quantile(q,0.5) torch.nanquantile(q,0.5) torch.polar(q,q).abs() torch.view_as_complex(q[:,:2].contiguous()).abs() torch.fft.fft(q).abs() torch.renorm(q,2,0,1.0) torch.cosine_similarity(q,q) torch.pdist(q) torch.logcumsumexp(q,0) torch.cumprod(q,0) torch.std(q) torch.var(q) torch.median(q) torch.histc(q,3) torch.special.logit(p.to(q.dtype)) torch.erfinv(q) torch.lgamma(q.abs()) torch.digamma(q.abs()) torch.i0(q) torch.sinc(q) torch.acosh(q.abs()+1)
F.local_response_norm(x,2) F.rms_norm(q,(3,)) F.softmin(q,1) F.gumbel_softmax(q*0) F.pixel_unshuffle(x4,1) F.lp_pool1d(x,2.0,2) F.fractional_max_pool2d(x4,2,output_size=2,_random_samples=torch.full((1,2,2),0.5)) F.adaptive_max_pool2d(x4,1) F.adaptive_avg_pool1d(x,1) F.upsample(x4,scale_factor=2) F.grid_sample(x4,g.to(x4.dtype),align_corners=False) F.affine_grid(x4[:,0,:2,:3].contiguous(),(1,1,2,2),align_corners=False) F.fold(x4[:,:,:,:1].reshape(1,8,1),(2,2),2)
nn.Linear(3,2)(a) nn.Conv2d(2,3,2)(i) nn.LSTM(3,2)(c)[0] nn.GRU(3,2)(c)[0] nn.RNN(3,2)(c)[0] nn.LSTMCell(3,2)(a)[0] nn.GRUCell(3,2)(a) nn.MultiheadAttention(3,1)(c,c,c)[0] nn.TransformerEncoderLayer(3,1,4,0.0)(c) nn.BatchNorm1d(3)(a) nn.BatchNorm1d(3)(h) nn.LayerNorm(3)(h) nn.Embedding(4,2)(y) nn.EmbeddingBag(4,2)(y,torch.tensor([0])) nn.CrossEntropyLoss()(nn.Linear(3,3)(a),y) nn.MSELoss()(nn.Linear(3,3)(a),b)
"""


def expressions() -> list[str]:
    """One function of the operands each."""
    return FUNCTIONS.split()


def operands(package: Any, short: Any) -> dict[str, Any]:
    """What the functions are of: float32 but for `h` (the short type), `d` (float64), `y` (integers)."""
    shorts = short_operands(package, short)
    package.manual_seed(0)
    rand = package.rand
    a, b, p = rand(3, 3) * 2 - 1, rand(3, 3) * 2 - 1, rand(3, 3) * 0.8 + 0.1
    return {
        "torch": package, "nn": package.nn, "F": package.nn.functional, "a": a, "b": b, "p": p, "v": rand(3),
        "c": rand(3, 3, 3), "s": rand(2, 2, 6), "k": rand(3, 2, 3)[:, :, :3], "i": rand(1, 2, 4, 4), "w": rand(2, 2, 2, 2),
        "i3": rand(1, 2, 4, 4, 4), "w3": rand(2, 2, 2, 2, 2), "y": package.tensor([0, 2, 1]), "e": package.eye(3),
        "yl": package.tensor([[0, -1, 1], [1, -1, 0], [2, 1, -1]]), "l": package.log_softmax(rand(5, 2, 4), 2),
        "t": package.tensor([[1, 2], [3, 1]]), "g": rand(1, 3, 3, 2) * 2 - 1, "h": a.to(short), "d": a.double(),
        **shorts,
    }  # fmt: skip


def short_operands(package: Any, short: Any) -> dict[str, Any]:
    """Operands in the short type: a regular matrix `q`, a symmetric one `z`, and `x`, `x4`, `x5` with channels."""
    package.manual_seed(1)
    rand = package.rand
    q = rand(3, 3) + 3 * package.eye(3)
    z = q @ q.T + 9 * package.eye(3)
    shapes = {"x": (1, 2, 4), "x4": (1, 2, 4, 4), "x5": (1, 2, 4, 4, 4)}
    kept = {"q": q, "z": z, **{name: rand(shape) for name, shape in shapes.items()}}
    return {name: of.to(short) for name, of in kept.items()}


def answer(expression: str, package: Any, short: str) -> Any:
    """[the type's name, the values], or the error's class."""
    kind = getattr(package, short)
    names = operands(package, kind)
    try:
        with package.no_grad(), package.autocast("cpu", dtype=kind):
            out = eval(expression, names)
    except Exception as error:
        return type(error).__name__
    if not isinstance(out, package.Tensor):
        return repr(out).rpartition(".")[2]
    values = package.view_as_real(out.resolve_conj()) if out.is_complex() else out
    return [repr(out.dtype).rpartition(".")[2], [round(x, 5) for x in values.double().reshape(-1)[:6].tolist()]]


def store(package: Any) -> None:
    """Write what `package` answers."""
    lines = [
        f"{json.dumps(f'{short} {expression}')}: {json.dumps(answer(expression, package, short))}"
        for short in ("bfloat16", "float16")
        for expression in expressions()
    ]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    import torch

    store(torch)
