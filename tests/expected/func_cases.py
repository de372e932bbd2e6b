"""Functions of ``func`` applied to small functions, as PyTorch answers: arrays, and texts of errors."""

import re

import numpy as np

#: What is computed; ``x`` and ``w`` are vectors, ``m`` a matrix, ``b`` a batch of vectors, ``F`` is ``tg.func``.
EXPRESSIONS = """
F.grad(lambda x: (x ** 3).sum())(x)
F.grad(lambda x, w: (x * w).sin().sum(), argnums=1)(x, w)
F.grad(lambda x, w: (x * w).sin().sum(), argnums=(0, 1))(x, w)
F.grad(lambda p: (p['a'] * p['b']).sin().sum())({'a': x, 'b': w})
F.grad(lambda x, w: ((x * w).sum(), x + 1), has_aux=True)(x, w)
F.grad(lambda x: w.sum())(x)
F.grad(lambda x, *, k: (x * k).sum())(x, k=w)
F.grad_and_value(lambda x: (x ** 3).sum())(x)
F.grad_and_value(lambda x: ((x ** 3).sum(), x * 2), has_aux=True)(x)
F.grad(lambda x: F.grad(lambda y: (y ** 3 * x).sum())(x).sum())(x)
F.grad(F.grad(lambda s: s ** 4))(x[0])
F.vjp(lambda x: x.sin(), x)[1](w)
F.vjp(lambda x, w: (x * w, x.sum()), x, w)[1]((w, x[0]))
F.vjp(lambda x: {'a': x * 2, 'b': x.sum()}, x)[1]({'a': w, 'b': w[0]})
F.vjp(lambda x: (x.sin(), x + 1), x, has_aux=True)[2]
F.vjp(lambda x: x.sin(), x)[0]
F.jvp(lambda x: x.sin(), (x,), (w,))
F.jvp(lambda x, w: (x * w, x.sum()), (x, w), (w, x))
F.jvp(lambda x: (x.sin(), x + 1), (x,), (w,), has_aux=True)
F.jvp(lambda x: w * 2, (x,), (w,))
F.jvp(lambda x: x + x, (x,), (w,))
F.linearize(lambda x, w: (x * w, x.sum()), x, w)[1](w, x)
F.linearize(lambda x: x.sin(), x)[0]
F.jacrev(lambda x: m @ x.sin())(x)
F.jacrev(lambda x, w: (x * w, x.sum()), argnums=(0, 1))(x, w)
F.jacrev(lambda p: p['a'] * p['b'])({'a': x, 'b': w})
F.jacrev(lambda x: (x * 2, x.sum()), has_aux=True)(x)
F.jacrev(lambda x: m @ x.sin(), chunk_size=2)(x)
F.jacfwd(lambda x: m @ x.sin())(x)
F.jacfwd(lambda x, w: x * w, argnums=1)(x, w)
F.jacfwd(F.jacrev(lambda x: x.prod()))(x)
F.hessian(lambda x: (x ** 3).prod())(x)
F.hessian(lambda x, w: (x * w).prod(), argnums=(0, 1))(x, w)
F.vmap(tg.dot)(b, b + 1)
F.vmap(tg.dot, in_dims=(0, None))(b, x)
F.vmap(lambda x: x.sum(), in_dims=1)(m)
F.vmap(lambda x: x * 2, in_dims=-1, out_dims=1)(m)
F.vmap(lambda x, y: (x * y, x.sum()), out_dims=(1, 0))(b, b)
F.vmap(lambda d: {'s': d['a'] + d['c'][0]})({'a': b, 'c': [b]})
F.vmap(lambda d: d['a'] + d['c'], in_dims=({'a': 0, 'c': None},))({'a': b, 'c': x})
F.vmap(lambda x, *, k: x * k)(b, k=b)
F.vmap(F.vmap(lambda s, t: s * t), in_dims=(0, None))(b, x)
F.vmap(F.grad(lambda x, w: (x * w).sin().sum(), argnums=1), in_dims=(0, None))(b, w)
F.vmap(F.jacrev(lambda x: x.sin()))(b)
F.vmap(F.vjp(lambda x: x * w, x)[1])(b)
F.grad(lambda x: F.vmap(lambda r: (r * x).sin().sum())(b).sum())(x)
F.vmap(lambda x: x + 1, chunk_size=2)(b)
F.vmap(lambda x: w)(b)
F.vmap(lambda x: x)(b[:0])
tg.vmap(lambda x: x.sum())(b)
""".strip().splitlines()
#: What is refused; the error's class, and its text, compared by their first words.
ERRORS = """
F.grad(lambda x: x * 2)(x)
F.grad(lambda x: 3.0)(x)
F.grad(lambda x: x.sum(), argnums=1)(x)
F.grad(lambda x: x.sum(), has_aux=True)(x)
F.grad(lambda x: x.sum())(3.0)
F.jvp(lambda x: x, x, x)
F.jvp(lambda x: x, (x,), (x, x))
F.jvp(lambda x: w, (x,), (x,), strict=True)
F.jacrev(lambda x: x, chunk_size=0)(x)
F.vjp(lambda x: (x, x), x)[1](x)
F.vmap(lambda x: x)(3.0)
F.vmap(lambda x: x, in_dims=0)()
F.vmap(lambda x: x, in_dims=[0])(x)
F.vmap(lambda x: x, in_dims=3)(x)
F.vmap(lambda x: x, in_dims=None)(x)
F.vmap(lambda x, y: x)(b, m)
F.vmap(lambda x, y: x, in_dims=(0,))(b, b)
F.vmap(lambda x: 3.0)(x)
F.vmap(lambda x: tg.rand(2))(x)
F.vmap(lambda x: x, randomness='other')
F.vmap(lambda x: x, chunk_size=0)
F.functional_call(tg.nn.Linear(2, 1), 3, x)
F.functional_call(tg.nn.Linear(2, 1), {'sub.other': x}, x)
F.vmap(lambda x: x, out_dims=(0, 0))(x)
F.vmap(lambda x: (x, x), out_dims=(0, None))(x)
F.jacrev(lambda x: 3.0)(x)
F.functional_call(tg.nn.Linear(2, 1), [{'bias': x}, {'bias': x}], x)
F.functional_call(tg.nn.Linear(2, 1), {'bias': x}, x, strict=True)
F.stack_module_state([])
F.stack_module_state([tg.nn.Linear(1, 1), tg.nn.ReLU()])
F.stack_module_state([tg.nn.ReLU(), tg.nn.ReLU().eval()])
""".strip().splitlines()


