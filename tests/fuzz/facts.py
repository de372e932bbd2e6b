"""Facts outside of tensors that a step depends on and that change between calls: objects that are compared by identity,
tensors bound anew, starts of slices, what the process tells of itself, methods that are hidden or replaced.

Each program has one or two of these kinds, or none. Two runs of a program must agree, so what a clock or an id says is
compared within the program, and never used as a number.
"""

from __future__ import annotations

from typing import Any

from .author import Author
from .expressions import options
from .habits import HABITS
from .objects import OBJECTS, Kind
from .stores import STORES

ENUM = """
class Color(enum.Enum):
    RED = 0.5
    GREEN = 2
    BLUE = 0.75
mode = Color.RED
"""[1:-1]
HELD = """
held = types.SimpleNamespace()
held.t = tg.randn({s})
held.list = [held.t, tg.randn({s})]
table = {'t': held.list[1]}
"""[1:-1]
GLOBAL = "global SHARED, SHARED_BEFORE\nSHARED = SHARED_BEFORE = tg.randn({s})"
PATCHED = """
class Act(nn.Module):
    factor = 0.5

    def forward(self, p):
        return (p * self.factor).tanh()

class Rule:
    def use(self, p):
        return p * 2

    def __call__(self, p):
        return self.use(p) + 1
act, rule = Act(), Rule()
"""[1:-1]
TAGGED = """
class Tagged(tg.Tensor):
    pass

class Heard(tg.Tensor):
    count = 0

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        Heard.count += 1
        return super().__torch_function__(func, types, args, kwargs)
tagged = tg.randn({s}).as_subclass(Tagged)
heard = tg.randn({s}).as_subclass(Heard)
"""[1:-1]
HIDDEN = "h = tg.full((2,), 0.5)\nlayer = nn.Linear(2, 2)"

