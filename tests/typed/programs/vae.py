from __future__ import annotations
from typing import NamedTuple
import tracegrad as torch
from tracegrad import nn, Tensor
from tracegrad.distributions import Normal, kl_divergence, Categorical
from tracegrad.nn import functional as F


class Out(NamedTuple):
    x: Tensor
    mu: Tensor
    logvar: Tensor


class VAE(nn.Module):
    def __init__(self, d: int = 16, latent: int = 2, hidden: tuple[int, ...] = (8,)) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        size = d
        for h in hidden:
            layers += [nn.Linear(size, h), nn.ReLU(inplace=True)]
            size = h
        self.encoder = nn.Sequential(*layers)
        self.mu, self.logvar = nn.Linear(size, latent), nn.Linear(size, latent)
        self.decoder = nn.Sequential(nn.Linear(latent, d), nn.Sigmoid())

    def reparameterize(self, mu: Tensor, logvar: Tensor) -> Tensor:
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def forward(self, x: Tensor) -> Out:
        h = self.encoder(x.view(-1, 16))
        mu, logvar = self.mu(h), self.logvar(h)
        return Out(self.decoder(self.reparameterize(mu, logvar)), mu, logvar)


def loss_fn(out: Out, x: Tensor) -> Tensor:
    bce = F.binary_cross_entropy(out.x, x, reduction="sum")
    kld = -0.5 * torch.sum(1 + out.logvar - out.mu.pow(2) - out.logvar.exp())
    return bce + kld


model = VAE()
x = torch.rand(4, 16)
loss = loss_fn(model(x), x)
loss.backward()
total: float = loss.item()
p, q = Normal(torch.zeros(2), torch.ones(2)), Normal(0.0, 1.0)
kl: Tensor = kl_divergence(p, q).sum()
action = Categorical(logits=torch.zeros(3)).sample()
logp: Tensor = Categorical(probs=torch.ones(3) / 3).log_prob(action)
with torch.no_grad():
    z = torch.randn(2, 2)
    sample = model.decoder(z).cpu().numpy()