def scope(tg):
    def made(*rows):
        return tg.tensor(list(rows), dtype=tg.float64)

    return {
        "tg": tg, "F": tg.func, "x": made(0.5, -1.0, 2.0), "w": made(1.5, 0.25, -0.5),
        "m": made([1.0, 2.0, 3.0], [-1.0, 0.5, 0.0]),
        "b": made([0.1, 0.2, 0.3], [1.0, -1.0, 0.5], [2.0, 0.0, 1.0], [0.0, 1.0, 1.0]),
    }  # fmt: skip


def leaves(tree):
    """The tensors of a nest, in order."""
    if isinstance(tree, dict):
        return [leaf for key in sorted(tree) for leaf in leaves(tree[key])]
    if isinstance(tree, (tuple, list)):
        return [leaf for part in tree for leaf in leaves(part)]
    return [tree]


def evaluated(tg, expression):
    """The results' numbers, by place."""
    found = leaves(eval(expression, scope(tg)))
    assert not any(x.requires_grad for x in found)
    return {str(i): np.asarray(x) for i, x in enumerate(found)}


def refused(tg, expression):
    """The class of the error, and the words of its text that both libraries share."""
    try:
        eval(expression, scope(tg))
    except Exception as error:
        text = re.sub(r"\btracegrad\b", "torch", str(error))
        return f"{type(error).__name__}: {' '.join(text.split()[:7])}"
    return "nothing"


def make(tg):
    return {f"{e}/{key}": x for e in EXPRESSIONS for key, x in evaluated(tg, e).items()}


def make_texts(tg):
    return {expression: refused(tg, expression) for expression in ERRORS}
