"""Two hundred steps of SGD in float64 through each recurrent, attention, convolution and norm layer.

With PyTorch's initial draws and masks of dropout, in training and in evaluation (whose steps take no draws and, with a
norm, use running statistics).
"""

import numpy as np

STEPS = 200
SEEN = slice(None, None, 25)  # which of the losses are stored
RECURRENT = {
    "RNN": "RNN(3, 5)",
    "RNN relu": "RNN(3, 5, 2, nonlinearity='relu', batch_first=True)",
    "LSTM": "LSTM(3, 5, 2, dropout=0.3)",
    "LSTM projected": "LSTM(3, 5, proj_size=2, bidirectional=True)",
    "GRU": "GRU(3, 5, 2, dropout=0.3, bidirectional=True)",
}
CELLS = {"RNNCell": "RNNCell(3, 5)", "LSTMCell": "LSTMCell(3, 5)", "GRUCell": "GRUCell(3, 5)"}
ATTENTION = {
    "MultiheadAttention": "MultiheadAttention(6, 2, dropout=0.2)",
    "MultiheadAttention batch_first": "MultiheadAttention(6, 3, add_bias_kv=True, batch_first=True)",
    "TransformerEncoderLayer": "TransformerEncoderLayer(6, 2, 8, dropout=0.2)",
    "TransformerEncoderLayer norm_first": "TransformerEncoderLayer(6, 2, 8, 0.1, 'gelu', norm_first=True)",
    "TransformerDecoderLayer": "TransformerDecoderLayer(6, 2, 8, dropout=0.2)",
    "Transformer": "Transformer(6, 2, 1, 1, 8, dropout=0.1)",
    "TransformerEncoder": "TransformerEncoder(nn.TransformerEncoderLayer(6, 2, 8, 0.1), 2, enable_nested_tensor=False)",
    "TransformerDecoder": "TransformerDecoder(nn.TransformerDecoderLayer(6, 2, 8, 0.1), 2)",
}
CONVOLUTION = {
    "Conv1d": "Conv1d(4, 6, 3, padding='same', dilation=2, groups=2)",
    "Conv2d": "Conv2d(2, 4, 3, stride=2, padding=1, padding_mode='reflect')",
    "Conv3d": "Conv3d(2, 3, 2)",
    "ConvTranspose1d": "ConvTranspose1d(4, 6, 3, stride=2, output_padding=1, groups=2)",
    "ConvTranspose2d": "ConvTranspose2d(2, 4, 3, stride=2, padding=1)",
    "ConvTranspose3d": "ConvTranspose3d(2, 3, 2, stride=2)",
}
NORMS = {
    "BatchNorm1d": "BatchNorm1d(4)",
    "BatchNorm2d": "BatchNorm2d(2)",
    "BatchNorm3d": "BatchNorm3d(2)",
    "InstanceNorm1d": "InstanceNorm1d(4, affine=True, track_running_stats=True)",
    "InstanceNorm2d": "InstanceNorm2d(2, affine=True)",
    "InstanceNorm3d": "InstanceNorm3d(2, affine=True, track_running_stats=True)",
    "GroupNorm": "GroupNorm(2, 4)",
    "LayerNorm": "LayerNorm(5)",
    "RMSNorm": "RMSNorm(5)",
    "LocalResponseNorm": "LocalResponseNorm(3, 0.1)",
    "CrossMapLRN2d": "CrossMapLRN2d(3, 0.1)",
    "SyncBatchNorm": "SyncBatchNorm(4)",
}
#: The others with parameters.
OTHERS = {
    "Linear": "Linear(5, 3)",
    "Bilinear": "Bilinear(5, 5, 3)",
    "Embedding": "Embedding(7, 5, max_norm=1.5)",
    "EmbeddingBag": "EmbeddingBag(7, 5, mode='mean')",
    "PReLU": "PReLU(4)",
    "AdaptiveLogSoftmaxWithLoss": "AdaptiveLogSoftmaxWithLoss(5, 6, [2, 4], div_value=2.0)",
}
LAYERS = RECURRENT | CELLS | ATTENTION | CONVOLUTION | NORMS | OTHERS
#: In training PyTorch's refuses processors.
REFUSED = {("SyncBatchNorm", "train")}
CASES = [(name, mode) for name in LAYERS for mode in ("train", "eval") if (name, mode) not in REFUSED]
SPACE = {"1d": (4, 5), "2d": (2, 5, 4), "3d": (2, 3, 4, 3)}  # channels and extents by the end of a layer's name


def waves(tg, *shape, turn=1.7):
    return tg.tensor(np.sin(np.arange(np.prod(shape)) * turn).reshape(shape))


def unrolled(layer, x):
    """The states of a cell after each time of ``x [time, batch, features]``."""
    state, found = None, []
    for part in x.unbind(0):
        state = layer(part, state)
        found.append(state[0] if isinstance(state, tuple) else state)
    return found


def net(tg, name):
    """(module, its input): the layer between a linear map of the input and one of its results."""
    nn = tg.nn

    class Net(nn.Module):
        def __init__(self, inputs):
            super().__init__()
            self.first = nn.Linear(inputs, inputs)
            self.layer = eval(f"nn.{LAYERS[name]}", {"nn": nn})

        def forward(self, x):
            x = tg.tanh(self.first(x))
            if name in CELLS:
                return tg.stack(unrolled(self.layer, x))
            if name.startswith("MultiheadAttention"):
                return self.layer(x, x, x, need_weights=False)[0]
            if name in ("TransformerDecoderLayer", "TransformerDecoder", "Transformer", "Bilinear"):
                return self.layer(x, x.flip(0))
            if name.startswith("Embedding"):
                return self.layer(positions) * (x if name == "Embedding" else x[:, 0])
            if name == "AdaptiveLogSoftmaxWithLoss":
                return self.layer(x[:, 0], positions[:, 0] % 6).output
            out = self.layer(x)
            return out[0] if isinstance(out, tuple) else out

    shape = next((space for end, space in SPACE.items() if name.endswith(end)), (4, 5))
    shape = (4, 3, 3) if name in RECURRENT or name in CELLS else (4, 3, 6) if name in ATTENTION else (3, *shape)
    positions = tg.tensor([[0, 3, 5, 0], [6, 2, 2, 1], [3, 4, 6, 2]])
    return Net(shape[-1]), waves(tg, *shape)


def trajectory(tg, name, mode, wrap=lambda step: step):
    """(losses, each third number of the last output in evaluation and of the parameters); `wrap` may compile."""
    before = tg.get_default_dtype()
    tg.set_default_dtype(tg.float64)
    try:
        tg.manual_seed(11)
        model, x = net(tg, name)
        model.train(mode == "train")
        optimizer = tg.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
        target = waves(tg, *model(x).shape, turn=0.3) * 0.5

        def train_step(x, target):
            optimizer.zero_grad()
            loss = tg.nn.functional.mse_loss(model(x), target)
            loss.backward()
            optimizer.step()
            return loss.detach()

        step = wrap(train_step)
        losses = np.array([step(x, target).item() for _ in range(STEPS)])
        model.eval()
        with tg.no_grad():
            output = np.array(model(x).numpy())
        numbers = [output.reshape(-1), *(p.detach().numpy().reshape(-1) for p in model.parameters())]
        return losses, np.concatenate(numbers)[::3]
    finally:
        tg.set_default_dtype(before)


def make(tg):
    stored = {}
    for name, mode in CASES:
        losses, numbers = trajectory(tg, name, mode)
        stored |= {f"{name}|{mode}|losses": losses[SEEN], f"{name}|{mode}|last": numbers}
    return stored
