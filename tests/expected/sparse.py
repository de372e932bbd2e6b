"""Programs of one line over sparse tensors, and a graph network of two layers."""

import warnings

import numpy as np

EXPRESSIONS = """
s | u | h | d | e | r | d*2 | u.coalesce() | h.coalesce() | u.to_dense() | h.to_dense() | e.to_dense() | s.indices()
s._indices() | s._values() | s.values() | s.coalesce().values() | s.numpy() | s.view(-1) | s[0] | s+1
s.mm(tg.ones(2,2)) | tg.exp(s) | s.item() | x+s.t() | s.t()+x | x-s.t() | s.to_sparse() | tg.ones(2).to_dense()
tg.sparse.sum(u) | s.sum() | tg.sparse.sum(u,0) | tg.sparse.sum(u,dim=(0,1)) | u.sum(0) | u.sum(1)
tg.sparse.sum(h,0) | tg.sparse.sum(h,2) | tg.sparse.sum(h,(0,1)) | tg.sparse.sum(h,(0,2)) | u.relu() | u.abs()
u.sqrt() | u.pow(2) | s/2 | 2*s | s*s | s*x.t() | x.t()*s | u.coalesce()+s.coalesce() | -s | s==s | s@s.t() | u@s.t()
tg.sparse.mm(s,u.t()) | x.t()@s.t() | tg.mm(x.t(),s.t()) | s@tg.ones(3) | tg.mv(u,tg.ones(3))
tg.sparse.addmm(tg.ones(2,2),s,x,beta=2,alpha=3) | tg.addmm(tg.ones(2,2),s,x) | s.is_leaf | len(s) | bool(s)
s.size() | s.size(1) | s.numel() | s.dim() | s.is_floating_point() | s.layout | s.is_sparse | x.is_sparse | x.layout
s.T | s.transpose(0,1) | s.transpose(1,0)._indices() | s.sparse_dim() | h.dense_dim() | h.sparse_dim()
tg.sparse.softmax(u,1) | tg.sparse.softmax(s,0) | tg.sparse.log_softmax(s,1) | u.index_select(0,tg.tensor([1]))
u.index_select(1,tg.tensor([2,0])) | x.t().sparse_mask(s.coalesce()) | tg.cat([s,u]) | tg.cat([s,u],1) | s.detach()
s.clone() | s.double() | s.float() is s | s.to(tg.float64).dtype | s.to('cpu') is s | r.requires_grad
(r*2).requires_grad | F.relu(s) | F.linear(s,tg.ones(4,3)) | F.linear(x.t(),s) | tg.zeros_like(s)
tg.sparse.FloatTensor(i,tg.ones(3),tg.Size([2,3])) | tg.sparse.FloatTensor(i,tg.ones(3)) | tg.sparse.FloatTensor(2,3)
tg.norm(s) | s.norm() | s.unsqueeze(0).shape | s.max() | s.mean() | tg.spmm(s,x) | tg.spmm(x.t(),x)
tg.sparse.mm(x.t(),x) | tg.sparse_coo_tensor([[0,1],[1,0]],[1.,2.]) | tg.sparse_coo_tensor(i,[1,2,3])
tg.sparse_coo_tensor(i,tg.ones(2),(2,3)) | tg.sparse_coo_tensor(i,tg.ones(3),(2,))
tg.sparse_coo_tensor(i,tg.ones(3),(2,3),is_coalesced=True).is_coalesced() | tg.ones(2,2,2).to_sparse(1)
tg.tensor([[0.,1],[0,0]]).to_sparse() | s.coalesce().is_coalesced() | u.is_coalesced()
(s.coalesce()*2).is_coalesced() | (s.coalesce()+s.coalesce()).is_coalesced() | s.t().is_coalesced() | s.type()
s.dtype | s.device | u._nnz() | u.coalesce()._nnz() | tg.is_tensor(s) | s.cpu() is s | s.int()
tg.sparse_coo_tensor(i.int(),tg.ones(3),(2,3))._indices().dtype | s.mm(x.double()) | tg.add(x.t(),s) | tg.mul(s,2)
s.bool() | s.half() | s.ndim | s.shape | s.grad | s.reshape(6) | s.tolist() | s[0,1] | s[-1] | s.select(1,2)
tg.matmul(s,x) | tg.matmul(u,tg.ones(3,4)) | s.t().mm(tg.ones(2,2)) | s.neg() | s.square() | s**2 | s.nonzero()
(s+s).to_dense() | (s-u).to_dense() | (u+s).to_dense() | s.add(s,alpha=2).to_dense() | (u*s).to_dense()
r.requires_grad_(False).requires_grad | s[0,2] | u[1,2]
tg.sparse_coo_tensor(tg.zeros(2,0).long(),tg.zeros(0),(2,3)).to_dense() | tg.ones(2,3).to_sparse().t().coalesce()
h.to_dense().to_sparse(2) | tg.eye(2).to_sparse().double().to_dense() | (r*r).detach().to_dense()
"""


