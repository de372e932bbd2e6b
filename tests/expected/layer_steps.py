"""Two hundred steps of SGD in float64 through nets with each norm, with resizing, with embedding bags and with CTC."""

import numpy as np

STEPS = 200
NORMS = {
    "BatchNorm1d": "BatchNorm1d(6)",
    "GroupNorm": "GroupNorm(3, 6)",
    "InstanceNorm1d": "InstanceNorm1d(6, affine=True, track_running_stats=True)",
    "LayerNorm": "LayerNorm((6, 5))",
    "RMSNorm": "RMSNorm((5,), 1e-6)",
    "LocalResponseNorm": "LocalResponseNorm(3, 0.1)",
    "SyncBatchNorm": "SyncBatchNorm(6)",
}
IMAGE_NORMS = {
    "BatchNorm2d": "BatchNorm2d(4)",
    "InstanceNorm2d": "InstanceNorm2d(4)",
    "CrossMapLRN2d": "CrossMapLRN2d(3, 0.1)",
    "GroupNorm2d": "GroupNorm(2, 4)",
}
NETS = [*NORMS, *IMAGE_NORMS, "upsampling", "lazy", "embedding_bag", "ctc"]


def waves(tg, *shape, turn=1.7):
    return tg.tensor(np.sin(np.arange(np.prod(shape)) * turn).reshape(shape))


def net(tg, name):
    """(model, arguments, loss of output and target, target)."""
    nn = tg.nn
    if name in NORMS:
        norm = eval(f"nn.{NORMS[name]}", {"nn": nn})
        model = nn.Sequential(nn.Conv1d(3, 6, 3, padding=1), norm, nn.Tanh(), nn.Flatten(), nn.Linear(30, 2))
        return model, [waves(tg, 8, 3, 5)], nn.MSELoss(), waves(tg, 8, 2, turn=0.3)
    if name in IMAGE_NORMS:
        norm = eval(f"nn.{IMAGE_NORMS[name]}", {"nn": nn})
        model = nn.Sequential(nn.Conv2d(2, 4, 3), norm, nn.Tanh(), nn.Flatten(), nn.Linear(36, 2))
        return model, [waves(tg, 4, 2, 5, 5)], nn.MSELoss(), waves(tg, 4, 2, turn=0.3)
    if name == "upsampling":
        model = nn.Sequential(
            nn.Conv2d(2, 4, 3, padding=1), nn.Tanh(), nn.Upsample(scale_factor=2, mode="bilinear"),
            nn.Conv2d(4, 4, 3), nn.Tanh(), nn.UpsamplingNearest2d(scale_factor=2), nn.PixelShuffle(2),
        )  # fmt: skip
        return model, [waves(tg, 2, 2, 4, 4)], nn.MSELoss(), waves(tg, 2, 1, 24, 24, turn=0.3)
    if name == "lazy":
        model = nn.Sequential(
            nn.LazyConv1d(4, 3), nn.LazyBatchNorm1d(), nn.Tanh(), nn.Flatten(), nn.LazyLinear(2)
        )  # fmt: skip
        return model, [waves(tg, 6, 3, 5)], nn.MSELoss(), waves(tg, 6, 2, turn=0.3)
    if name == "embedding_bag":
        places, starts = tg.tensor(np.arange(14) * 5 % 9), tg.tensor(np.array([0, 3, 3, 8, 10]))
        bag = nn.EmbeddingBag(9, 6, mode="mean", padding_idx=4)

        class Classifier(nn.Module):
            def __init__(self):
                super().__init__()
                self.bag, self.out = bag, nn.Linear(6, 3)

            def forward(self, places, starts):
                return self.out(self.bag(places, starts))

        return Classifier(), [places, starts], nn.CrossEntropyLoss(), tg.tensor(np.array([0, 2, 1, 1, 0]))
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 5), nn.LogSoftmax(2))
    targets = tg.tensor(np.array([[1, 2, 2], [3, 4, 0]]))
    times, sizes = tg.tensor(np.array([9, 8])), tg.tensor(np.array([3, 2]))
    return model, [waves(tg, 9, 2, 3)], lambda out, target: nn.functional.ctc_loss(out, target, times, sizes), targets


def losses(tg, name, wrap=lambda step: step):
    """The loss of each step, then the outputs in evaluation; `wrap` may compile the step."""
    before = tg.get_default_dtype()
    tg.set_default_dtype(tg.float64)
    try:
        tg.manual_seed(11)
        model, args, loss_of, target = net(tg, name)
        optimizer = tg.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

        def train_step(*args):
            optimizer.zero_grad()
            loss = loss_of(model(*args), target)
            loss.backward()
            optimizer.step()
            return loss.detach()

        step = wrap(train_step)
        found = [step(*args).item() for _ in range(STEPS)]
        model.eval()
        with tg.no_grad():
            return np.array(found), np.array(model(*args).numpy())
    finally:
        tg.set_default_dtype(before)


def make(tg):
    stored = {}
    for name in NETS:
        stored[f"{name}|losses"], stored[f"{name}|output"] = losses(tg, name)
    return stored
