"""Variational inference: distributions, kl_divergence, a mixture, transforms, a posterior checked in closed form."""

import math

import torch
import torch.distributions as dist
from torch import nn
from torch.distributions.kl import kl_divergence
from torch.distributions.normal import Normal

torch.manual_seed(11)


class BayesLinear(nn.Module):
    def __init__(self, n_in, n_out, prior_std=1.0):
        super().__init__()
        self.weight_mu = nn.Parameter(torch.zeros(n_out, n_in).normal_(0, 0.1))
        self.weight_rho = nn.Parameter(torch.full((n_out, n_in), -3.0))
        self.bias = nn.Parameter(torch.zeros(n_out))
        self.prior = Normal(0.0, prior_std)

    @property
    def posterior(self):
        return Normal(self.weight_mu, nn.functional.softplus(self.weight_rho))

    def forward(self, x):
        weight = self.posterior.rsample() if self.training else self.weight_mu
        return x @ weight.t() + self.bias

    def kl(self):
        return kl_divergence(self.posterior, self.prior).sum()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([BayesLinear(1, 16), BayesLinear(16, 1)])
        self.log_noise = nn.Parameter(torch.tensor(0.0))

    def forward(self, x):
        x = torch.tanh(self.layers[0](x))
        return self.layers[1](x)


x = torch.linspace(-2, 2, 64).unsqueeze(-1)
y = torch.sin(2 * x) + 0.1 * torch.randn_like(x)
net = Net()
optimizer = torch.optim.AdamW(net.parameters(), lr=0.02, weight_decay=0.0)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=10)
for step in range(81):
    optimizer.zero_grad()
    likelihood = Normal(net(x), net.log_noise.exp()).log_prob(y).sum()
    kl = sum(layer.kl() for layer in net.layers)
    loss = kl * 0.1 - likelihood
    loss.backward()
    optimizer.step()
    plateau.step(loss.detach())
    if step % 20 == 0:
        print(f"step {step} elbo {-loss.item():.2f} kl {kl.item():.2f} noise {net.log_noise.exp().item():.3f}")
net.eval()
print("rmse %.2f" % nn.functional.mse_loss(net(x), y).sqrt().item())
mixture = dist.MixtureSameFamily(
    dist.Categorical(logits=torch.tensor([0.0, 1.0])), Normal(torch.tensor([-1.0, 2.0]), torch.tensor([0.5, 1.0]))
)
print(f"{mixture.log_prob(torch.tensor(0.5)).item():.5f} {mixture.mean.item():.5f} {mixture.variance.item():.5f}")
mvn = dist.MultivariateNormal(torch.zeros(2), covariance_matrix=torch.tensor([[2.0, 0.5], [0.5, 1.0]]))
print(f"{mvn.log_prob(torch.ones(2)).item():.5f} {mvn.entropy().item():.5f}")
log_normal = dist.TransformedDistribution(Normal(0.0, 1.0), [dist.transforms.ExpTransform()])
print(f"{log_normal.log_prob(torch.tensor(math.e)).item():.5f}")
beta, gamma = dist.Beta(2.0, 3.0), dist.Gamma(torch.tensor([2.0]), torch.tensor([1.5]))
print(f"{beta.mean.item():.3f} {gamma.entropy().item():.4f} {dist.Poisson(3.0).log_prob(torch.tensor(2.0)).item():.4f}")