def names(tg):
    """What the expressions speak of: coalesced or not, hybrid, empty, of another type, a leaf that requires grad."""
    i, values = tg.tensor([[0, 1, 1], [2, 0, 2]]), [3.0, 4.0, 5.0]
    return {
        "tg": tg,
        "F": tg.nn.functional,
        "i": i,
        "x": tg.ones(3, 2),
        "s": tg.sparse_coo_tensor(i, tg.tensor(values), (2, 3)),
        "u": tg.sparse_coo_tensor(tg.tensor([[1, 0, 1], [2, 0, 2]]), tg.tensor(values), (2, 3)),
        "h": tg.sparse_coo_tensor(i, tg.arange(6.0).reshape(3, 2), (2, 3, 2)),
        "d": tg.sparse_coo_tensor(i, tg.tensor(values), (2, 3)).double(),
        "e": tg.sparse_coo_tensor((2, 3)),
        "r": tg.sparse_coo_tensor(i, tg.tensor(values), (2, 3), requires_grad=True),
    }


def outcome(tg, expression):
    """The printed result, or the class of what is raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return repr(eval(expression, names(tg))).replace("tracegrad.", "torch.")
        except Exception as error:  # whatever is raised is the answer
            return type(error).__name__


def expressions():
    return [text.strip() for line in EXPRESSIONS.strip().splitlines() for text in line.split(" | ")]


NODES, FEATURES, CLASSES = 20, 6, 3


def graph(tg):
    """The normalised adjacency of a random graph in float64 (edges may occur twice), features and classes."""
    rng = np.random.default_rng(0)
    edges = rng.integers(0, NODES, (2, 50))
    edges = np.concatenate([edges, edges[::-1], np.stack([np.arange(NODES)] * 2)], 1)
    degree = np.bincount(edges[0], minlength=NODES)
    weights = 1 / np.sqrt(degree[edges[0]] * degree[edges[1]])
    features, classes = rng.normal(size=(NODES, FEATURES)), rng.integers(0, CLASSES, NODES)
    return tg.from_numpy(edges), tg.from_numpy(weights), tg.from_numpy(features), tg.from_numpy(classes)


def network(tg):
    """The parameters of two graph convolutions."""
    rng = np.random.default_rng(1)
    shapes = ((FEATURES, 8), (8,), (8, CLASSES), (CLASSES,))
    return [tg.from_numpy(rng.normal(size=shape) * 0.3).requires_grad_() for shape in shapes]


def scores(tg, adjacency, x, parameters):
    first, first_bias, second, second_bias = parameters
    hidden = tg.relu(tg.spmm(adjacency, x @ first) + first_bias)
    return tg.sparse.mm(adjacency, hidden @ second) + second_bias


def trained(tg, compiled=lambda step: step, steps=200, learned=False):
    """The losses of a training run; `learned` trains the edges' weights, too."""
    edges, weights, x, classes = graph(tg)
    parameters = network(tg)
    if learned:
        parameters.append(weights.requires_grad_())
    adjacency = tg.sparse_coo_tensor(edges, weights, (NODES, NODES))
    optimizer = tg.optim.Adam(parameters, lr=0.01, weight_decay=5e-4)

    def step(x, classes):
        optimizer.zero_grad()
        sparse = tg.sparse_coo_tensor(edges, weights, (NODES, NODES)) if learned else adjacency
        loss = tg.nn.functional.cross_entropy(scores(tg, sparse, x, parameters[:4]), classes)
        loss.backward()
        optimizer.step()
        return loss

    run = compiled(step)
    return np.array([run(x, classes).item() for _ in range(steps)])


def gradients(tg):
    """Gradients of sparse leaves, of values and of dense factors."""
    i, values = tg.tensor([[0, 1, 1, 1], [2, 0, 2, 2]]), [3.0, 4.0, 5.0, 6.0]
    found = {}
    programs = {
        "mm": lambda s, w: (s.mm(w) ** 2).sum(),
        "from dense": lambda s, w: (w.t() @ s.t()).sin().sum(),
        "to_dense": lambda s, w: (s.to_dense() ** 3).sum() + w.sum(),
        "coalesce": lambda s, w: (s.coalesce().values() ** 2).sum() + w.sum(),
        "scaled": lambda s, w: tg.sparse.sum(s * 3.0) * w.sum(),
        "product": lambda s, w: ((s @ s.t()).to_dense() * w[:2, :2]).sum(),
        "softmax": lambda s, w: (tg.sparse.softmax(s, 1).to_dense() * w.t()).sum(),
        "rows": lambda s, w: (tg.sparse.sum(s, 1).to_dense() * w[:2, 0]).sum(),
    }
    for name, program in programs.items():
        v = tg.tensor(values, dtype=tg.float64, requires_grad=True)
        w = (tg.arange(6.0, dtype=tg.float64).reshape(3, 2) / 5).requires_grad_()
        program(tg.sparse_coo_tensor(i, v, (2, 3)), w).backward()
        found[f"{name}/values"], found[f"{name}/dense"] = v.grad.numpy(), w.grad.numpy()
    return found


def make(tg):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {"losses": trained(tg), "learned": trained(tg, learned=True), **gradients(tg)}


def make_texts(tg):
    return {expression: outcome(tg, expression) for expression in expressions()}
