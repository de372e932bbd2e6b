"""Calls that PyTorch warns of, each with the class and the beginning of the text: `stored` writes them.

`m` is made before the call; what counts is the call's own warnings.
"""

import json
import warnings
from pathlib import Path

STORE = Path(__file__).with_name("misuses.json")
#: How much of a text is compared: the key phrase, before what says how to help oneself.
BEGINNING = 40

SETUP = """
import io, warnings
import numpy as np
nn, F, optim, data = tg.nn, tg.nn.functional, tg.optim, tg.utils.data
plans = optim.lr_scheduler
def ones(*shape): return tg.ones(*shape)
def leaf(*shape): return tg.ones(*shape, requires_grad=True)
def sgd(): return optim.SGD([nn.Parameter(ones(2))], lr=0.1)
def stepped():
    optimizer = sgd()
    optimizer.step()
    return optimizer
frozen = np.ones(3)
frozen.flags.writeable = False
bytes_ = tg.tensor([1, 0, 1], dtype=tg.uint8)
x, g, image, line = ones(2), leaf(2), ones(1, 1, 4, 4), ones(400)
"""

CASES = """
plans.StepLR(sgd(), 1).step()
plans.ExponentialLR(stepped(), 0.9).step(3)
plans.CosineAnnealingLR(stepped(), 4).step(2)
plans.ReduceLROnPlateau(sgd()).step(1.0, epoch=3)
plans.StepLR(stepped(), 1).get_lr()
(g * 2).grad
tg.tensor(x)
tg.tensor(x, dtype=tg.float64)
x.new_tensor(x)
tg.tensor([np.ones(3), np.ones(3)])
F.mse_loss(ones(2, 1), x)
F.l1_loss(ones(2, 1), x)
F.smooth_l1_loss(ones(2, 1), x)
F.huber_loss(ones(2, 1), x)
nn.MSELoss()(ones(2, 1), x)
F.softmax(ones(2, 2))
F.log_softmax(ones(2, 2))
F.softmin(ones(2, 2))
nn.Softmax()(ones(2, 2))
nn.LogSoftmax()(ones(2, 2))
nn.Softmin()(ones(2, 2))
F.gumbel_softmax(ones(2, 2), eps=1e-9)
F.mse_loss(x, x, size_average=False)
F.mse_loss(x, x, reduce=False)
nn.MSELoss(size_average=True)
nn.CrossEntropyLoss(reduce=False)
F.cross_entropy(ones(2, 2), tg.tensor([0, 1]), size_average=False)
F.nll_loss(ones(2, 2), tg.tensor([0, 1]), reduce=True)
F.binary_cross_entropy(x, x, size_average=False)
F.triplet_margin_loss(ones(2, 2), ones(2, 2), ones(2, 2), reduce=True)
F.kl_div(ones(2, 2), ones(2, 2))
nn.KLDivLoss()(ones(2, 2), ones(2, 2))
tg.from_numpy(frozen)
F.upsample(image, scale_factor=2)
F.upsample_nearest(image, scale_factor=2)
F.upsample_bilinear(image, scale_factor=2)
F.grid_sample(image, tg.zeros(1, 2, 2, 2))
F.affine_grid(ones(1, 2, 3), [1, 1, 4, 4])
F.affine_grid(ones(1, 2, 3), [1, 1, 1, 4], align_corners=True)
F.dropout2d(ones(2, 3))
F.conv2d(image, ones(1, 1, 2, 2), padding="same")
nn.init.xavier_uniform(ones(2, 2))
nn.init.kaiming_normal(ones(2, 2))
nn.init.kaiming_uniform_(tg.empty(0, 2))
nn.init.trunc_normal_(ones(2), mean=5.0)
nn.utils.weight_norm(nn.Linear(2, 2))
nn.LSTM(2, 2, dropout=0.5)
nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 1), 1)
nn.InstanceNorm1d(3)(ones(2, 4, 5))
nn.Hardtanh(min_value=-1)
nn.NLLLoss2d()
nn.utils.stateless.functional_call(nn.Linear(1, 1), {}, ones(1, 1))
nn.MultiheadAttention(4, 2)(*[ones(3, 1, 4)] * 3, tg.zeros(1, 3), True, tg.zeros(3, 3, dtype=tg.bool))
tg.autograd.detect_anomaly()
data.DataLoader([1, 2], num_workers=4096)
list(data.DataLoader([1, 2], pin_memory=True))
data.random_split([1], [0.1, 0.9])
tg.range(0, 3)
tg.qr(tg.eye(2))
tg.lu(tg.eye(2))
tg.cholesky(tg.eye(2))
tg.chain_matmul(tg.eye(2), tg.eye(2))
tg.triangular_solve(ones(2, 1), tg.eye(2))
tg.lu_solve(ones(2, 1), *tg.linalg.lu_factor(tg.eye(2)))
tg.meshgrid(x, x)
tg.cross(ones(2, 3), ones(2, 3))
ones(2, 3, 4).T
ones(3).T
tg.tensor(1.0).T
tg.tensor(1.0).mT
tg.tensor(1.0).H
tg.tensor(1.0).mH
tg.where(bytes_, ones(3), ones(3))
ones(3)[bytes_]
tg.std(ones(1))
ones(3, 1).var(1)
tg.stft(line, 100, return_complex=True)
tg.stft(line, 100, tg.ones(100).numel(), window=ones(100), return_complex=False)
tg.istft(tg.stft(line, 100, window=ones(100), return_complex=True), 100)
tg.set_default_tensor_type("torch.FloatTensor")
x.storage()
tg.tensor([1.0 + 2j]).float()
float(leaf(1))
complex(leaf(1))
(g * 2).sum().backward(create_graph=True)
tg.cuda.amp.GradScaler()
tg.autocast("cuda")
tg.autocast("cpu", dtype=tg.float64)
tg.utils.checkpoint.checkpoint(lambda x: x * 2, x, use_reentrant=True)
tg.add(x, 1, out=tg.empty(3))
tg.add(x, 2, x)
x.add_(1, x)
tg.distributions.Normal(0.0, 1.0).sample_n(2)
optim.SGD([g, g], lr=0.1)
tg.testing.assert_allclose(x, x)
tg.cuda.memory_cached()
tg.autograd.Variable(x, volatile=True)
tg.set_float32_matmul_precision("unknown")
""".strip().splitlines()


def warned(tg, names, case):
    """(class, beginning of the text, whether it points at this call) for each warning of a call."""
    code = compile(case, "<the program>", "exec")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(code, names)
    return [(w.category.__name__, beginning(str(w.message)), w.filename == "<the program>") for w in caught]


def beginning(text):
    return " ".join(text.replace("tracegrad.", "torch.").split())[:BEGINNING]


def store(torch):
    """Write what PyTorch says."""
    names = {"tg": torch}
    torch.set_warn_always(True)
    exec(SETUP, names)
    found = {case: list(dict.fromkeys(entry[:2] for entry in warned(torch, names, case))) for case in CASES}
    torch.set_warn_always(False)
    STORE.write_text(json.dumps(found, indent=0) + "\n")
    return found


if __name__ == "__main__":
    import torch

    for case, entries in store(torch).items():
        if not entries:
            print("no warning:", case)
