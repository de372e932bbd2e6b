"""Facts of the objects that a program is built of: its own classes, settings, batches, copies of models, counters.

As in facts.py: `setup` makes them, `before` changes them before each call, `reads` depend on them, `writes` are what
the step itself does to them, and `outcome` is compared after each call.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """`setup` makes it (a random shape for ``{s}``), `before` changes it before each call, `reads` depend on it."""

    setup: str
    before: str
    reads: str
    cells: tuple[str, ...] = ()  # variables that the caller binds
    writes: str = ""
    needs_optimizer: bool = False
    outcome: str = ""  # what became of it
    steps: tuple[str, ...] = ()  # statements that bind {t}, a tensor that depends on it


OWN = """
class Base:
    scale = 0.5
    table = {'a': 2}

    def __init__(self, k):
        self.k, self.calls, self.past = k, 0, []

    def use(self, p):
        return p * self.k

    @property
    def twice(self):
        return self.k * 2

    @staticmethod
    def fixed(p):
        return p * 0.75

    @classmethod
    def of_class(cls, p):
        return p * cls.scale

    def __len__(self):
        return len(self.past) % 3 + 1

    def __getitem__(self, n):
        return self.k + n

    def __eq__(self, other):
        return self.k == getattr(other, 'k', other)

    def __hash__(self):
        return 1

    def __bool__(self):
        return self.k > 0

class Own(Base):
    def use(self, p):
        self.calls += 1
        return super().use(p) + self.calls % 2

own, others = Own(0.5), [Base(2), Own(0.25)]
"""[1:-1]
SLOTS = """
class Slotted:
    __slots__ = ('k', 't', 'f')
slotted = Slotted()
slotted.k, slotted.t, slotted.f = 0.5, tg.randn({s}), tg.tanh
Point = collections.namedtuple('Point', 'x y')
point = Point(0.5, slotted.t)
"""[1:-1]
SETTINGS = """
@dataclasses.dataclass
class Inner:
    rate: float = 0.5
    names: list = dataclasses.field(default_factory=lambda: ['a', 'b'])

@dataclasses.dataclass
class Settings:
    weight: float = 0.5
    layers: int = 2
    kind: str = 'tanh'
    inner: Inner = dataclasses.field(default_factory=Inner)

@dataclasses.dataclass(frozen=True)
class Frozen:
    weight: float = 0.5
    shape: tuple = (1, 2)
cfg, frozen = Settings(), Frozen()
"""[1:-1]
BATCH = "batch = {'x': tg.randn({s}), 'id': 'a0', 'n': 1, 'meta': {'k': 0.5}, 'more': [tg.ones(2), 0.25]}"
MODELS = """
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2))
twin = copy.deepcopy(net)
inp = tg.randn(2, 2)
def towards(q, p, share=0.9):
    with tg.no_grad():
        for a, b in zip(q.parameters(), p.parameters()):
            a.mul_(share).add_(b, alpha=1 - share)
"""[1:-1]
FUNCTIONS = """
def scaled(p, k=0.5, *, shift=0.0):
    return p * k + shift
def turned(p, k=0.25, *, shift=1.0):
    return p * k - shift
ways = {'a': scaled, 'b': tg.sin, 'c': lambda p: p * 3}
chosen_way, bound_way = scaled, functools.partial(scaled, k=2)
chain = [scaled, tg.tanh]
"""[1:-1]
METER = """
class Meter:
    total, n = 0.0, 0

    def add(self, value, n=1):
        self.total += value
        self.n += n

    @property
    def mean(self):
        return self.total / max(self.n, 1)
