"""A network that solves a differential equation: second derivatives, LBFGS with a closure, double precision."""

import torch
import torch.autograd as autograd
import torch.nn as nn

torch.set_default_dtype(torch.float64)
torch.manual_seed(1234)
if torch.cuda.is_available():
    torch.backends.cudnn.deterministic = True


class FCN(nn.Module):
    "Defines a fully connected network"

    def __init__(self, n_in, n_out, n_hidden, n_layers):
        super().__init__()
        activation = nn.Tanh
        self.fcs = nn.Sequential(*[nn.Linear(n_in, n_hidden), activation()])
        self.fch = nn.Sequential(
            *[nn.Sequential(*[nn.Linear(n_hidden, n_hidden), activation()]) for _ in range(n_layers - 1)]
        )
        self.fce = nn.Linear(n_hidden, n_out)
        for m in self.modules():
            if isinstance(m, nn.Linear):
                nn.init.xavier_normal_(m.weight.data, gain=1.0)
                nn.init.zeros_(m.bias.data)

    def forward(self, x):
        return self.fce(self.fch(self.fcs(x)))


def exact(d, w0, x):
    w = torch.sqrt(torch.tensor(w0**2 - d**2))
    phi = torch.atan(-d / w)
    A = 1 / (2 * torch.cos(phi))
    return torch.exp(-d * x) * 2 * A * torch.cos(phi + w * x)


d, w0 = 2.0, 10.0
mu, k = 2 * d, w0**2
x = torch.linspace(0, 1, 100).view(-1, 1)
y = exact(d, w0, x).view(-1, 1)
x_data, y_data = x[0:40:8], y[0:40:8]
x_physics = torch.linspace(0, 1, 15).view(-1, 1).requires_grad_(True)
model = FCN(1, 1, 16, 2)
scale = nn.Parameter(torch.tensor(1.0))


def residual():
    yhp = scale * model(x_physics)
    dx = autograd.grad(yhp, x_physics, torch.ones_like(yhp), create_graph=True)[0]
    dx2 = autograd.grad(dx, x_physics, torch.ones_like(dx), create_graph=True)[0]
    return torch.mean((dx2 + mu * dx + k * yhp) ** 2)


def total():
    loss1 = torch.mean((scale * model(x_data) - y_data) ** 2)
    return loss1 + 1e-4 * residual()


optimizer = torch.optim.Adam([*model.parameters(), scale], lr=2e-3)
for i in range(61):
    optimizer.zero_grad()
    loss = total()
    loss.backward()
    optimizer.step()
    if i % 20 == 0:
        print(f"adam {i}: {loss.item():.6f}")
lbfgs = torch.optim.LBFGS(
    [*model.parameters(), scale], lr=0.5, max_iter=4, history_size=10, line_search_fn="strong_wolfe"
)


def closure():
    lbfgs.zero_grad()
    objective = total()
    objective.backward()
    return objective


for i in range(4):
    value = lbfgs.step(closure)
    print(f"lbfgs {i}: {value.item():.5f}")
J = torch.autograd.functional.jacobian(lambda v: model(v).sum(), x[:3])
print(J.shape, f"{(scale * model(x) - y).abs().max().item():.3f}", float(scale) != 1.0)
