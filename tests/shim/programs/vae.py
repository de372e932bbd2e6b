"""A variational autoencoder with transposed convolutions and an average of its weights."""

import copy

import torch
import torch.nn.functional as F
import torch.utils.data
from torch import nn, optim


class VAE(nn.Module):
    def __init__(self, latent=3):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 8, 4, stride=2, padding=1),
            nn.ELU(),
            nn.Conv2d(8, 16, 4, stride=2, padding=1),
            nn.ELU(),
            nn.Flatten(),
        )
        self.mu, self.logvar = nn.Linear(64, latent), nn.Linear(64, latent)
        self.up = nn.Linear(latent, 64)
        self.decoder = nn.Sequential(
            nn.Unflatten(1, (16, 2, 2)),
            nn.ConvTranspose2d(16, 8, 4, stride=2, padding=1),
            nn.ELU(),
            nn.ConvTranspose2d(8, 1, 4, stride=2, padding=1),
        )

    def encode(self, x):
        h = self.encoder(x)
        return self.mu(h), self.logvar(h)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        return torch.sigmoid(self.decoder(F.softplus(self.up(z))))

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x, reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD, BCE.detach(), KLD.detach()


class EMA:
    def __init__(self, model, decay):
        self.shadow, self.decay = copy.deepcopy(model).eval(), decay
        for p in self.shadow.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for ours, theirs in zip(self.shadow.parameters(), model.parameters()):
            ours.mul_(self.decay).add_(theirs, alpha=1 - self.decay)


def shapes(count):
    x = torch.zeros(count, 1, 8, 8)
    place = torch.randint(0, 4, (count, 2))
    for i in range(count):
        a, b = place[i]
        x[i, 0, a : a + 4, b : b + 4] = 1.0
    return x


torch.manual_seed(1)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
loader = torch.utils.data.DataLoader(shapes(192), batch_size=32, shuffle=True)
model = VAE().to(device)
ema = EMA(model, 0.9)
optimizer = optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(1, 5):
    model.train()
    train_loss = kl = 0
    for data in loader:
        data = data.to(device)
        optimizer.zero_grad()
        recon, mu, logvar = model(data)
        loss, _, kld = loss_function(recon, data, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        kl += kld.item()
        optimizer.step()
        ema.update(model)
    print("====> Epoch: {} Average loss: {:.3f} KL {:.2f}".format(epoch, train_loss / 192, kl / 192))
with torch.no_grad():
    sample = ema.shadow.decode(torch.randn(4, 3)).cpu()
    print(tuple(sample.shape), bool((sample >= 0).all() and (sample <= 1).all()))
