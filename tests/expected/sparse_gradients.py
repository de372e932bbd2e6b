"""Tables of rows with sparse gradients: what ``.grad`` is, what optimizers say, and training with them."""

import warnings

import numpy as np

ROWS, COLUMNS, STEPS = 40, 3, 200

OPTIMIZERS = {
    "SGD": ("SGD", {"lr": 0.05}),
    "SGD with momentum": ("SGD", {"lr": 0.02, "momentum": 0.9, "dampening": 0.1}),
    "SGD with Nesterov's": ("SGD", {"lr": 0.02, "momentum": 0.9, "nesterov": True}),
    "SGD upwards": ("SGD", {"lr": 0.001, "maximize": True}),
    "Adagrad": ("Adagrad", {"lr": 0.1, "lr_decay": 0.01, "initial_accumulator_value": 0.1}),
    "SparseAdam": ("SparseAdam", {"lr": 0.01, "betas": (0.8, 0.95)}),
    "SparseAdam upwards": ("SparseAdam", {"lr": 0.001, "maximize": True}),
}

STEPPED = "SGD Adam AdamW Adagrad Adadelta Adafactor Adamax ASGD Muon NAdam RAdam RMSprop Rprop SparseAdam".split()
#: Expressions over F, a leaf w [5, 2], places i [2, 2], and the functions below.
EXPRESSIONS = [
    "grad(F.embedding(i, w, sparse=True))",
    "grad(F.embedding(i, w, sparse=True)).is_coalesced()",
    "grad(F.embedding(i, w, 2, sparse=True))",
    "grad(F.embedding(i, w, -1, sparse=True))",
    "grad(F.embedding(i.int(), w, sparse=True))",
    "grad(F.embedding(i[0, 0], w, sparse=True))",
    "grad(F.embedding(i[:0], w, sparse=True))",
    "grad(F.embedding(i, w, scale_grad_by_freq=True, sparse=True))",
    "grad(F.embedding(i, w, max_norm=1.0, sparse=True))",
    "grad(F.embedding(i, w, sparse=True), twice=True)",
    "grad(F.embedding(i, w, sparse=True) ** 2)",
    "grad(F.embedding(i, w, sparse=True).sum() + w.sum())",
    "grad(w.sum() + F.embedding(i, w, sparse=True).sum())",
    "grad(F.embedding(i, w, sparse=True)[0].sum() + F.embedding(i[0], w, sparse=True).sum())",
    "grad(F.embedding(i, w * 2, sparse=True)).to_dense()",
    "grad(F.embedding(i, w.exp(), sparse=True)).to_dense()",
    "grad(F.embedding_bag(i, w, sparse=True))",
    "grad(F.embedding_bag(i, w, mode='sum', sparse=True))",
    "grad(F.embedding_bag(i, w, mode='max', sparse=True))",
    "grad(F.embedding_bag(i, w, mode='sum', padding_idx=2, sparse=True))",
    "grad(F.embedding_bag(i, w, mode='mean', padding_idx=1, sparse=True))",
    "grad(F.embedding_bag(i, w, mode='sum', scale_grad_by_freq=True, sparse=True))",
    "grad(F.embedding_bag(i, w, mode='sum', per_sample_weights=tg.full((2, 2), 3.0), sparse=True))",
    "grad(F.embedding_bag(i.reshape(4), w, tg.tensor([0, 3]), sparse=True))",
    "tg.autograd.grad(F.embedding(i, w, sparse=True).sum(), w)",
    "F.embedding(i, w, sparse=True).grad_fn.name()",
    "F.embedding(i, w.detach(), sparse=True).requires_grad",
    "kept(F.embedding(i, w, sparse=True).sum(), w.sum())",
    "kept(w.sum(), F.embedding(i, w, sparse=True).sum())",
    "kept(F.embedding(i, w, sparse=True).sum(), F.embedding(i, w, sparse=True).sum())",
    "hooked(lambda g: g * 2)",
    "hooked(lambda g: g.to_dense())",
    "assigned(tg.sparse_coo_tensor([[1]], [[1.0, 2.0]], (5, 2)))",
    "assigned(tg.sparse_coo_tensor([[1]], [[1.0, 2.0]], (4, 2)))",
    "tg.nn.Embedding(3, 2, sparse=True)",
    "tg.nn.EmbeddingBag(3, 2, sparse=True)",
    "zeroed(False)",
    "zeroed(True)",
    "tg.nn.utils.clip_grad_norm_([sparse()], 1.0)",
    "tg.nn.utils.clip_grad_value_([sparse()], 1.0)",
    *(
        f"stepped('{name}', lr=0.1{options})"
        for name in STEPPED
        for options in ("", *((", weight_decay=0.1", ", fused=True") if name in ("SGD", "Adagrad") else ()))
    ),
    "dense('SparseAdam')",
    "dense('SGD')",
]


