"""A classifier of noisy pictures: argparse, a Dataset of its own, DataLoader, StepLR, accuracy, early stopping."""

import argparse
import random
import sys

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, Dataset, random_split


class Pictures(Dataset):
    def __init__(self, count, classes=10, transform=None):
        shapes = torch.randn(classes, 1, 8, 8)
        self.targets = torch.randint(0, classes, (count,))
        self.data = shapes[self.targets] + 0.8 * torch.randn(count, 1, 8, 8)
        self.transform = transform

    def __len__(self):
        return len(self.data)

    def __getitem__(self, index):
        picture, target = self.data[index], int(self.targets[index])
        if self.transform is not None:
            picture = self.transform(picture)
        return picture, target


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(64, 64)
        self.bn1 = nn.BatchNorm1d(64)
        self.fc2 = nn.Linear(64, 32)
        self.fc3 = nn.Linear(32, 10)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        x = torch.flatten(x, 1)
        x = F.relu(self.bn1(self.fc1(x)))
        x = self.dropout(x)
        x = F.leaky_relu(self.fc2(x), negative_slope=0.1)
        return F.log_softmax(self.fc3(x), dim=1)


def train(args, model, device, loader, optimizer, epoch):
    model.train()
    for index, (data, target) in enumerate(loader):
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        if index % args.log_interval == 0:
            done = index * len(data)
            print("Train Epoch: {} [{}/{}]\tLoss: {:.4f}".format(epoch, done, len(loader.dataset), loss.item()))


def test(model, device, loader):
    model.eval()
    loss, correct = 0, 0
    with torch.no_grad():
        for data, target in loader:
            data, target = data.to(device), target.to(device)
            output = model(data)
            loss += F.nll_loss(output, target, reduction="sum").item()
            pred = output.argmax(dim=1, keepdim=True)
            correct += pred.eq(target.view_as(pred)).sum().item()
    loss /= len(loader.dataset)
    print(f"Test set: Average loss: {loss:.4f}, Accuracy: {correct}/{len(loader.dataset)}")
    return loss


def main():
    parser = argparse.ArgumentParser(description="pictures")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--gamma", type=float, default=0.7)
    parser.add_argument("--no-cuda", action="store_true", default=False)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--log-interval", type=int, default=4)
    args = parser.parse_args()
    random.seed(args.seed)
    np.random.seed(args.seed)
    torch.manual_seed(args.seed)
    use_cuda = not args.no_cuda and torch.cuda.is_available()
    device = torch.device("cuda" if use_cuda else "cpu")
    whole = Pictures(640, transform=lambda x: (x - 0.1307) / 1.3081)
    train_set, test_set = random_split(whole, [512, 128])
    train_loader = DataLoader(train_set, batch_size=args.batch_size, shuffle=True, drop_last=True)
    test_loader = DataLoader(test_set, batch_size=64)
    model = Net().to(device)
    optimizer = optim.Adadelta(model.parameters(), lr=args.lr * 50)
    scheduler = StepLR(optimizer, step_size=1, gamma=args.gamma)
    best, worse = float("inf"), 0
    for epoch in range(1, args.epochs + 1):
        train(args, model, device, train_loader, optimizer, epoch)
        loss = test(model, device, test_loader)
        scheduler.step()
        print("lr", round(optimizer.param_groups[0]["lr"], 5))
        if loss < best:
            best, worse = loss, 0
        else:
            worse += 1
            if worse == 2:
                print("stopped early")
                sys.exit(0)


if __name__ == "__main__":
    main()
