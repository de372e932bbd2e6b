"""Facts that the step itself makes: what it stores in attributes, variables and containers outside.

As in facts.py.
"""

from __future__ import annotations

from .objects import Kind

STORED = """
class Keeping(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(2, 2)
        self.out, self.state, self.last, self.mean = None, None, 0, tg.zeros(())

    def forward(self, p):
        before = 0.0 if self.state is None else self.state
        out = (self.mix(p) + before).tanh()
        self.out, self.mean = out, out.mean()
        self.state = out.detach().mean(0)
        return out
class Slate:
    row = None

    def keep(self, p):
        self.row = p * 2
        return p
keeping, inner_keeping, slate = Keeping(), nn.Sequential(Keeping(), nn.Linear(2, 2)), Slate()
kin, carried = tg.randn(3, 2), tg.zeros(2)
"""[1:-1]
STRUCTURES = """
Pair = collections.namedtuple('Pair', 'h c')
class Carrying(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTM(2, 2)
        self.hidden, self.seen, self.calls, self.factor = None, [], 0, 1.0

    def forward(self, p):
        out, hidden = self.cell(p, self.hidden)
        self.hidden = tuple(part.detach() for part in hidden)
        self.seen = [out, (p, out.detach().mean(0))]
        return out * self.factor
class Sack:
    held = None
carrying, sack, book, shelf = Carrying(), Sack(), {'a': tg.zeros(2), 'n': 1}, [tg.zeros(2), tg.ones(2)]
box = {'inner': {'t': tg.zeros(2)}}
sequence = tg.randn(3, 2)
"""[1:-1]

STORES = {
    "stored": Kind(
        STORED,
        "keeping.state = None|keeping.out = 0|keeping.train(i % 2 == 0)|kin = kin[:2] if i == 3 else kin|slate.row = None|keeping.state = tg.ones(2) * i|object.__setattr__(keeping, 'out', i)|keeping.__dict__['last'] = i|inner_keeping[0].state = None|kin = kin * 0.9|carried = carried * 0.5|keeping.zero_grad()|keeping.requires_grad_(i % 2 == 0)|slate = Slate() if i == 2 else slate|inner_keeping[0] = Keeping() if i == 3 else inner_keeping[0]",
        "keeping(kin)|keeping(kin).mean() * {y}|slate.keep({y})|keeping(kin).sum() + keeping.mean|inner_keeping(kin)|inner_keeping(kin).mean() + inner_keeping[0].mean * 0.5|{y} * (2 if slate.row is None else 0.5)|{y} * carried.sum()|{y} * (0.5 if keeping.state is None else keeping.state.sum())|keeping(keeping(kin))|{y} + keeping.mean.detach()",
        ("kin", "carried", "slate"),
        "keeping(kin)|inner_keeping(kin)|slate.keep({y}.detach())|keeping.out = {y}|keeping.last = {y}.detach() * 2|carried = (carried + kin.sum(0)).tanh()|slate.row = {y}|keeping.state = None|keeping.last = 3|inner_keeping[0].state = kin.mean(0)|keeping.out = keeping.last = {y}|keeping.last = kin|keeping.last = kin[0]",
        outcome="keeping.out, keeping.state, keeping.last, keeping.mean, inner_keeping[0].out, inner_keeping[0].state, slate.row, carried, [p.grad for p in keeping.parameters()]",
        steps=(
            "{t} = keeping(kin)\nkeeping.out = {t} * 2",
            "with tg.no_grad():\n    {t} = inner_keeping(kin)",
            "keeping(kin).square().mean().backward()\n{t} = keeping.mean.detach() * 1",
            "for part in kin.split(1):\n    {t} = keeping(part)",
        ),
    ),
    "structures": Kind(
        STRUCTURES,
        "carrying.hidden = None|carrying.hidden = (tg.zeros(1, 2), tg.ones(1, 2) * i)|carrying.seen = []|carrying.seen.append(i)|carrying.calls = i % 3|carrying.factor = 0.5 * (i % 2)"
        "|book.pop('a', None) if i == 3 else None|book['a'] = tg.ones(2) * i|book['n'] = i % 2|book = dict(book)|shelf[0] = tg.ones(2) * i|shelf = shelf[::-1]|shelf.append(tg.zeros(2)) if i == 2 else None"
        "|sack.held = None|sack.held = [sequence]|sack = Sack() if i == 3 else sack|sequence = sequence * 0.9|carrying.requires_grad_(i % 2 == 0)|carrying.train(i % 2 == 0)|book['other'] = shelf",
        "carrying(sequence)|carrying(sequence).mean() * {y}|{y} * book['a'].sum() if 'a' in book else {y}|{y} * (shelf[0] + shelf[-1]).sum()|{y} * (2 if carrying.hidden is None else carrying.hidden[1].sum())"
        "|{y} * len(carrying.seen)|{y} * (carrying.calls + 1)|{y} * (0.5 if sack.held is None else 2)|{y} + carrying.seen[0].sum() if len(carrying.seen) > 1 else {y}|{y} * book['n']|{y} + sum(v.sum() for v in shelf)",
        ("sequence", "book", "shelf", "sack"),
        "carrying(sequence)|carrying.hidden = ({y}.detach().sum() * tg.ones(1, 2), carrying.hidden[1]) if carrying.hidden else None|carrying.seen = [{y}]|carrying.seen = [{y}, sequence, 3, 'a']|carrying.calls += 1"
        "|sack.held = ({y}, {y}.detach())|sack.held = {'y': {y}, 'n': 2}|sack.held = Pair({y}, sequence)|sack.held = [sack.held, {y}]|sack.held = carrying.seen|sack.held = (carrying.hidden, {y})|book['a'] = (book['a'] + {y}.detach().mean()).tanh() if 'a' in book else sequence[0]"
        "|book['a'] = {y}|book['new'] = {y}.detach()|book['pair'] = ({y}.detach(), sequence)|shelf[0] = {y}.detach()|shelf[-1] = shelf[0] * 0.5 + 1|shelf[0], shelf[1] = shelf[1], shelf[0]|box['inner']['t'] = {y}.detach()|book['n'] += 1"
        "|carrying.seen = shelf|carrying.seen = [*shelf, {y}.detach()]|sack.held = collections.OrderedDict(b={y}, a=sequence)|sack.held = collections.deque([{y}], maxlen=2)",
        outcome="carrying.hidden, carrying.seen, carrying.calls, sack.held, book, shelf, box['inner']['t'], sack.held is carrying.seen, carrying.seen is shelf",
        steps=(
            "{t} = carrying(sequence)\nsack.held = [{t}, ({t}.detach(),)]",
            "for part in sequence.split(1):\n    {t} = carrying(part)",
            "carrying(sequence).square().mean().backward()\n{t} = carrying.hidden[0] * 1",
            "new_rows = [sequence * 2]\nsack.held = new_rows\nnew_rows.append(sequence)\n{t} = new_rows[0]",
            "new_rows = sack.held = carrying.seen = [sequence + 1]\n{t} = new_rows[0] * 2",
            "shelf[0] = (shelf[0] + 1).tanh()\n{t} = shelf[0]",
        ),
    ),
}  # fmt: skip
