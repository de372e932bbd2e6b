"""Index expressions whose values and gradients are stored."""

import numpy as np

ARRAYS = {"x": np.arange(60, dtype=np.float32).reshape(3, 4, 5) / 10}

READS = [
    # basic
    "x[0]",
    "x[-1]",
    "x[1, 2]",
    "x[1, 2, 3]",
    "x[1:]",
    "x[:, 1]",
    "x[..., 0]",
    "x[:, :, -1]",
    "x[::2]",
    "x[:, 1:4:2]",
    "x[None]",
    "x[:, None, 0]",
    "x[0, ..., 1:3]",
    "x[5:]",
    "x[2:1]",
    "x[:, :]",
    "x[...]",
    "x[()]",
    "x[-2:]",
    "x[0][1]",
    # integer tensors and lists
    "x[tg.tensor([0, 2])]",
    "x[[2, 0]]",
    "x[tg.tensor([0, 0, 1])]",
    "x[tg.tensor([[0, 1], [2, 2]])]",
    "x[:, [0, -1]]",
    "x[[0, 1], [1, 2]]",
    "x[[0, 1], [1, 2], [3, 4]]",
    "x[tg.tensor([0, 1]), :, tg.tensor([1, 2])]",
    "x[0, :, [1, 2]]",
    "x[:, 0, [1, 2]]",
    "x[..., [0, 0]]",
    "x[[0], None]",
    "x[None, [0, 1]]",
    "x[:, tg.tensor([[0], [1]]), tg.tensor([0, 2, 4])]",
    "x[tg.tensor(1)]",
    "x[tg.tensor([], dtype=tg.int64)]",
    "x[1:, [0, 1], 2:]",
    "x[[0, 2], 1:3]",
    "x[tg.tensor([1]), 0, tg.tensor([2, 3])]",
    # booleans
    "x[x > 2]",
    "x[tg.tensor([True, False, True])]",
    "x[:, tg.tensor([True, False, True, True])]",
    "x[x[:, :, 0] > 1]",
    "x[tg.tensor(True)]",
    "x[tg.tensor(False)]",
    "x[True]",
    "x[False]",
    "x[tg.tensor([True, False, True]), 1]",
    "x[x > 100]",
    # methods
    "x.gather(2, tg.tensor([[[0, 0, 4]], [[1, 2, 3]], [[4, 4, 4]]]))",
    "x.index_select(1, tg.tensor([3, 0, 0]))",
    "x.narrow(1, 1, 2)",
    "x.masked_select(x > 3)",
    "x.select(1, 2)",
    "x.flip(0, 2)",
    "x.diagonal(0, 1, 2)",
    "tg.take(x, tg.tensor([0, 59, 0]))",
]

# Statements that write into `y`, a tracked copy of x; `v` holds 20 numbers. Gradients reach x and v.
WRITES = [
    "y[0] = v.view(4, 5)",
    "y[:, 1] = v[:5]",
    "y[1, 2, 3] = v[0]",
    "y[..., 0] = 7.0",
    "y[[0, 1]] = v.view(4, 5)",
    "y[y > 3] = 0.0",
    "y[y > 3] = v[0]",
    "y[:, [0, 2]] = v[:10].view(2, 5)",
    "y[tg.tensor([True, False, True])] = v.view(4, 5)",
    "y[0, :, [1, 2]] = v[:2]",
    "y[0] += v.view(4, 5)",
    "y[:, 1:3] *= 2",
    "y[[0, 2]] *= 3",
    "y[1] = y[0]",
    "y[:] = v[:5]",
    "y[::2, 0] = 1",
    "y[None, 0] = v[0]",
    "y[0].fill_(v[3])",
    "y[0, 0].zero_()",
    "y[:, 0].copy_(v[:15].view(3, 5))",
    "y.masked_fill_(y > 3, -1.0)",
    "y[tg.tensor(1)] = 2.0",
    "y.scatter_(2, tg.tensor([[[1], [2], [3], [0]]]), v[:4].view(1, 4, 1))",
    "y.index_add_(0, tg.tensor([0, 0]), v[:20].view(1, 4, 5).expand(2, 4, 5))",
    "y.index_fill_(1, tg.tensor([1]), 3.0)",
    "y.index_copy_(1, tg.tensor([1]), v[:15].view(3, 1, 5))",
    "y.scatter_add_(0, tg.tensor([[[0, 2]], [[0, 2]]]), v[:4].view(2, 1, 2))",
    "y.index_put_((tg.tensor([0, 0]),), v.view(4, 5), accumulate=True)",
]


def targets(tg):
    """Fresh x and v."""
    return tg.tensor(ARRAYS["x"], requires_grad=True), tg.arange(20.0).sub(4.5).requires_grad_()


def write(tg, statement):
    """A function of x and v that returns the tensor after the statement, and the gradients that reach x and v."""

    def run(x, v):
        y = x * 1
        exec(statement, {"tg": tg, "y": y, "v": v})
        y.backward(tg.cos(tg.arange(60.0)).view(3, 4, 5))
        return y.detach(), x.grad, v.grad

    return run


def make_writes(tg):
    stored = {}
    for statement in WRITES:
        results = write(tg, statement)(*targets(tg))
        stored |= {f"{statement}|{i}": result.numpy() for i, result in enumerate(results) if result is not None}
    return stored
