"""Matrix factorisation: unknown entries of a table from a few known ones, as recommenders do it.

python examples/matrix_factorisation.py [--steps N] [--eager] [--picture FILE]

The table holds scikit-learn's digits, an image to a row and a pixel to a column, of which only half are known. Rows
and columns get vectors, whose products are the entries. The picture shows images, what is known of them, and the
reconstruction.
"""

import sys

import runner
from sklearn.datasets import load_digits

import tracegrad as torch
from tracegrad import nn

FACTORS = 12
BATCH = 4096
KNOWN = 0.5


class Factors(nn.Module):
    """Entries of the table from the numbers of their rows and columns."""

    def __init__(self, rows, columns):
        super().__init__()
        self.row, self.column = nn.Embedding(rows, FACTORS), nn.Embedding(columns, FACTORS)
        self.column_mean = nn.Embedding(columns, 1)
        for table in (self.row, self.column, self.column_mean):
            nn.init.normal_(table.weight, std=0.1)

    def forward(self, row, column):
        return (self.row(row) * self.column(column)).sum(dim=1) + self.column_mean(column).squeeze(1)

    def table(self):
        return self.row.weight @ self.column.weight.T + self.column_mean.weight.T


def train(steps, compiled, report):
    torch.manual_seed(0)
    table = torch.tensor(load_digits().data, dtype=torch.float32) / 16
    known = torch.rand(table.shape) < KNOWN
    rows, columns = known.nonzero(as_tuple=True)
    entries = table[rows, columns]
    model = Factors(*table.shape)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    def train_step(row, column, entry):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(row, column), entry)
        penalty = 0.1 * (model.row(row).pow(2).mean() + model.column(column).pow(2).mean())
        (loss + penalty).backward()
        optimizer.step()
        return loss

    step = torch.compile(train_step) if compiled else train_step
    for _ in range(steps):
        chosen = torch.randint(len(entries), (BATCH,))
        report(step(rows[chosen], columns[chosen], entries[chosen]).item())

    with torch.no_grad():
        rebuilt = model.table()
    error = (rebuilt - table)[~known].pow(2).mean().sqrt().item()
    print(f"unknown pixels: error {error:.3f}, {table[~known].std().item():.3f} by guessing the mean")
    return table, known, rebuilt


def draw(figure, trained):
    table, known, rebuilt = trained
    shown = [table, table.masked_fill(~known, float("nan")), rebuilt]
    for axes_of_row, images, title in zip(figure.subplots(3, 10), shown, ["image", "known", "rebuilt"], strict=True):
        axes_of_row[0].set_ylabel(title)
        for i, axes in enumerate(axes_of_row):
            axes.imshow(images[i].view(8, 8).numpy(), cmap="gray_r", vmin=0, vmax=1)
            axes.set(xticks=[], yticks=[], facecolor="lightblue")


if __name__ == "__main__":
    sys.exit(runner.main(train, draw, steps=1500))
