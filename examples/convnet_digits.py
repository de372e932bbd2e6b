"""A convolutional network that reads handwritten digits.

python examples/convnet_digits.py [--steps N] [--eager] [--picture FILE]

The data are scikit-learn's bundled 8x8 images; the picture shows test images with what was read, errors in red.
"""

import sys

import runner
from sklearn.datasets import load_digits

import tracegrad as torch
from tracegrad import nn
from tracegrad.nn import functional as F
from tracegrad.utils.data import DataLoader, TensorDataset

BATCH = 64
TEST_IMAGES = 360


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.norm1 = nn.BatchNorm2d(16)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.norm2 = nn.BatchNorm2d(32)
        self.dropout = nn.Dropout(0.25)
        self.classify = nn.Linear(32 * 2 * 2, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm1(self.conv1(x))), 2)
        x = F.max_pool2d(F.relu(self.norm2(self.conv2(x))), 2)
        return self.classify(self.dropout(x.flatten(1)))


def load_data():
    """Training images and labels, test images and labels; pixels scaled to [0, 1]."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target, dtype=torch.int64)
    order = torch.randperm(len(images))
    test, rest = order[:TEST_IMAGES], order[TEST_IMAGES:]
    return images[rest], labels[rest], images[test], labels[test]


def train(steps, compiled, report):
    torch.manual_seed(0)
    images, labels, test_images, test_labels = load_data()
    loader = DataLoader(TensorDataset(images, labels), batch_size=BATCH, shuffle=True, drop_last=True)
    model = ConvNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=steps + 1)

    def train_step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    step = torch.compile(train_step) if compiled else train_step
    done = 0
    while done < steps:
        for x, y in loader:
            report(step(x, y).item())
            scheduler.step()
            done += 1
            if done == steps:
                break

    model.eval()
    with torch.no_grad():
        read = model(test_images).argmax(dim=1)
    print(f"test accuracy {(read == test_labels).float().mean().item():.4f}")
    return test_images, test_labels, read


def draw(figure, trained):
    images, labels, read = trained
    first_errors = (read == labels).to(torch.int64).argsort(stable=True)
    for place, axes in enumerate(figure.subplots(4, 10).flat):
        i = first_errors[place].item()
        axes.imshow(images[i, 0].numpy(), cmap="gray_r")
        axes.set_title(str(read[i].item()), size=8, color="black" if read[i] == labels[i] else "red")
        axes.axis("off")


if __name__ == "__main__":
    sys.exit(runner.main(train, draw, steps=300))
