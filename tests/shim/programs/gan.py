"""Two networks against each other, old style: FloatTensor, Variable, volatile-free, spectral norm, BCE labels."""

from __future__ import print_function

import itertools

import numpy as np
import torch
import torch.nn as nn
import torch.nn.parallel
import torch.backends.cudnn as cudnn
import torch.optim as optim
from torch.autograd import Variable
from torch.nn.utils import spectral_norm

manualSeed = 999
np.random.seed(manualSeed)
torch.manual_seed(manualSeed)
cudnn.benchmark = True
Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor
nz, batch = 8, 32


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Linear") != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.15)
        nn.init.constant_(m.bias.data, 0)


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()

        def block(in_feat, out_feat, normalize=True):
            layers = [nn.Linear(in_feat, out_feat)]
            if normalize:
                layers.append(nn.BatchNorm1d(out_feat, 0.8))
            layers.append(nn.LeakyReLU(0.2, inplace=True))
            return layers

        self.model = nn.Sequential(*block(nz, 16, normalize=False), *block(16, 32), nn.Linear(32, 2))

    def forward(self, z):
        return self.model(z)


class Discriminator(nn.Module):
    def __init__(self):
        super(Discriminator, self).__init__()
        self.model = nn.Sequential(
            spectral_norm(nn.Linear(2, 32)),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Linear(32, 32),
            nn.Tanh(),
            nn.Linear(32, 1),
            nn.Sigmoid(),
        )

    def forward(self, x):
        return self.model(x).squeeze(1)


def ring(count):
    angle = np.random.uniform(0, 2 * np.pi, count)
    return np.stack([np.cos(angle), np.sin(angle)], 1).astype(np.float32)


netG, netD = Generator(), Discriminator()
netG.apply(weights_init)
criterion = nn.BCELoss()
optimizerD = optim.Adam(netD.parameters(), lr=0.002, betas=(0.5, 0.999))
optimizerG = optim.RMSprop(itertools.chain(netG.parameters()), lr=0.001)
fixed = Variable(Tensor(np.random.normal(0, 1, (16, nz))))
for i in range(40):
    valid = Variable(Tensor(batch).fill_(1.0), requires_grad=False)
    fake_label = Variable(Tensor(batch).fill_(0.0), requires_grad=False)
    real = Variable(torch.from_numpy(ring(batch)).type(Tensor))
    netD.zero_grad()
    errD_real = criterion(netD(real), valid)
    errD_real.backward()
    z = Variable(Tensor(np.random.normal(0, 1, (batch, nz))))
    fake = netG(z)
    output = netD(fake.detach())
    errD_fake = criterion(output, fake_label)
    errD_fake.backward()
    D_G_z1 = output.mean().item()
    optimizerD.step()
    netG.zero_grad()
    errG = criterion(netD(fake), valid)
    errG.backward()
    optimizerG.step()
    if i % 10 == 0:
        errD = errD_real + errD_fake
        print("[%d/40] Loss_D: %.3f Loss_G: %.3f D(G(z)): %.3f" % (i, errD.item(), errG.item(), D_G_z1))
netG.eval()
print(netG(fixed).detach().cpu().numpy().shape)