def _scope(tg):
    """What expressions are made of."""
    F = tg.nn.functional
    w = (tg.arange(10.0).reshape(5, 2) / 10).requires_grad_()
    i = tg.tensor([[1, 2], [2, 4]])

    def grad(out, twice=False):
        for _ in range(1 + twice):
            out.sum().backward(retain_graph=True)
        return w.grad

    def kept(first, second):
        first.backward()
        before = w.grad
        second.backward()
        return w.grad.is_sparse, w.grad is before, before.is_sparse, w.grad.to_dense()

    def hooked(hook):
        seen = []
        w.register_hook(lambda g: seen.append(g.is_sparse) or hook(g))
        F.embedding(i, w, sparse=True).sum().backward()
        return seen, w.grad

    def assigned(gradient):
        w.grad = gradient
        return w.grad is gradient

    def sparse():
        F.embedding(i, w, sparse=True).sum().backward()
        return w

    def zeroed(to_none):
        tg.optim.SGD([sparse()], lr=0.1).zero_grad(set_to_none=to_none)
        return w.grad

    def stepped(name, **options):
        getattr(tg.optim, name)([sparse()], **options).step()
        return w

    def dense(name):
        w.sum().backward()
        getattr(tg.optim, name)([w], lr=0.1).step()
        return w

    names = [grad, kept, hooked, assigned, sparse, zeroed, stepped, dense]
    return {"tg": tg, "F": F, "w": w, "i": i, **{each.__name__: each for each in names}}


def outcome(tg, expression):
    """What an expression gives, as text; of an exception the class and the first words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return repr(eval(expression, _scope(tg))).replace(tg.__name__, "torch")
    except Exception as error:
        text = str(error).partition("\n  in ")[0]  # without the layer, which Python 3.10 shows as a part of it
        return f"{type(error).__name__}: {text}".replace(tg.__name__, "torch")[:90]


def make_texts(tg):
    return {expression: outcome(tg, expression) for expression in EXPRESSIONS}


def trained(tg, name, compiled=lambda step: step, steps=STEPS):
    """The losses of a training run of two tables, and the first table."""
    kind, options = OPTIMIZERS[name]
    draw = np.random.default_rng(3)
    tables = [tg.nn.Parameter(tg.from_numpy(draw.normal(size=(ROWS, COLUMNS)))) for _ in range(2)]
    rows = tg.nn.Embedding(ROWS, COLUMNS, padding_idx=5, sparse=True, _weight=tables[0])
    bags = tg.nn.EmbeddingBag(ROWS, COLUMNS, mode="mean", sparse=True, _weight=tables[1])
    optimizer = getattr(tg.optim, kind)(tables, **options)

    def step(places, targets):
        optimizer.zero_grad()
        loss = ((rows(places).sum(1) * bags(places)).sum(-1) - targets).pow(2).mean()
        loss.backward()
        optimizer.step()
        return loss.detach()

    run, losses = compiled(step), []
    for _ in range(steps):
        places, targets = draw.integers(0, ROWS, (8, 4)), draw.normal(size=8)
        losses.append(run(tg.from_numpy(places), tg.from_numpy(targets)).item())
    return np.array(losses), tables[0].detach().numpy()


def make(tg):
    found = {}
    for name in OPTIMIZERS:
        found[f"{name}/losses"], found[f"{name}/table"] = trained(tg, name)
    return found