KINDS = {
    "enum": Kind(
        ENUM,
        "mode = list(Color)[i % 3]|mode = Color(2) if i % 2 else Color.RED|mode = Color.RED.value if i % 2 else Color.RED",
        "{y} * 2 if mode is Color.RED else {y} * 3 if mode is not Color.GREEN else {y} * 0.25|{y} * (2 if mode in (Color.RED,) else 0.5)"
        "|{y} * {Color.RED: 0.5, Color.GREEN: 2}.get(mode, 0.25)|{y} * (2.0 if mode == Color.GREEN else 0.75)"
        "|{y} * (mode.value if isinstance(mode, Color) else 3)|{y} * (2 if operator.is_not(mode, Color.BLUE) else 1)",
        ("mode",),
    ),
    "tuple": Kind(
        "DEFAULT = (1.5, 2)\npair = DEFAULT",
        "pair = (DEFAULT, tuple([1.5, 2]), (1.5, 3))[i % 3]|pair = DEFAULT if i % 2 else (i + 0.5, 2)|pair = (1.5, 2.0) if i % 2 else DEFAULT",
        "{y} * (0.5 if pair is DEFAULT else pair[0])|{y} * (2 if pair == DEFAULT else 3)|{y} * (2 if pair is not DEFAULT else 0.5)"
        "|{y} * sum(pair)|{y} * (2 if pair[1] is DEFAULT[1] else 3)|{y} * (2 if type(pair[1]) is int else 0.5)"
        "|{y} * (0.5 if any(p is DEFAULT for p in [pair]) else 1)|{y} * (0.5 if DEFAULT in (pair, ()) else 1)",
        ("pair",),
    ),
    "string": Kind(
        "KIND = 'mean'\nkind = KIND",
        "kind = ('mean', 'sum', ''.join(['me', 'an']))[i % 3]|kind = ''.join(['me', 'an']) if i % 2 else KIND",
        "getattr({y}, kind)()|{y} * (2 if kind is KIND else 0.5)|{y} * (2 if kind == KIND else 0.5)|{y} * len(kind)",
        ("kind",),
    ),
    "number": Kind(
        "signed = 0.5",
        "signed = -0.0 if i % 2 else 0.0|signed = float('nan') if i % 3 == 2 else 0.5|signed = (0.0, -0.0, 0, False, 0.5)[i % 5]"
        "|signed = float('inf') if i == 3 else 1.5|signed = (1, 1.0, True)[i % 3]|signed = math.nan if i % 2 else -0.0",
        "{y} * math.copysign(0.5, signed)|{y} * (0.5 if signed != signed else 2)|{y} + math.atan2(signed, -1.0)|{y} * (2 if str(signed) == '-0.0' else 1)"
        "|{y} * (1.0 if math.isnan(signed) else 2.0)|{y} * signed|tg.atan2({y} * signed, tg.full_like({y}, -1.0))|{y} * (2 if signed else 0.5)"
        "|{y} * (1 if type(signed) is bool else 2)|{y} * max(signed, 0.25)|{y} * (2 if signed in (0.0, 1.5) else 3)|tg.full_like({y}, signed)"
        "|{y}.clamp(min=signed)|{y} * (2 if signed is math.nan else 3)|{y} + signed",
        ("signed",),
    ),
    "held": Kind(
        HELD,
        "held.t = held.list[i % 2]|table['t'] = held.list[i % 2] * 0.5|held.list[0] = held.list[0] * 0.9|held.t = held.t.clone()"
        "|held.list.reverse()|held.t, table['t'] = table['t'], held.t|held.t = None if i == 3 else held.list[0]|held.list[0].mul_(0.9)"
        "|table['t'] = held.t[...] if held.t is not None else table['t']|held.t = held.list[0].detach() if i % 2 else held.list[0]|held.list[i % 2] = held.list[0]"
        "|held.t = (held.list[0] * 1).requires_grad_() if i == 2 else held.list[0]|table['t'] = held.list[1].double() if i == 3 else held.list[1]",
        "{y} * held.t.sum()|{y} + table['t'].mean()|held.list[0] * 1|held.t + 1|{y} * 2 if held.t is held.list[0] else {y}|table['t'].view(-1)"
        "|{y} if held.t is None else held.t * 2|{y} * len([t for t in held.list if t is held.t])|held.t|sum(t.mean() for t in held.list) * {y}"
        "|{y} * (2 if table['t'] is held.list[1] else 0.5)|table['t'] * held.t",
        writes="held.t = held.list[1]|table['t'] = {y}.detach()|held.list[0] = held.list[0] * 0.5|table['t'] = table['t'] + 1|held.list.append(held.list.pop(0))",
        outcome="held.t, held.list, table",
    ),
    "global": Kind(
        GLOBAL,
        "globals()['SHARED'] = SHARED * 0.9|globals()['SHARED'] = tg.ones_like(SHARED) if i % 2 else SHARED_BEFORE|globals()['SHARED'] = SHARED[...]"
        "|globals()['SHARED'] = SHARED_BEFORE.clone() if i % 2 else SHARED_BEFORE|SHARED.add_(0.25)|globals()['SHARED'] = SHARED_BEFORE.detach() if i == 2 else SHARED",
        "{y} * SHARED.mean()|SHARED * 2|SHARED.reshape(-1)|{y} * (2 if SHARED is SHARED_BEFORE else 0.5)|SHARED + SHARED_BEFORE|SHARED",
        outcome="SHARED",
    ),
    "start": Kind(
        "data = tg.randn(7, 3)\nstart = 0",
        "start = i % 4|start = (i * 2) % 5|start = 3 - i % 4|start = i // 2|start = (0, 3, 3, 1, 0)[i % 5]",
        "data[start:start + 2] * 1|data[start:start + 2]|data.narrow(0, start, 2)|data[start]|data[:, :start % 3 + 1]|data.roll(start, 0)|data.select(0, start)"
        "|{y} * data[start, 0]|data[start:] * 1|data[-start - 1]|data[start::2].sum() * {y}|data.index_select(0, tg.tensor([start]))|data[[start, 0]]"
        "|{y} + data[start:start + 1].mean()|data[start:start + 2, start % 2:]|data.unbind(0)[start]|data.split(2)[start // 2]|data[:, start % 3]|data.t()[:, start]"
        "|data[start:start + 2].t()|data[tg.tensor(start)]",
        ("start",),
        "data[start] = 0.25|data[start:start + 2].mul_(0.5)|data[start] += 1|data[start] = {y}.detach().mean()|data[start:start + 1] = data[start + 1:start + 2]|data[start:start + 2] *= 0.5",
        outcome="data",
    ),
    "clock": Kind(
        "then = time.perf_counter()",
        "then = time.perf_counter()",
        "{y} * (2.0 if time.perf_counter() >= then else 5.0)|{y} if time.perf_counter() - then >= 0 else {y} * 3",
        ("then",),
    ),
    "environment": Kind(
        "os.environ['FUZZED'] = '1'",
        "os.environ['FUZZED'] = str(i % 3)|os.environ['FUZZED'] = 'one' if i == 2 else '1'|os.environ.update(FUZZED=str(0.5 * i))",
        "{y} * float(os.environ.get('FUZZED', 1))|{y} * float(os.getenv('FUZZED', '2'))|{y} * (2 if os.environ.get('FUZZED') == '1' else 0.5)|{y} * len(os.environ['FUZZED'])",
    ),
    "identity": Kind(
        "things = [object(), object()]\nthing = things[0]\nident = 0",
        "thing = things[i % 2]|ident = threading.get_ident() if i % 2 else 0|thing = object() if i % 3 == 1 else things[0]|ident = id(things[i % 2])",
        "{y} * (2.0 if id(thing) == id(things[0]) else 0.5)|{y} * (2.0 if threading.get_ident() == ident else 0.5)|{y} * (2 if thing in things else 3)"
        "|{y} * (2 if hash(thing) == hash(things[0]) else 3)|{y} * (2 if id(things[0]) == ident else 3)|{y} * (2 if thing is things[1] else 3)",
        ("thing", "ident"),
    ),
    "process": Kind(
        "sys.argv[:] = ['fuzz']\nrandom.seed(0)\nnp.random.seed(0)",
        "sys.argv[:] = ['fuzz'] * (i % 3 + 1)|sys.setrecursionlimit(3000 + i % 2)|random.seed(i)|np.random.seed(i % 2)|sys.argv[-1] = str(i % 2)|tg.set_printoptions(precision=3 + i % 2)",
        "{y} * (0.5 * len(sys.argv))|{y} * (sys.getrecursionlimit() % 2 + 0.5)|{y} * random.random()|{y} * (2 if sys.argv[-1] == '1' else 1)|{y} * float(np.random.rand())"
        "|{y} * len(repr(tg.tensor(0.123456)))|{y} * np.random.rand()|{y} * random.choice([0.5, 2])",
    ),
    "hidden": Kind(
        HIDDEN,
        "if i == 2:\n    h.sin = lambda: h * 0.25|if i == 2:\n    layer.forward = lambda p: p * 0.5\nif i == 4:\n    del layer.forward|h.sin = (lambda: h * i)|h.label_ = i % 2"
        "|layer.factor = 0.5 * i|if i == 3:\n    layer.weight.sum = lambda: tg.tensor(2.0)",
        "{y} * h.sin().sum()|h.sin()|layer(h) * 1|{y} + layer(h).mean()|{y} * layer.weight.sum()|{y} * getattr(h, 'label_', 0.5)|{y} * getattr(layer, 'factor', 2)",
        outcome="h, layer.state_dict()",
    ),
    "subclass": Kind(
        TAGGED,
        "tagged = (tagged * 0.5).as_subclass(Tagged)|tagged = tagged.as_subclass(tg.Tensor) if i % 2 else tagged.as_subclass(Tagged)|tagged.mul_(0.9)|heard = heard.as_subclass(Tagged) if i == 3 else heard"
        "|tagged = tagged.detach().requires_grad_()|tagged.note = i|Tagged.scale = 0.5 + i % 2",
        "{y} * tagged.mean()|tagged * 2|{y}.as_subclass(Tagged) * 2|tg.add({y}, tagged.sum())|tagged|{y} * (2 if isinstance(tagged, Tagged) else 0.5)|F.relu(tagged - 0.2173)"
        "|tagged.as_subclass(tg.Tensor) * {y}.mean()|tg.cat([tagged.reshape(-1), {y}.reshape(-1)])|tagged.T|Tagged([0.5, 1.5]) * {y}.mean()|{y}.detach().as_subclass(Tagged)|tagged.detach()"
        "|heard * {y}.mean()|{y} * (1 + Heard.count % 3)|heard.sum() + {y}|{y} * len(type(tagged).__name__)|tg.zeros_like(tagged) + 0.5|{y} * getattr(tagged, 'note', 0.5)|{y} * getattr(Tagged, 'scale', 2)"
        "|nn.functional.mse_loss(tagged, tagged * 0.5)|tagged.softmax(0) if tagged.ndim else tagged|heard[..., None]|tagged.clone().add_({y}.mean())|Tagged(heard.detach())",
        ("tagged", "heard"),
        "tagged.mul_(0.5)|tagged[...] = 0.5|heard.add_(0.25)|tagged.copy_(tagged * 0.5)|tagged.zero_()",
        outcome="tagged, heard",  # how often it is asked depends on the interpreter, which notes the largest number here
    ),
    "hidden step": Kind(
        "",
        "if i == 2:\n    opt.step = lambda closure=None: None\nif i == 4:\n    del opt.step|if i == 2:\n    opt.zero_grad = lambda set_to_none=True: None"
        "|if i == 1:\n    opt.step = (lambda step: lambda: (step(), step())[0])(opt.step)|if i == 2:\n    opt.zero_grad = lambda *args: [p.grad.zero_() for g in opt.param_groups for p in g['params'] if p.grad is not None]",
        "{y} * (0.5 if 'step' in vars(opt) else 1)",
        needs_optimizer=True,
    ),
    "patched": Kind(
        PATCHED,
        "if i == 2:\n    Act.forward = lambda self, p: p * 0.25|Act.factor = 0.5 + 0.25 * (i % 2)|if i == 2:\n    Act.__call__ = lambda self, p: p * 2|if i == 3:\n    Act.extra = 1"
        "|if i == 2:\n    Rule.use = lambda self, p: p * 0.5|if i == 2:\n    Rule.__call__ = lambda self, p: p - 1|rule.use = (lambda p: p * i)|if i == 2:\n    Act.__getattr__ = lambda self, name: 0.5"
        "|if i == 1:\n    rule.__class__ = type('Other', (Rule,), {'use': lambda self, p: p})|act.factor = 0.25 * i|if i == 3:\n    del Act.forward",
        "act({y})|rule({y})|rule.use({y})|{y} * act.factor|{y} * getattr(Act, 'extra', 0.5)|{y} * (2 if type(rule) is Rule else 0.5)",
    ),
    **OBJECTS,
    **STORES,
    **HABITS,
}  # fmt: skip


