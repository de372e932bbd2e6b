"""Small networks: forward values and all gradients from seeded initial weights."""

import numpy as np


def perceptron(nn):
    return nn.Sequential(
        nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3, bias=False), nn.LogSoftmax(dim=1)
    )


def flattened(nn):
    return nn.Sequential(nn.Flatten(), nn.Linear(4, 3), nn.LeakyReLU(0.1), nn.Identity(), nn.Linear(3, 2), nn.Sigmoid())


def gated(nn):
    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
            self.gate = nn.Parameter(nn.Linear(4, 4).weight.detach()[0].clone())
            self.register_buffer("shift", self.gate.detach() * 2)

        def forward(self, x):
            for layer in self.layers:
                x = nn.functional.gelu(layer(x)) * self.gate + x
            return x - self.shift

    return Gated()


NETWORKS = {"perceptron": perceptron, "flattened": flattened, "gated": gated}


def build(tg, network):
    """The model with its seeded initial weights."""
    tg.manual_seed(3)
    return NETWORKS[network](tg.nn)


def points(tg):
    """A batch that the networks take."""
    return tg.tensor(np.sin(np.arange(20, dtype=np.float32)).reshape(5, 4), requires_grad=True)


def gradients(model, x):
    """Output, gradient of the input, and gradient of each parameter, by name."""
    model.zero_grad()
    output = model(x)
    (output * output).sum().backward()
    found = {f"{name}.grad": parameter.grad for name, parameter in model.named_parameters()}
    return {"output": output.detach(), "x.grad": x.grad, **found}


def make(tg):
    return {
        f"{network}|{name}": array.numpy()
        for network in NETWORKS
        for name, array in gradients(build(tg, network), points(tg)).items()
    }
