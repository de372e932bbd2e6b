"""Draws whose numbers are stored. Each expression runs after `manual_seed(42)`; a tuple is a sequence of draws."""

EXPRESSIONS = [
    "tg.rand(5)",
    "tg.rand(700)",
    "tg.rand(3, 4, dtype=tg.float64)",
    "tg.rand(())",
    "tg.rand_like(tg.zeros(2, 3))",
    "tg.randn(7)",
    "tg.randn(15)",
    "tg.randn(16)",
    "tg.randn(17)",
    "tg.randn(40)",
    "tg.randn(32, 8)",
    "tg.randn(())",
    "tg.randn(1)",
    "tg.randn(5, dtype=tg.float64)",
    "tg.randn(33, dtype=tg.float64)",
    "tg.randn_like(tg.zeros(4, 5))",
    "tg.randint(10, (20,))",
    "tg.randint(-5, 5, (3, 4))",
    "tg.randint(0, 2**40, (6,))",
    "tg.randint(0, 7, (5,), dtype=tg.int32)",
    "tg.randint_like(tg.zeros(6), 100)",
    "tg.randperm(1)",
    "tg.randperm(10)",
    "tg.randperm(100)",
    "tg.bernoulli(tg.full((20,), 0.3))",
    "tg.bernoulli(tg.linspace(0, 1, 11))",
    "tg.empty(20).bernoulli_(0.7)",
    "tg.empty(9).uniform_()",
    "tg.empty(9).uniform_(-2, 3)",
    "tg.empty(9, dtype=tg.float64).uniform_(-2, 3)",
    "tg.empty(9).normal_()",
    "tg.empty(20).normal_(2, 0.5)",
    "tg.normal(0.0, 1.0, (20,))",
    "tg.normal(1.0, 2.0, (3,))",
    "tg.normal(tg.zeros(3), tg.tensor([1.0, 2.0, 3.0]))",
    "tg.empty(8).exponential_()",
    "tg.multinomial(tg.tensor([0.1, 0.2, 0.7]), 20, replacement=True)",
    "tg.multinomial(tg.tensor([[1.0, 1.0, 2.0], [0.0, 1.0, 0.0]]), 5, replacement=True)",
    "tg.multinomial(tg.tensor([0.1, 0.2, 0.7]), 1)",
    "tg.multinomial(tg.ones(4, 6), 1)",
    "tg.multinomial(tg.tensor([1.0, 2.0, 3.0, 4.0]), 3)",
    "F.dropout(tg.ones(30))",
    "F.dropout(tg.ones(4, 10), 0.2)",
    "nn.Dropout(0.9)(tg.ones(30))",
    "F.dropout(tg.ones(20), 0.0)",
    "F.dropout(tg.ones(20), 1.0)",
    "(nn.Linear(3, 2).weight, nn.Linear(3, 2).bias)",
    "nn.Linear(64, 10).weight",
    "nn.Linear(5, 4, bias=False).weight",
    "nn.Embedding(5, 4).weight",
    "nn.Embedding(3, 2, padding_idx=1).weight",
    "nn.init.xavier_uniform_(tg.empty(3, 4))",
    "nn.init.xavier_normal_(tg.empty(3, 4))",
    "nn.init.kaiming_uniform_(tg.empty(3, 4))",
    "nn.init.kaiming_normal_(tg.empty(4, 5), nonlinearity='relu')",
    "nn.init.normal_(tg.empty(3, 4), 0.0, 0.02)",
    "nn.init.uniform_(tg.empty(3, 4), -0.1, 0.1)",
    # sequences: what a draw leaves behind
    "(tg.rand(3), tg.randn(3), tg.rand(3))",
    "(tg.randn(1), tg.randn(1), tg.randn(1))",
    "(tg.randn(3), tg.rand(1), tg.randn(2))",
    "(tg.randn(3), tg.randn(20), tg.randn(1))",
    "(tg.randperm(5), tg.randint(10, (3,)), tg.rand(2))",
    "(tg.randn(5, dtype=tg.float64), tg.randn(2), tg.rand(1))",
    "(tg.rand(623), tg.rand(3), tg.rand(1, dtype=tg.float64))",
    "(F.dropout(tg.ones(8)), tg.rand(2), F.dropout(tg.ones(8), 0.1))",
    "(tg.randn(17), tg.rand(1))",
    "(tg.rand(0), tg.randn(0), tg.rand(1))",
    "(tg.bernoulli(tg.ones(3) / 2), tg.rand(1))",
    "(tg.randperm(1), tg.rand(1))",
    "(tg.multinomial(tg.ones(3), 4, replacement=True), tg.rand(1))",
    "(tg.randn(3), tg.manual_seed(1) and tg.randn(1))",
]
SEEDS = [0, 1, 2**31, 2**32 - 1, 2**32, 123456789012345, -1]


def draw(tg, expression, seed=42):
    """The drawn tensors, as a tuple."""
    tg.manual_seed(seed)
    drawn = eval(expression, {"tg": tg, "F": tg.nn.functional, "nn": tg.nn})
    return drawn if isinstance(drawn, tuple) else (drawn,)


def make(tg):
    stored = {
        f"{expression}|{i}": tensor.detach().numpy()
        for expression in EXPRESSIONS
        for i, tensor in enumerate(draw(tg, expression))
    }
    return stored | {f"seed {seed}": draw(tg, "tg.rand(4)", seed)[0].numpy() for seed in SEEDS}