def add_facts(a: Author, parts: Any) -> None:
    """Set up what the program is to depend on."""
    if not a.chance(0.8):
        return
    for name in a.rng.sample(sorted(KINDS), a.choice([1, 1, 2, 3])):
        if parts.optimizer or not KINDS[name].needs_optimizer:
            _add(a, parts, KINDS[name])


def _add(a: Author, parts: Any, kind: Kind) -> None:
    if kind.setup and not a.run(kind.setup.replace("{s}", str(a.shape()))):
        return
    parts.cells += kind.cells
    a.cells += kind.cells
    for _ in range(a.choice([1, 1, 2])):
        parts.changing += a.choice(kind.before.split("|")).split("\n")
    parts.outcomes += [f"({kind.outcome},)"] if kind.outcome else []
    a.facts += [*options(kind.reads), *kind.steps]
    a.deeds += options(kind.writes) if kind.writes else []


def read(a: Author) -> bool:
    """A tensor that depends on such a fact."""
    y = a.floating()
    if y is None:
        return False
    text = a.choice(a.facts).replace("{y}", y)
    return (a.bind(text) if "{t}" in text else a.assign(text)) is not None


def write(a: Author) -> bool:
    """The step itself changes such a fact."""
    y = a.floating()
    return bool(a.deeds) and y is not None and a.run(a.choice(a.deeds).replace("{y}", y))


FACTS = [(20, read), (4, write)]