meter, hits, numbers = Meter(), [0], itertools.count()
status = {'step': 0, 'best': math.inf, 'bad': 0}
"""[1:-1]
RING = "ring, ptr, marks = tg.zeros(4, 3), [0], tg.zeros(4, dtype=tg.int64)"
MIXED = """
bag, odd, last = collections.deque([0.5, 2, 0.25], maxlen=3), {1, 3}, collections.OrderedDict(a=0.5, b=2)
tally = collections.defaultdict(float)
"""[1:-1]

OBJECTS = {
    "own class": Kind(
        OWN,
        "own.k = 0.5 * i|Base.scale = 0.5 + 0.25 * (i % 2)|Own.scale = 0.25 * i|own.past.append(i)|own = others[i % 2]|Base.table = {'a': i}|Base.table['a'] = i % 3"
        "|own.use = (lambda p: p * 5) if i == 2 else Own.use.__get__(own)|Base.twice = property(lambda self: self.k * i)|others[0], others[1] = others[1], others[0]"
        "|if i == 2:\n    Own.of_class = classmethod(lambda cls, p: p - cls.scale)|if i == 3:\n    Base.__len__ = lambda self: 4|own.scale = 2.0 if i == 2 else 0.5"
        "|if i == 2:\n    Own.__getitem__ = lambda self, n: n * 0.5|own.__dict__['k'] = 0.5 + i % 2|setattr(own, 'extra', i)|if i == 3:\n    Own.__bases__ = (type('Mid', (Base,), {'scale': 7.0}),)"
        "|own.k = tg.tensor(0.5 + i)|own = copy.copy(own)|if i == 3:\n    Own.__getattribute__ = lambda self, name: object.__getattribute__(self, name)",
        "own.use({y})|{y} * own.twice|own.fixed({y})|own.of_class({y})|{y} * len(own)|{y} * own[1]|{y} * (2 if own == others[0] else 0.5)|{y} * (2 if own else 0.5)"
        "|{y} * own.scale|{y} * own.table['a']|{y} * Base.scale|sum(o.use({y}) for o in others)|{y} * getattr(own, 'extra', 0.5)|{y} * (2 if own in others else 0.5)"
        "|{y} * (2 if isinstance(own, Own) else 0.5)|{y} * (2 if own is others[1] else 0.5)|{y} * type(own).scale|{y} * own.calls|{y} * vars(own).get('k', 3)|{y} * {others[0]: 2}.get(own, 0.5)"
        "|{y} * (2 if hasattr(own, 'extra') else 0.5)|{y} * len(vars(own))|functools.reduce(lambda p, o: o.use(p), others, {y})|Base.use(own, {y})|{y} * (2 if type(own) is Own else 3)",
        ("own",),
        "own.k = own.k * 0.5|own.calls += 1|own.past.append(own.calls)|Base.scale = Base.scale + 0.25|Own.scale += 0.5|own.last = {y}.detach()|Base.table['a'] += 1|setattr(own, 'extra', own.calls)",
        outcome="own.k, own.calls, own.past, Base.scale, Own.scale, Base.table, getattr(own, 'extra', 0), getattr(own, 'last', 0)",
    ),
    "slots": Kind(
        SLOTS,
        "slotted.k = 0.5 * i|slotted.t = slotted.t * 0.9|slotted.f = tg.sin if i % 2 else tg.tanh|point = Point(0.25 * i, point.y)|point = point._replace(y=slotted.t.clone())|slotted.t.mul_(0.9)"
        "|point = Point(slotted.k, slotted.t) if i % 2 else point|if i == 3:\n    del slotted.k|slotted.f = functools.partial(tg.mul, 0.5 + i)|if i == 2:\n    Slotted.more = 3.0",
        "{y} * slotted.k|slotted.t * 2|slotted.f({y})|{y} * point.x|{y} * point[0] + point.y.mean()|{y} * getattr(slotted, 'k', 3)|{y} * (2 if point.y is slotted.t else 0.5)|{y} * getattr(slotted, 'more', 0.5)"
        "|{y} * (lambda x, y: x + y.sum())(*point)|slotted.t.view(-1)|{y} * (2 if point == Point(0.5, slotted.t) else 0.5)|{y} * point._asdict()['x']",
        ("point",),
        "slotted.k = 0.25|slotted.t = slotted.t + 0.5|slotted.t.add_(0.25)",
        outcome="slotted.t, getattr(slotted, 'k', 0), point.y",
    ),
    "settings": Kind(
        SETTINGS,
        "cfg.weight = 0.5 * i|cfg = dataclasses.replace(cfg, weight=0.25 * i)|cfg.layers = i % 3|cfg.kind = 'sin' if i % 2 else 'tanh'|cfg.inner.rate *= 0.5|cfg.inner.names.append('c')|cfg.inner = Inner(rate=i)"
        "|frozen = dataclasses.replace(frozen, weight=0.5 + i % 2)|frozen = Frozen(0.5, (1, 2 + i % 2))|cfg.inner.names = ['a'] * i|object.__setattr__(frozen, 'weight', 0.25 * i)|Settings.weight = 7|vars(cfg).pop('weight', None)"
        "|Frozen.weight = 0.75|cfg.layers = float(cfg.layers) if i == 3 else 2|cfg.extra = i",
        "{y} * cfg.weight|functools.reduce(lambda p, _: p.tanh(), range(cfg.layers), {y})|getattr(tg, cfg.kind)({y})|{y} * cfg.inner.rate|{y} * len(cfg.inner.names)|{y} * frozen.weight|{y} * sum(frozen.shape)"
        "|{y} * (2 if frozen == Frozen() else 0.5)|{y} * (2 if cfg == Settings() else 0.5)|{y} * dataclasses.asdict(cfg)['weight']|{y} * sum(v for v in dataclasses.astuple(frozen)[:1])|{y} * getattr(cfg, 'extra', 2)"
        "|{y} * (2 if 'c' in cfg.inner.names else 0.5)|{y} * len(dataclasses.fields(cfg))|{y} * {frozen: 2}.get(Frozen(), 0.5)|tg.full_like({y}, cfg.weight)|{y} * (2 if cfg.layers is ONE else 3)",
        ("cfg", "frozen"),
        "cfg.weight *= 0.5|cfg.layers += 1|cfg.inner.names.append('d')|cfg.inner.rate = 0.25",
        outcome="vars(cfg).get('weight'), cfg.layers, cfg.inner.rate, cfg.inner.names, frozen.weight",
    ),
    "dict batch": Kind(
        BATCH,
        "batch = {**batch, 'id': f'a{i}'}|batch['id'] = f'a{i}'|batch = {'x': batch['x'] * 0.5, 'id': 'b', 'n': i, 'meta': batch['meta'], 'more': batch['more']}|batch['meta']['k'] = 0.5 * i|batch['meta'] = {'k': i}"
        "|batch['more'][1] = 0.25 * i|batch['more'] = [batch['more'][0].clone(), 2]|batch['x'] = batch['x'].clone()|if i == 2:\n    batch['mask'] = tg.tensor(True)|batch['n'] = i % 2|batch = dict(reversed(batch.items()))"
        "|batch['more'].append(i)|if i == 3:\n    batch.pop('id')|batch['x'] = batch['x'].double() if i == 3 else batch['x']|batch['x'].mul_(0.9)|batch = types.MappingProxyType(dict(batch)) if i == 2 else dict(batch)",
        "batch['x'] * 2|{y} * batch['n']|{y} * len(batch)|{y} * (2 if 'mask' in batch else 0.5)|{y} * (2 if batch.get('id') == 'a1' else 0.5)|{y} * batch['meta']['k']|{y} * batch['more'][1]|{y} * len(batch['more'])"
        "|sum(v.mean() for v in batch.values() if isinstance(v, tg.Tensor)) * {y}|{y} * (lambda x, n=0, **kw: x.sum() + n)(**batch)|{y} * len(list(batch)[0])|{y} * [k for k in batch].index('x')|batch['more'][0]"
        "|{y} * batch.get('mask', 2)|{y} * (2 if batch['x'].dtype is tg.float64 else 0.5)|{y} * sum(n for n in batch['more'][1:])|{y} * len(batch.get('id', ''))|batch['x'].reshape(-1)[:1]",
        ("batch",),
        "batch['n'] = batch['n'] + 1|batch['out'] = {y}.detach()|batch['meta']['k'] *= 0.5|batch['more'].append(1)",
        outcome="dict(batch)",
    ),
    "copied model": Kind(
        MODELS,
        "twin = copy.deepcopy(net)|twin.load_state_dict(net.state_dict())|towards(twin, net)|net.load_state_dict(twin.state_dict())|net[0].weight = nn.Parameter(net[0].weight.detach() * 0.9)|net[0] = copy.deepcopy(twin[0])"
        "|net, twin = twin, net|net[1] = nn.Sigmoid() if i % 2 else nn.Tanh()|net.append(nn.Tanh()) if i == 2 else None|twin.requires_grad_(i % 2 == 0)|net[0].bias = None if i == 3 else net[0].bias|net.add_module('1', nn.ReLU())"
        "|inp = inp * 0.5|net.half_way = i|net[2].weight.data = net[2].weight.data.clone()|net[0].weight.data.copy_(twin[0].weight)|if i == 2:\n    net.forward = lambda p: p * 2|net[0].register_forward_hook(lambda m, a, r: r * 0.5) if i == 2 else None"
        "|if i == 2:\n    nn.utils.parametrizations.weight_norm(net[2])|net[0].weight.requires_grad_(i % 2 == 0)|twin = copy.copy(net)|net.eval() if i % 2 else net.train()|net[0].weight = twin[0].weight",
        "net(inp)|twin(inp)|net(inp) - twin(inp)|net(inp).mean() * {y}|{y} * len(net)|{y} * sum(p.detach().sum() for p in net.parameters())|{y} * (2 if net[0].weight is twin[0].weight else 0.5)|{y} * len(list(net.parameters()))"
        "|{y} * (2 if net.training else 0.5)|copy.deepcopy(net)(inp)|{y} * getattr(net, 'half_way', 0.5)|{y} * (2 if isinstance(net[1], nn.Tanh) else 0.5)|{y} * len(net.state_dict())|sum(m(inp).mean() for m in (net, twin)) * {y}"
        "|{y} * (2 if net[0].bias is None else 0.5)|net[:2](inp)|{y} * sum(p.requires_grad for p in net.parameters())|net[0].weight * 2|tg.autograd.grad(net(inp).sum(), [p for p in net.parameters() if p.requires_grad])[-1] * 1",
        ("net", "twin", "inp"),
        "towards(twin, net)|twin.load_state_dict(net.state_dict())|towards(twin, net, 0.5)|net[0].weight.data.mul_(0.9)|net.zero_grad()|net.half_way = 3|net(inp).sum().backward()",
        outcome="net.state_dict(), twin.state_dict(), [p.grad for p in net.parameters()], [p.requires_grad for p in net.parameters()]",
    ),
    "groups": Kind(
        "extra = tg.randn({s}).requires_grad_()",
        "opt.param_groups[0]['lr'] *= 0.5|for g in opt.param_groups:\n    g['lr'] = 0.05 / (i + 1)|if i == 2:\n    opt.add_param_group({'params': [extra], 'lr': 0.01})|opt.state.clear() if i == 3 else None|opt.param_groups[0]['note'] = i"
        "|opt.param_groups[0].update(lr=0.02 * i)|opt.load_state_dict(copy.deepcopy(opt.state_dict()))|opt.param_groups[0]['params'].reverse()|opt.param_groups[-1]['lr'] = tg.tensor(0.05) if i == 3 else 0.05|opt.zero_grad()"
        "|opt.param_groups[0]['params'][:] = opt.param_groups[0]['params'][:1] if i == 3 else opt.param_groups[0]['params']|opt.param_groups = [dict(g) for g in opt.param_groups]|opt.defaults['lr'] = 0.3"
        "|extra.grad = tg.ones_like(extra)|if i == 3:\n    opt.param_groups[0]['params'].pop()|opt.param_groups[0]['lr'] = np.float64(0.05)|opt.param_groups[0]['lr'] = 1 if i == 2 else 0.05|opt.param_groups[0].pop('note', None)",
        "{y} * opt.param_groups[0]['lr']|{y} * len(opt.param_groups)|{y} * len(opt.state)|{y} * sum(g['lr'] for g in opt.param_groups)|{y} * opt.param_groups[0].get('note', 0.5)|{y} * opt.param_groups[-1]['weight_decay']|extra * 2"
        "|{y} * len(opt.param_groups[0]['params'])|{y} * (2 if 'note' in opt.param_groups[0] else 0.5)|{y} * opt.defaults['lr']|{y} * (2 if any(p is extra for g in opt.param_groups for p in g['params']) else 0.5)|extra.sum() + {y}",
        (),
        "opt.param_groups[0]['lr'] *= 0.9|opt.param_groups[0]['lr'] = 0.05|opt.param_groups[0]['note'] = 2|opt.state.clear()",
        True,
        outcome="extra, len(opt.param_groups), opt.param_groups[0].get('note', 0)",
    ),
    "functions": Kind(
        FUNCTIONS,
        "chosen_way = turned if i % 2 else scaled|scaled.__defaults__ = (0.5 + i,)|scaled.__kwdefaults__ = {'shift': 0.5 * i}|scaled.__code__ = turned.__code__ if i % 2 else scaled.__code__|ways['a'] = turned if i == 2 else scaled"
        "|bound_way = functools.partial(bound_way.func, k=0.5 * i)|bound_way.keywords['k'] = 0.25 * i|chain.reverse()|chain.append(tg.sin) if i == 2 else None|chosen_way = functools.partial(turned, shift=i)|ways = {**ways, 'b': tg.cos}"
        "|scaled.note = i|chosen_way = (lambda k: lambda p: p * k)(0.5 * i)|chosen_way = [lambda p: p * 2, lambda p: p * 3][i % 2]|chosen_way = functools.lru_cache(lambda p: p * 4) if i == 3 else scaled|chosen_way = nn.Tanh() if i % 2 else tg.tanh"
        "|chosen_way = operator.neg if i % 2 else operator.pos|chosen_way = getattr(tg, ('sin', 'cos', 'tanh')[i % 3])|chosen_way = operator.methodcaller(('sin', 'cos')[i % 2])|chosen_way = types.FunctionType(turned.__code__, globals(), 'turned', (2.0,))",
        "chosen_way({y})|scaled({y})|scaled({y}, shift=1)|ways['a']({y})|bound_way({y})|functools.reduce(lambda p, f: f(p), chain, {y})|{y} * (2 if chosen_way is scaled else 0.5)|{y} * getattr(scaled, 'note', 0.5)|ways.get('b')({y})"
        "|{y} * scaled.__defaults__[0]|{y} * bound_way.keywords['k']|list(map(chosen_way, [{y}, {y} * 2]))[1]|{y} * len(chain)|ways['c']({y})|{y} * len(getattr(chosen_way, '__name__', 'none'))|max([{y}.detach() * 1], key=lambda p: 1)",
        ("chosen_way", "bound_way", "ways"),
        "chosen_way = turned if chosen_way is scaled else scaled|ways['a'] = turned|chain.append(chain.pop(0))|scaled.note = 3|scaled.__defaults__ = (0.75,)",
        outcome="chosen_way, len(chain), getattr(scaled, 'note', 0), list(scaled.__defaults__)",
    ),
    "meters": Kind(
        METER,
        "meter.add(0.5)|hits[0] += 1|meter = Meter()|Meter.total = 0.5 * i|status['step'] += 1|status = dict(status, bad=i)|hits = [i]|meter.total, meter.n = 0.0, 0|next(numbers)|status['best'] = 0.5 * i|del status['bad']\nstatus['bad'] = i % 2"
        "|numbers = itertools.cycle([0.5, 2, i])|numbers = iter([0.5 * n + i for n in range(99)])",
        "{y} * meter.mean|{y} * hits[0]|{y} * (2 if status['step'] % 2 == 0 else 0.5)|{y} * status['step']|{y} * next(numbers)|{y} * (2 if status['best'] > 1 else 0.5)|{y} * status['bad']|{y} * meter.n|{y} * (1 / (1 + status['step']))"
        "|{y} * math.cos(0.1 * status['step'])|{y} * (0.5 if meter.n > 2 else 2)|{y} * min(status['best'], 3)|{y} * Meter.total|{y} * (hits[0] + 0.5) ** 0.5|{y} * (status['step'] > 2)|{y} * len(status)",
        ("meter", "hits", "status", "numbers"),
        "meter.add(0.25)|hits[0] += 1|status['step'] += 1|Meter.n += 1|status['bad'] = status['bad'] + 1 if status['step'] % 2 else 0|meter.total += 0.5|hits[-1] = hits[0] * 2 % 7|status['best'] = min(status['best'], 3.0)|status['t'] = {y}.detach()"
        "|meter.add(0.5, n=2)|meter.last = {y}.detach().sum()|status['best'], status['step'] = status['step'], 0|hits = hits + [0]|hits.append(len(hits))|status.setdefault('new', 1)",
        outcome="vars(meter), Meter.n, Meter.total, hits, status, next(copy.copy(numbers))",
    ),
    "by index": Kind(
        RING,
        "ptr[0] = (ptr[0] + 1) % 4|ptr[0] = i % 4|ring[i % 4] = 0.5|ring[ptr[0]].add_(1)|ring = ring.clone()|ptr = [(3 * i) % 4]|marks[i % 4] = i % 3|ring[:, i % 3] = tg.arange(4.0)|ring = ring.roll(1, 0)|marks = marks.flip(0)|ring[-1, i % 3] += 1",
        "ring[ptr[0]] * 1|ring.sum(0)|{y} * ring[ptr[0], 1]|ring[ptr[0]:] * 2|ring[marks] * 1|ring[tg.tensor(ptr[0])] + {y}.mean()|{y} * ptr[0]|ring[:ptr[0] + 1].mean() + {y}|ring[marks[ptr[0]]]|ring[-ptr[0]]|ring[marks == 0].sum() * {y}|ring[(ptr[0] + 1) % 4]"
        "|ring.t()[1]|ring[ptr[0]][1:]|ring[[ptr[0], 0]]|ring[..., ptr[0] % 3]|ring[marks % 4, ptr[0] % 3]",
        ("ring", "ptr", "marks"),
        "ring[ptr[0]] = {y}.detach().mean()|ring[ptr[0]] = 0.5\nptr[0] = (ptr[0] + 1) % 4|ring[ptr[0], 1] += 0.25|ring[marks] *= 0.5|ring[ptr[0]].copy_(ring[0])|marks[ptr[0]] = ptr[0] % 2|ring[ring > 0.4139] = 0.25|ring[:ptr[0] + 1] = 0.125"
        "|ring[tg.tensor(ptr[0])] = 0.75|ring.index_fill_(0, tg.tensor([ptr[0]]), 0.5)|ring[ptr[0]] += ring[(ptr[0] + 1) % 4]|ring[ptr[0]:ptr[0] + 1].mul_(2).clamp_(-2, 2)|ptr[0] = (ptr[0] + 3) % 4|ring[-1] = ring[0].clone()|ring[[0, ptr[0]]] = 0.25",
        outcome="ring, ptr, marks",
    ),
    "zero-d": Kind(
        "scale, whole, flag = tg.tensor(0.5), tg.tensor(2), tg.tensor(True)",
        "scale = scale * 1.5|scale.mul_(1.5)|whole = tg.tensor(i % 3)|whole.fill_(i % 4)|flag = tg.tensor(i % 2 == 0)|flag.logical_not_()|scale = 0.5 * i if i % 2 else tg.tensor(0.5)|scale = tg.tensor(0.5 * i, dtype=tg.float64)|whole = i % 3 if i % 2 else tg.tensor(i % 3)"
        "|scale.requires_grad_(i % 2 == 0)|scale = np.float64(0.25 * i) if i == 3 else tg.tensor(0.25)|whole = np.int64(i % 3)|scale = tg.tensor([0.5])[0]|scale.data = tg.tensor(0.25 * i)",
        "{y} * scale|{y} * float(scale)|{y} + 2 ** scale|{y} * (scale + 1) / 2|{y} * (2 if scale > 0.6 else 0.5)|sum(({y} for _ in range(int(whole))), {y})|{y} * math.sqrt(scale)|{y} * [0.5, 2, 3, 4][whole]|{y} * (2 if flag else 0.5)|{y} * sum([scale, scale])"
        "|tg.full((2,), float(scale))|{y} * max(float(scale), 0.6)|{y} * len(f'{float(scale):.1f}')|{y} * (1 - scale)|{y} * (whole // 2)|{y} * (whole % 2 == 0)|{y} * round(float(scale))|tg.ones(2, 3) * whole|{y} * (0.5 if not flag else scale)|{y} / (scale + 1)"
        "|{y} * (scale if scale < 1 else 1)|tg.where(flag, {y}, {y} * 0.5)|{y} * (2 if whole == 1 else 0.5)|{y} * (2 if scale == scale else 0.5)|tg.zeros(int(whole) + 1)|{y} * -scale|{y} * abs(scale)|tg.tensor([float(scale), 1.0]) * 2|{y} * scale.item()|tg.arange(int(whole) + 1)"
        "|{y} * (scale and 2)|{y} * (whole in (1, 2))|{y} * int(whole)|{y}.clamp(max=float(scale) + 0.0137)|{y} * (2 if isinstance(scale, tg.Tensor) else 0.5)|{y} * (3 - whole)|tg.stack([tg.as_tensor(scale), tg.as_tensor(1.0)])",
        ("scale", "whole", "flag"),
        "scale = scale * 0.5|scale += 0.25|whole += 1|scale.data.mul_(0.5)|whole = (whole + 1) % 3",
        outcome="scale, whole, flag",
    ),
    "mixed": Kind(
        MIXED,
        "bag.append(0.5 * i)|bag.rotate()|odd.add(i)|odd.discard(1) if i == 2 else odd.add(1)|last.move_to_end('a')|last['c'] = i|tally['k'] += 0.5|bag = collections.deque([i])|odd = {i, 2}|last = collections.OrderedDict(a=i)|tally = collections.defaultdict(int)"
        "|tally.clear()|bag.appendleft(i % 2)|odd ^= {1}",
        "{y} * sum(bag)|{y} * bag[0]|{y} * (2 if 1 in odd else 0.5)|{y} * len(odd)|{y} * next(iter(last.values()))|{y} * tally['k']|{y} * len(tally)|{y} * len(bag)|{y} * (2 if list(last) == ['a', 'b'] else 0.5)|{y} * max(odd, default=0)|{y} * tally.get('k', 2)"
        "|{y} * (2 if bag == collections.deque([0.5, 2, 0.25]) else 0.5)|{y} * sum(sorted(odd))|{y} * last.get('c', 0.5)|{y} * (2 if odd == {1, 3} else 0.5)|{y} * (bag.maxlen or 5)",
        ("bag", "odd", "last", "tally"),
        "bag.append(0.75)|odd.add(5)|tally['k'] += 1|last['b'] *= 0.5|bag.popleft()\nbag.append(1.5)|tally['n'] = 2",
        outcome="list(bag), sorted(odd), dict(last), dict(tally)",
    ),
    "same object": Kind(
        "first = tg.randn({s})\nsecond_one, nothing, cache = first, None, {}",
        "second_one = first if i % 2 else first.clone()|nothing = None if i % 2 else first|cache['t'] = first|cache.clear()|first = first * 1|second_one = first[...]|first.grad = tg.ones_like(first) if i % 2 else None|nothing = 0 if i == 2 else None|nothing = () if i % 2 else None"
        "|second_one = first.detach() if i == 3 else first|cache[i] = first|first, second_one = second_one, first|nothing = False if i == 3 else None",
        "{y} * (2 if first is second_one else 0.5)|{y} * (2 if nothing is None else 0.5)|{y} * (2 if cache.get('t') is first else 0.5)|{y} * (2 if first.grad is None else 0.5)|{y} * (2 if nothing is not None else 3)|{y} * (2 if any(first is t for t in cache.values()) else 0.5)"
        "|{y} * (2 if {y} is first else 0.5)|{y} * (2 if id(first) == id(second_one) else 0.5)|first + second_one|{y} * len({id(t) for t in (first, second_one)})|{y} * (2 if not nothing else 3)|{y} * (2 if first.data_ptr() == second_one.data_ptr() else 0.5)|{y} * len(cache)"
        "|{y} * (2 if nothing is False else 0.5)|{y} * (2 if operator.is_(first, second_one) else 0.5)|{y} * (2 if nothing == () else 0.5)|{y} * (2 if first._version == second_one._version else 0.5)|{y} * len(dict.fromkeys([first, second_one]))",
        ("first", "second_one", "nothing"),
        "cache['t'] = first|cache['y'] = {y}.detach()|second_one = first|cache.pop('t', None)|nothing = first|nothing = None",
        outcome="first, second_one, nothing, cache",
    ),
}  # fmt: skip
