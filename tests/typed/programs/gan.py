import argparse
import os
import tempfile
from pathlib import Path
import tracegrad as torch
import tracegrad.nn as nn
import tracegrad.nn.parallel
import tracegrad.optim as optim
import tracegrad.utils.data
from tracegrad.autograd import Variable

parser = argparse.ArgumentParser()
parser.add_argument("--nz", type=int, default=8)
opt = parser.parse_args([])
cuda = torch.cuda.is_available()
Tensor = torch.cuda.FloatTensor if cuda else torch.FloatTensor
device = torch.device("cuda:0" if cuda else "cpu")


def weights_init(m: nn.Module) -> None:
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        torch.nn.init.normal_(m.weight, 0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        m.weight.data.normal_(1.0, 0.02)
        m.bias.data.fill_(0)


class G(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(opt.nz, 4, 4, 1, 0, bias=False), nn.BatchNorm2d(4), nn.ReLU(True), nn.Tanh()
        )

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.main(z)


class D(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(4, 1, kernel_size=(4, 4), stride=(1, 1), padding="valid"),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Flatten(),
            nn.Sigmoid(),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.main(x).view(-1, 1).squeeze(1)


g, d = G().to(device), D().to(device)
g.apply(weights_init)
d.apply(weights_init)
criterion = nn.BCELoss()
optD = optim.Adam(d.parameters(), lr=2e-4, betas=(0.5, 0.999))
optG = optim.Adam(g.parameters(), lr=2e-4, betas=(0.5, 0.999))
fixed = torch.randn(4, opt.nz, 1, 1, device=device)
label = torch.full((4,), 1.0, dtype=torch.float, device=device)
real = Variable(torch.randn(4, 4, 4, 4))
errD = criterion(d(real), label) + criterion(d(g(fixed).detach()), label * 0.0)
errD.backward()
optD.step()
optG.zero_grad()
errG = criterion(d(g(fixed)), label)
errG.backward()
optG.step()
valid = Variable(Tensor(4, 1).fill_(1.0), requires_grad=False)
print("%.4f %.4f" % (errD.item(), errG.item()))
path = Path(tempfile.mkdtemp()) / "generator.pth"
torch.save(g.state_dict(), path)
torch.save({"epoch": 1, "model": g.state_dict(), "opt": optG.state_dict()}, str(path))
checkpoint = torch.load(path, map_location=device, weights_only=True)
g.load_state_dict(checkpoint["model"])
missing, unexpected = g.load_state_dict(checkpoint["model"], strict=False)
os.remove(path)
