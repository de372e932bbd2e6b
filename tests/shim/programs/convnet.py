"""A convolutional network with residual blocks, checkpoints in files, label smoothing, warm-up by hand."""

import os
import tempfile
from collections import OrderedDict

import torch
from torch import nn
from torch.nn.modules.conv import _ConvNd
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class BasicBlock(nn.Module):
    expansion = 1

    def __init__(self, in_planes, planes, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(in_planes, planes, kernel_size=3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, stride=1, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.shortcut = nn.Sequential()
        if stride != 1 or in_planes != planes:
            self.shortcut = nn.Sequential(
                nn.Conv2d(in_planes, planes, kernel_size=1, stride=stride, bias=False), nn.BatchNorm2d(planes)
            )

    def forward(self, x):
        out = torch.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += self.shortcut(x)
        return torch.relu(out)


class Net(nn.Module):
    def __init__(self, classes=4):
        super().__init__()
        self.stem = nn.Sequential(OrderedDict(conv=nn.Conv2d(1, 8, 3, padding=1), act=nn.ReLU(inplace=True)))
        self.blocks = nn.Sequential(BasicBlock(8, 8), BasicBlock(8, 16, stride=2))
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.head = nn.Linear(16, classes)
        for m in self.modules():
            if isinstance(m, _ConvNd):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.constant_(m.weight, 1)
                nn.init.constant_(m.bias, 0)

    def forward(self, x):
        x = self.pool(self.blocks(self.stem(x)))
        return self.head(x.view(x.size(0), -1))


def pictures(count):
    y = torch.randint(0, 4, (count,))
    x = torch.randn(count, 1, 12, 12) * 0.5
    for i, label in enumerate(y.tolist()):
        x[i, 0, 3 * label : 3 * label + 3, 2:10] += 1.0
    return TensorDataset(x, y)


def adjust_learning_rate(optimizer, epoch, lr):
    lr = lr * (epoch + 1) / 2 if epoch < 2 else lr * (0.1 ** (epoch // 3))
    for group in optimizer.param_groups:
        group["lr"] = lr
    return lr


train_loader = DataLoader(pictures(160), batch_size=16, shuffle=True, num_workers=0)
x_test, y_test = pictures(40)[:]
model = Net()
print(sum(p.numel() for p in model.parameters() if p.requires_grad), "parameters")
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4, nesterov=True)
folder = tempfile.mkdtemp()
best = 0.0
for epoch in range(3):
    lr = adjust_learning_rate(optimizer, epoch, 0.05)
    model.train()
    total = 0.0
    for images, labels in train_loader:
        outputs = model(images)
        loss = criterion(outputs, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.item() * images.size(0)
    model.eval()
    with torch.no_grad():
        outputs = model(x_test)
        _, predicted = torch.max(outputs.data, 1)
        accuracy = 100.0 * (predicted == y_test).sum().item() / y_test.size(0)
    print(f"epoch {epoch} lr {lr:.4f} loss {total / 160:.3f} accuracy {accuracy:.1f}")
    if accuracy >= best:
        best = accuracy
        state = {"epoch": epoch, "model": model.state_dict(), "optimizer": optimizer.state_dict(), "best": best}
        torch.save(state, os.path.join(folder, "best.pt"))
checkpoint = torch.load(os.path.join(folder, "best.pt"))
again = Net()
print(again.load_state_dict(checkpoint["model"]))
again.eval()
with torch.no_grad():
    print("restored", torch.allclose(again(x_test), model(x_test)), checkpoint["epoch"], checkpoint["best"] == best)
