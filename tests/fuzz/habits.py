"""Facts and statements of how programs are written: contexts, exceptions, generators, signatures, numpy, hooks, threads.

As in facts.py. What is no expression is among a kind's `steps`: statements that bind ``{t}``, a new name.
"""

from __future__ import annotations

from .objects import Kind

CONTEXTS = """
class Scope:
    depth, log = 0, []

    def __init__(self, k):
        self.k = k

    def __enter__(self):
        Scope.depth += 1
        return self

    def __exit__(self, kind, error, traceback):
        Scope.depth -= 1
        Scope.log.append(kind.__name__ if kind else 'none')
        return kind is ValueError

ambient = {'k': 0.5}
@contextlib.contextmanager
def ambient_is(k):
    before = ambient['k']
    ambient['k'] = k
    try:
        yield k
    finally:
        ambient['k'] = before
@tg.no_grad()
def unrecorded(p):
    return p * ambient['k']
"""[1:-1]
RAISING = """
trip, failed = False, []
def at_most(p, k):
    if k > 2:
        raise ValueError(f'{k} is too large')
    return p * k
class Stopped(Exception):
    def __init__(self, value):
        super().__init__('stopped')
        self.value = value
"""[1:-1]
GENERATORS = """
turns, feed = 2, iter([0.5, 2, 0.25, 1.5] * 20)
def doubled(ts):
    for each in ts:
        yield each * 2
def halving(p, n):
    for _ in range(n):
        p = p * 0.5
        yield p
def running():
    total = 0.0
    while True:
        value = yield total
        total = total + value
def both(p):
    yield p
    yield from halving(p, 2)
    return p
class Turns:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return (0.5 * j for j in range(self.n))
"""[1:-1]
SYNTAX = """
letter, bounds, told = 'a', slice(0, 2), []
rows_of = tg.randn(5, 2)
"""[1:-1]
SIGNATURES = """
base = tg.full((2,), 0.5)
def affine(p, *more, scale=base, **named):
    return p * scale.sum() + sum(more) + sum(named.values())
def optional(p, k=None, /, *, flag=False):
    return p * (0.5 if k is None else k) if not flag else p - 1
def decorated(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        decorated.calls += 1
        return function(*args, **kwargs) * 0.5
    return inner
decorated.calls = 0
@decorated
def wrapped(p, k=2):
    return p * k
given, passed = (0.5,), {'k': 2}
"""[1:-1]
NUMPY = "arr = np.array([0.5, -1.0, 2.0])\nshown = tg.from_numpy(arr)\ncolumn = []"
HOOKED = """
hooked, hin, handles, hook_log = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 2)), tg.full((2, 2), 0.5), [], []
"""[1:-1]
NESTED = """
inside = {'k': 0.5}
inner = compile(lambda p: p.tanh() * 2)
inner_net = compile(nn.Linear(2, 2))
other_in = tg.full((2, 2), 0.5)
@compile
def inner_by(p, k):
    return p * k if k > 1 else p + inside['k']
deferred = tg.deferred if compile is tg.compile else contextlib.nullcontext
"""[1:-1]
TRAINED = """
model = nn.Sequential(nn.Linear(2, 3), nn.Dropout(0.5), nn.BatchNorm1d(3, eps=0.1), nn.Linear(3, 2))
sgd, given_rows = tg.optim.SGD(model.parameters(), lr=0.05, momentum=0.9), tg.randn(4, 2) * 0.5
averaged, kept = copy.deepcopy(model), {}
best, history = math.inf, collections.deque(maxlen=2)
"""[1:-1]
LOADED = """
loader = tg.utils.data.DataLoader(tg.utils.data.TensorDataset(tg.arange(8.0).reshape(4, 2) * 0.25), batch_size=2)
mixing = tg.utils.data.DataLoader(tg.utils.data.TensorDataset(tg.arange(8.0).reshape(4, 2) * 0.25), batch_size=3, shuffle=True)
batches = iter(itertools.cycle([tg.ones(2), tg.ones(3) * 0.5]))
"""[1:-1]
GLOBALS = """
global TICKS, RATE
TICKS, RATE = 0, 0.5
def tick():
    global TICKS
    TICKS += 1
    return TICKS
"""[1:-1]

CACHED = """
class Cached:
    def __init__(self, p):
        self._p, self.reads = p, 0

    @property
    def p(self):
        self.reads += 1
        return self._p

    @p.setter
    def p(self, value):
        self._p = value * 0.5

    @functools.cached_property
    def doubled(self):
        return self._p * 2

    def __call__(self, q):
        return q * self._p.sum()

    def __getattr__(self, name):
        return 0.25 if name == 'missing' else object.__getattribute__(self, name)
@functools.lru_cache
def power_of(n):
    return 0.5 ** n
@functools.singledispatch
def told_by(value):
    return 2.0
@told_by.register
def told_by_int(value: int):
    return 0.5
def deeper(p, n):
    return p if n == 0 else deeper(p * 0.5, n - 1)
cached, level, items_of = Cached(tg.randn({s})), 1, [tg.ones(2), 0.5]
"""[1:-1]

HABITS = {
    "contexts": Kind(
        CONTEXTS,
        "ambient['k'] = 0.5 * i|Scope.depth = i % 2|Scope.log.clear()|ambient = {'k': 0.25 + i % 2}|if i == 3:\n    Scope.__exit__ = lambda self, *error: False",
        "unrecorded({y})|{y} * Scope.depth|{y} * ambient['k']|{y} * (1 + len(Scope.log) % 3)",
        ("ambient",),
        "Scope(1).__enter__()|ambient['k'] = 0.75",
        outcome="Scope.depth, Scope.log, ambient, tg.is_grad_enabled()",
        steps=(
            "with Scope(0.5) as scope:\n    {t} = {y} * scope.k",
            "with ambient_is(2.0) as now:\n    {t} = {y} * now + ambient['k']",
            "with Scope(2) as scope, tg.no_grad():\n    {t} = {y} * scope.k",
            "with contextlib.ExitStack() as stack:\n    scope = stack.enter_context(Scope(0.5))\n    {t} = {y} * scope.k + Scope.depth",
            "{t} = {y}\nwith Scope(0.5):\n    {t} = {y} * 0.5\n    raise ValueError('left')",
            "{t} = {y}\nwith contextlib.suppress(IndexError):\n    {t} = {y} * 0.5\n    {t} = {t}[..., [9]]",
            "with ambient_is(0.25), contextlib.suppress(KeyError):\n    {t} = unrecorded({y}) + {y}\n    raise KeyError",
            "with tg.no_grad():\n    with tg.enable_grad():\n        {t} = {y} * 2",
            "with tg.inference_mode():\n    fixed = {y}.detach() * 2\n{t} = {y} * fixed.clone()",
            "with tg.autograd.graph.saved_tensors_hooks(lambda s: s * 1, lambda s: s):\n    {t} = {y} * {y}",
            "with tg.random.fork_rng():\n    noise = tg.rand(2)\n{t} = {y} * noise.sum() + tg.rand(1).sum()",
            "with tg.set_grad_enabled({y}.requires_grad):\n    {t} = {y} * 0.5",
            "was = tg.is_grad_enabled()\ntg.set_grad_enabled(False)\n{t} = {y} * 2\ntg.set_grad_enabled(was)",
            "before = tg.get_rng_state()\nnoise = tg.rand(2)\ntg.set_rng_state(before)\n{t} = {y} * (noise - tg.rand(2)).sum() + noise.mean()",
            "with tg.autograd.set_detect_anomaly(True):\n    {t} = {y}.tanh()",
        ),
    ),
    "raising": Kind(
        RAISING,
        "trip = i == 3|trip = i % 2 == 1|failed.clear()|trip = i > 1|trip = tg.tensor(i == 2)",
        "at_most({y}, 2)|{y} * (1 + len(failed) % 3)|{y} * (2 if trip else 0.5)",
        ("trip",),
        "failed.append(0)",
        outcome="failed",
        steps=(
            "try:\n    {t} = {y} * 2\n    if trip:\n        raise KeyError('trip')\nexcept KeyError as error:\n    {t} = {y} * 0.5\nelse:\n    failed.append('else')\nfinally:\n    failed.append('finally')",
            "{t} = {y} * 2\nif trip:\n    raise ValueError('stopped')",
            "assert not trip, 'stopped'\n{t} = {y} * 2",
            "try:\n    {t} = at_most({y}, 3 if trip else 2)\nexcept ValueError as error:\n    failed.append(str(error))\n    {t} = {y} * 1",
            "try:\n    {t} = {y} @ tg.ones(7, 5, dtype={y}.dtype)\nexcept RuntimeError as error:\n    failed.append(type(error).__name__)\n    {t} = {y} * 0.5",
            "try:\n    if trip:\n        raise Stopped({y} * 3)\n    {t} = {y} * 2\nexcept Stopped as stop:\n    {t} = stop.value",
            "{t} = {y} * 2\ntry:\n    {t}.detach().sum().backward()\nexcept RuntimeError as error:\n    failed.append(str(error)[:20])",
            "def attempt(p):\n    try:\n        return p * 2\n    finally:\n        failed.append('left')\n{t} = attempt({y})",
            "for attempt_number in range(3):\n    try:\n        if attempt_number < 1 + trip:\n            raise OSError('again')\n        {t} = {y} * (attempt_number + 0.5)\n        break\n    except OSError:\n        failed.append(attempt_number)",
            "{t} = {y} * 1\nspent = ({t} * {t}).sum()\nif spent.requires_grad:\n    spent.backward(retain_graph=True)\nif trip:\n    raise RuntimeError('after backward')",
            "try:\n    try:\n        raise KeyError('inner')\n    except KeyError as error:\n        raise ValueError('outer') from error\nexcept ValueError as error:\n    {t} = {y} * len(str(error.__cause__))",
            "{t} = {y} * 2\nif trip:\n    {t}[..., 9:].sum(7)",
        ),
    ),
    "generators": Kind(
        GENERATORS,
        "turns = i % 3 + 1|next(feed)|turns = 2 if i < 3 else 4|feed = iter([0.5 * i + j for j in range(80)])",
        "sum(doubled([{y}, {y} * 0.5]))|list(halving({y}, turns))[-1]|next(doubled([{y}]))|tg.stack([*halving({y}, 2)])|[p * j for j, p in enumerate(doubled([{y}, {y} * 2]))][1]"
        "|{k: p for k, p in zip('ab', both({y}))}['b']|(lambda *ps: ps[-1])(*halving({y}, turns))|list(itertools.accumulate(halving({y}, 3)))[-1]|{y} * sum(Turns(turns))|{y} * next(feed)|{y} * sum(1 for _ in halving({y}, turns))"
        "|tg.stack(tuple(p for p in both({y})))[0]|max(both({y}.detach() * 0), key=lambda p: 0)|{y} * len({int(k * 2) for k in Turns(3)})|functools.reduce(operator.add, halving({y}, turns))|sum([p for p in both({y}) if p is not {y}])"
        "|{y} * any(k > 0.75 for k in Turns(turns))|[q for p in ({y}, {y} * 2) for q in halving(p, 2)][2]|list(map(lambda p, k: p * k, both({y}), Turns(3)))[1]|{y} * (2 if 0.5 in Turns(turns) else 3)",
        ("turns", "feed"),
        "turns = turns % 3 + 1|next(feed)",
        outcome="turns, next(copy.copy(feed))",
        steps=(
            "made = halving({y}, 3)\nnext(made)\n{t} = next(made)",
            "total = running()\nnext(total)\ntotal.send({y}.mean())\n{t} = total.send(1.0) * 1",
            "for turn, {t} in enumerate(halving({y}, 9)):\n    if turn >= turns:\n        break",
            "{t} = {y}\nfor k in Turns(turns):\n    {t} = {t} + k\nelse:\n    {t} = {t} * 0.5",
            "made = both({y})\n{t} = next(made)\nmade.close()",
            "{t}, *others_of = both({y})",
        ),
    ),
    "syntax": Kind(
        SYNTAX,
        "letter = 'abc'[i % 3]|bounds = slice(i % 2, None)|bounds = slice(i % 3, i % 3 + 2)|told.clear()|letter = ('a', 1)[i % 2]|bounds = (slice(None), i % 2)|letter = ['a', i]|bounds = ...|bounds = slice(None, None, 1 + i % 2)",
        "rows_of[bounds] * 1|{y} * (2 if 'a' in letter else 0.5) if isinstance(letter, str) else {y}|{y} * len(told)|{y} * len({letter: 1} if isinstance(letter, str) else [1, 2])|{y} if 0 < len(told) <= 3 else {y} * 2|rows_of[bounds].sum() + {y}|rows_of[bounds]",
        ("letter", "bounds"),
        "told.append(f'{tuple({y}.shape)} {{y}.dtype}')|told.append('%d %s' % ({y}.ndim, {y}.requires_grad))|told.append(str(({y}.detach() * 0).sum()))|told.append(repr({y}.detach().isnan().any()))|told.append('{:.1f}'.format(float({y}.detach().sum() * 0)))"
        "|rows_of[bounds] = 0.25|rows_of[bounds] *= 0.5|told += [{y}.ndim]|told.append(f'{float(({y}.detach() * 0).sum()):5.2f}')|told.append(type({y}).__name__)|told.append(len(repr(rows_of.shape)))",
        outcome="told, rows_of",
        steps=(
            "if (v := {y} * 2) is not None:\n    {t} = v + 1",
            "match letter:\n    case 'a':\n        {t} = {y} * 2\n    case 'b':\n        {t} = {y} * 0.5\n    case _:\n        {t} = {y} * 1",
            "match (letter, len(told)):\n    case ['a', n] if n > 1:\n        {t} = {y} * n\n    case [_, 0]:\n        {t} = {y} * 0.5\n    case [[first_of, *_], _]:\n        {t} = {y} * 3\n    case _:\n        {t} = {y} + 1",
            "match {'kind': letter, 'k': 2}:\n    case {'kind': 'a', 'k': k}:\n        {t} = {y} * k\n    case {'kind': str()}:\n        {t} = {y} * 0.5\n    case _:\n        {t} = {y} + 2",
            "match {y}:\n    case tg.Tensor(ndim=0):\n        {t} = {y} * 2\n    case tg.Tensor():\n        {t} = {y} * 0.5",
            "first_of, *rest_of = [{y}, {y} * 2, {y} * 3]\n{t} = rest_of[-1] + first_of",
            "spare = {y} * 2\n{t} = spare * 0.5\ndel spare",
            "def outer(p):\n    total = 0.0\n    def add(q):\n        nonlocal total\n        total = total + q\n    for _ in range(2):\n        add(p)\n    return total\n{t} = outer({y})",
            "class Local:\n    k = 0.5\n    def use(self, p):\n        return p * self.k\n{t} = Local().use({y})",
            "import math as mathematics\nfrom math import sqrt\n{t} = {y} * mathematics.exp(-1.0) * sqrt(2)",
            "{t} = again_ = {y} * 2\nagain_ += 1",
            "count_of = 0\nwhile count_of < 3:\n    count_of += 1\n    if count_of == 2:\n        continue\n    {t} = {y} * count_of\nelse:\n    {t} = {t} + 1",
            "made = {{y}: 1, rows_of: 2}\n{t} = {y} * made[rows_of]",
            "named = dict(p={y}, k=2)\n{t} = named.pop('p') * named.setdefault('k', 3)",
            "if letter == 'a' and not told or letter == 'b':\n    {t} = {y} * 2\nelif letter in ('b', 'c'):\n    {t} = {y} - 1\nelse:\n    {t} = {y} * 0.5",
            "pair_of = [{y}, {y} * 2]\npair_of[0], pair_of[1] = pair_of[1], pair_of[0]\n{t} = pair_of[0] - pair_of[1] * 0.5",
            "{t} = {y} * 1\nfor part in {t}.reshape(-1).split(1)[:3]:\n    {t} = {t} + part.sum()",
            "making = [lambda p, k=k: p * k for k in (0.5, 2)]\n{t} = making[0](making[1]({y}))",
            "late = [lambda p: p * k for k in (0.5, 2)]\n{t} = late[0]({y})",
            "stream = io.StringIO()\nprint({y}.ndim, letter, file=stream)\ntold.append(stream.getvalue())\n{t} = {y} * len(stream.getvalue())",
            "warnings.warn('careful')\n{t} = {y} * 2",
            "{t} = {y} * 2\nif tg.is_tensor({t}) and callable(getattr({t}, 'mean', None)):\n    {t} = getattr({t}, 'mean')()",
            "state_of = vars(types.SimpleNamespace(p={y}, k=0.5))\n{t} = state_of['p'] * state_of['k']",
        ),
    ),
    "signatures": Kind(
        SIGNATURES,
        "given = (0.5 * i,)|passed = {'k': 0.5 * i}|passed['k'] = i % 3|base.mul_(0.9)|affine.__kwdefaults__ = {'scale': base * (0.5 + i)}|given = given * (i % 2 + 1)|wrapped.__wrapped__ = None|wrapped.__kwdefaults__ = None|given = [0.5] if i % 2 else (0.5,)|wrapped = decorated(wrapped) if i == 3 else wrapped",
        "affine({y})|affine({y}, 1, 2)|affine({y}, *given)|affine({y}, **passed)|affine({y}, scale=base * 2, more=0.5)|optional({y})|optional({y}, 2)|optional({y}, flag=True)|wrapped({y})|wrapped({y}, k=0.25)|wrapped({y}, **passed)|{y} * (1 + decorated.calls % 3)"
        "|(lambda p, /, *, k: p * k)({y}, **passed)|wrapped(k=0.5, p={y})|wrapped({y}, *given[:1])|{y} * affine.__kwdefaults__['scale'].sum()|affine(*[{y}, *given], **{**passed, 'j': 1})|{y} * len(given)",
        ("given", "passed", "wrapped"),
        "decorated.calls += 1|passed['k'] = 0.75|base.add_(0.125)|given = (0.25, *given)[:2]",
        outcome="given, passed, base, decorated.calls",
    ),
    "numpy": Kind(
        NUMPY,
        "arr += 0.5|arr[0] = i|arr = arr.copy()|shown.mul_(0.9)|arr = np.arange(3.0) * i|shown = tg.from_numpy(arr * 1)|np.multiply(arr, 0.5, out=arr)|arr = arr.astype(np.float32) if i == 3 else arr|arr.sort()|column.append(i)|arr.fill(0.25 * i)|arr = arr[::-1]|arr.resize(3)",
        "{y} * float(arr.sum())|{y} * arr.mean()|{y} + tg.from_numpy(arr[:2].copy()).mean()|tg.as_tensor(arr * 2)|tg.tensor(arr)|{y} * np.sqrt(2.0)|{y} * shown.mean()|np.asarray(shown).sum() * {y}|{y} * tg.tensor(np.mean(arr))|{y} * np.float32(0.5)|np.float64(0.5) * {y}"
        "|{y} * len(column)|tg.tensor([np.float64(0.5), 1.0]) * 1|{y} * int(np.argmax(np.array([1, 3, 2])))|tg.from_numpy(np.stack([np.ones(2), np.zeros(2)]))|shown * 2|shown|{y} * arr[0]|{y} * np.clip(arr[1], -1, 1)|tg.tensor(arr.tolist())|tg.as_tensor(arr)[1:] * 2|{y} * arr.size"
        "|{y} * (2 if (arr > 0.6).any() else 0.5)|{y} * np.linspace(0, 1, 3)[1]|tg.asarray(arr).sum() * {y}|{y} * np.where(arr > 0, 1.0, 2.0).sum()|tg.frombuffer(arr.tobytes(), dtype=tg.float64 if arr.dtype == np.float64 else tg.float32)|{y} * (2 if np.array_equal(arr, np.asarray(shown)) else 0.5)",
        ("arr", "shown"),
        "arr[0] = 0.25|shown.mul_(0.5)|np.add(arr, 0.5, out=arr)|column.append({y}.detach().numpy().shape)|arr[1:] *= 0.5|shown[0] = arr[1]|shown.numpy()[-1] = 0.75|arr[...] = shown.numpy() * 0.5|shown.copy_(tg.from_numpy(arr[::-1].copy()))",
        outcome="tg.tensor(arr.tolist()), shown, column",
        steps=(
            "plain = {y}.detach().numpy()\n{t} = {y} * float((plain * 0).sum() + 0.5)",
            "plain = ({y}.detach() * 0 + 0.5).numpy()\nplain += 1\n{t} = {y} * tg.from_numpy(plain)",
            "{t} = {y} * 0.5\n{t}.detach().numpy()[...] = 0.25",
            "plain = np.zeros(2)\nfor j in range(2):\n    plain[j] = j * 0.5\n{t} = {y} + tg.tensor(plain).mean()",
            "{t} = tg.zeros(3, dtype=tg.float64)\n{t} += arr[0]",
        ),
    ),
    "hooked": Kind(
        HOOKED,
        "if i == 2:\n    handles.append(hooked.register_forward_hook(lambda m, a, r: r * 0.5))|if handles:\n    handles.pop().remove()|if i == 1:\n    handles.append(hooked[0].register_forward_pre_hook(lambda m, a: (a[0] * 2,)))|if i == 2:\n    handles.append(hooked[0].weight.register_hook(lambda g: g * 0.5))"
        "|if i == 1:\n    handles.append(hooked[2].register_full_backward_hook(lambda m, gi, go: (gi[0] * 0.5,) if gi[0] is not None else None))|if i % 2:\n    handles.append(hooked.register_forward_hook(lambda m, a, r: hook_log.append(m.training)))|hooked.zero_grad()"
        "|if i == 2:\n    handles.append(hooked[0].weight.register_post_accumulate_grad_hook(lambda p: hook_log.append(1)))|if i == 3:\n    hooked._forward_hooks.clear()|hin = (hin * 0.9).detach().requires_grad_(i % 2 == 0)|hooked[0].weight.grad = None",
        "hooked(hin)|hooked(hin).sum() * {y}|{y} * len(handles)|{y} * len(hooked._forward_hooks)|{y} * (1 + len(hook_log) % 3)|hooked[0](hin)|hooked(hin).mean() + hooked(hin * 0.5).mean() + {y}",
        ("hin",),
        "hooked(hin).sum().backward()|hooked.zero_grad()|hook_log.append(2)",
        outcome="hook_log, len(handles), [p.grad for p in hooked.parameters()]",
        steps=(
            "handle = hooked.register_forward_hook(lambda m, a, r: r * 0.5)\n{t} = hooked(hin)\nhandle.remove()",
            "{t} = hooked(hin)\nif {t}.requires_grad:\n    {t}.register_hook(lambda g: hook_log.append(tuple(g.shape)))",
            "{t} = {y} * 2\nif {t}.requires_grad:\n    handle = {t}.register_hook(lambda g: g * 0.5)\n    handle.remove()",
            "shapes = []\nhandle = hooked[0].register_forward_hook(lambda m, a, r: shapes.append(r.shape))\n{t} = hooked(hin)\nhandle.remove()\nhook_log.append(len(shapes))",
            "features = {}\nhandle = hooked[1].register_forward_hook(lambda m, a, r: features.update(out=r))\nhooked(hin)\nhandle.remove()\n{t} = features['out'] * 2",
            "{t} = hooked(hin)\ntg.autograd.backward({t}.sum(), inputs=[hooked[0].weight], retain_graph=True)",
            "{t} = hooked(hin)\nfor p in hooked.parameters():\n    if p.grad is not None:\n        p.grad.mul_(0.5)",
        ),
    ),
    "nested": Kind(
        NESTED,
        "inside['k'] = 0.5 * i|inside = {'k': i % 2}|other_in = other_in * 0.9|inner = compile(lambda p: p.sin()) if i == 3 else inner|inner_net.train(i % 2 == 0)",
        "inner({y})|inner_by({y}, 2)|inner_by({y}, 0.5)|inner_net(other_in)|inner(inner({y}))|inner({y}).sum() + inner({y} * 2).mean()|inner_by({y}, inside['k'])|inner_net(other_in).sum() * {y}|compile(lambda p: p * inside['k'])({y})|inner_by(inner_net(other_in), 2)",
        ("inner", "other_in", "inside"),
        "inside['k'] = 0.75|inner_net(other_in).sum().backward()|inside['t'] = inner({y}).detach()",
        outcome="inside, list(inner_net.parameters())",
        steps=(
            "with deferred():\n    {t} = {y} * 2\n    {t} = {t} + inside['k']",
            "with deferred():\n    {t} = inner({y})",
            "@compile\ndef made(p):\n    return p * inside['k']\n{t} = made({y}) + made({y} * 2)",
            "with tg.no_grad():\n    {t} = inner({y})",
            "box_of = []\nother = threading.Thread(target=lambda: box_of.append({y} * 2))\nother.start()\nother.join()\n{t} = box_of[0]",
            "with concurrent.futures.ThreadPoolExecutor(2) as pool:\n    {t} = sum(pool.map(lambda k: {y} * k, [0.5, 2]))",
            "held_lock = threading.Lock()\nwith held_lock:\n    {t} = {y} * 0.5",
            "with concurrent.futures.ThreadPoolExecutor(1) as pool:\n    {t} = pool.submit(inner, {y}).result()",
        ),
    ),
    "trained": Kind(
        TRAINED,
        "given_rows = given_rows * 0.9|model.train(i % 2 == 0)|averaged.load_state_dict(model.state_dict())|best = math.inf if i % 2 else 0.0|sgd.param_groups[0]['lr'] = 0.05 / (i + 1)|kept.clear()|model[1].p = 0.1 * i|history.append(i)|model[0].requires_grad_(i % 2 == 0)|sgd.state.clear()|sgd.zero_grad()|given_rows = given_rows[:2] if i == 3 else given_rows",
        "model(given_rows)|model(given_rows).mean() * {y}|averaged(given_rows)|{y} * len(kept)|{y} * (2 if best > 1 else 0.5)|{y} * len(history)|nn.utils.parameters_to_vector(model.parameters()) * 1|tg.func.functional_call(model, dict(model.named_parameters()), (given_rows,))|{y} * sum(p.numel() for p in model.parameters())"
        "|{y} * (2 if model.training else 0.5)|sum(p.square().sum() for p in model.parameters()) * 0.1 + {y}|{y} * len([n for n, p in model.named_parameters() if p.requires_grad])|{y} * (1 if model[0].weight.grad is None else 2)|tg.cat([p.detach().reshape(-1)[:1] for p in model.parameters()])",
        ("given_rows", "best"),
        "model(given_rows).square().mean().backward()|sgd.zero_grad()|sgd.step()|kept.update({k: v.clone() for k, v in model.state_dict().items()})|history.append(len(history))|best = min(best, 3.0)|model.eval()|model.train()|kept['grads'] = [None if p.grad is None else p.grad.clone() for p in model.parameters()]"
        "|model.requires_grad_(True)|averaged.load_state_dict(model.state_dict())|sgd.param_groups[0]['lr'] *= 0.9|model[0].reset_parameters()|nn.init.normal_(model[0].weight, std=0.3)|model.apply(lambda m: m.zero_grad())|kept.setdefault('first', model[0].weight.detach().clone())",
        outcome="model.state_dict(), averaged.state_dict(), kept, best, list(history), sgd.state_dict(), [p.grad for p in model.parameters()]",
        steps=(
            "model.eval()\nwith tg.no_grad():\n    {t} = model(given_rows)\nmodel.train()",
            "sgd.zero_grad()\nerror_of = model(given_rows).square().mean()\nerror_of.backward()\nsgd.step()\n{t} = error_of.detach()",
            "for part in given_rows.split(2):\n    {t} = model(part).square().mean() / 2\n    {t}.backward()\nsgd.step()\nsgd.zero_grad()",
            "with tg.no_grad():\n    for p, q in zip(averaged.parameters(), model.parameters()):\n        p.lerp_(q, 0.5)\n{t} = averaged(given_rows)",
            "model(given_rows).square().mean().backward()\n{t} = nn.utils.clip_grad_norm_(model.parameters(), 0.37)\nif tg.isfinite({t}):\n    sgd.step()",
            "for p in model.parameters():\n    p.requires_grad_(False)\n{t} = model(given_rows)\nfor p in model.parameters():\n    p.requires_grad_(True)",
            "grads = tg.autograd.grad(model(given_rows).square().mean(), list(model.parameters()), allow_unused=True, materialize_grads=True)\n{t} = sum(g.square().sum() for g in grads)\nwith tg.no_grad():\n    for p, g in zip(model.parameters(), grads):\n        p -= 0.05 * g",
            "def closure():\n    sgd.zero_grad()\n    error_of = model(given_rows).square().mean()\n    error_of.backward()\n    return error_of\n{t} = sgd.step(closure).detach()",
            "{t} = model(given_rows).square().mean()\nif {t}.item() > 1e6:\n    raise ValueError('diverged')\nhistory.append(len(kept))",
            "def closure():\n    return model(given_rows).mean()\n{t} = closure() + closure()",
            "start_of = copy.deepcopy(model.state_dict())\nwith tg.no_grad():\n    model[0].weight.add_(0.5)\n    {t} = model(given_rows)\nmodel.load_state_dict(start_of)",
            "fast = copy.deepcopy(model)\nquick = tg.optim.SGD(fast.parameters(), lr=0.1)\nfast(given_rows).square().mean().backward()\nquick.step()\n{t} = fast(given_rows)",
        ),
    ),
    "loaded": Kind(
        LOADED,
        "tg.manual_seed(i)|batches = iter([tg.ones(2) * i for _ in range(50)])|next(batches)|loader = mixing if i == 3 else loader",
        "next(batches).sum() * {y}|{y} * len(loader)|{y} * sum(xb.mean() for xb, in loader)|next(iter(loader))[0] * 2|next(iter(mixing))[0]|{y} * len(mixing.dataset)|loader.dataset[1][0] * 1|{y} + tg.utils.data.default_collate([{y}.detach(), {y}.detach()]).mean()",
        ("batches", "loader"),
        "next(batches)",
        steps=(
            "{t} = {y}\nfor xb, in loader:\n    {t} = {t} + xb.mean()",
            "for number_of, (xb,) in enumerate(mixing):\n    {t} = {y} * 0.5 + xb.sum() * 0.1\n    if number_of:\n        break",
            "order = tg.randperm(4)\n{t} = tg.stack([loader.dataset[int(n)][0] for n in order])",
            "order = tg.randperm(4).tolist()\n{t} = {y} * sum(order[:2])",
        ),
    ),
    "globals": Kind(
        GLOBALS,
        "globals()['RATE'] = 0.5 * i|globals()['TICKS'] = i % 3|tick()|globals()['RATE'] = tg.tensor(0.25 * i)|globals().pop('MORE', None)|globals()['MORE'] = i|globals()['abs'] = lambda p: p * 2\nif i == 3:\n    del globals()['abs']",
        "{y} * RATE|{y} * (1 + TICKS % 3)|{y} * (1 + tick() % 3)|{y} * globals().get('MORE', 0.5)|abs({y}.detach() * 0 + 0.5)|{y} * (2 if 'MORE' in globals() else 0.5)|{y} * (tick() - tick())",
        (),
        "tick()|globals()['RATE'] = 0.25|globals()['MORE'] = 3",
        outcome="TICKS, RATE, globals().get('MORE')",
    ),
    "derivatives": Kind(
        "def square_sum(p):\n    return (p * p * power).sum()\npower = 0.5",
        "power = 0.5 * i|power = tg.tensor(0.25 * i)|power = 1 + i % 2",
        "tg.func.grad(square_sum)({y}.detach())|tg.func.vmap(lambda p: p * power)({y}.reshape(-1))|tg.func.jacrev(lambda p: p.reshape(-1)[:1] * power)({y}.detach())|tg.autograd.functional.jacobian(square_sum, {y}.detach())|tg.func.vjp(square_sum, {y}.detach())[0]|square_sum({y})"
        "|tg.func.jvp(square_sum, ({y}.detach(),), (tg.ones_like({y}),))[1]|tg.autograd.functional.hvp(square_sum, {y}.detach(), tg.ones_like({y}))[1]|tg.utils.checkpoint.checkpoint(square_sum, {y}, use_reentrant=False)|tg.utils.checkpoint.checkpoint(lambda p: p.tanh() * power, {y}, use_reentrant=False)"
        "|tg.func.grad_and_value(square_sum)({y}.detach())[1]|tg.func.grad(lambda p: tg.func.grad(square_sum)(p).sum())({y}.detach())|tg.func.vmap(square_sum)(tg.stack([{y}, {y} * 2]))"
        "|tg.func.vmap(lambda p: tg.softmax(p, 0) * power)(tg.stack([{y}.reshape(-1), {y}.reshape(-1) * 2]))"
        "|tg.func.vmap(tg.func.grad(lambda p: tg.nn.functional.gelu(p).sum() * power))(tg.stack([{y}.detach(), {y}.detach() * 2]))",
        ("power",),
        "power = power * 0.5",
        outcome="power",
    ),
    "cached": Kind(
        CACHED,
        "cached.p = cached._p * 1.5|cached.__dict__.pop('doubled', None)|level = i % 3|level = float(i) if i % 2 else i|power_of.cache_clear()|cached.missing = 0.5 * i|cached = Cached(cached._p)|Cached.p = property(lambda self: self._p * 3)"
        "|told_by.register(float, lambda value: 0.75) if i == 2 else None|items_of[1] = 0.25 * i|items_of.append(tg.ones(1) * i)|items_of = items_of[::-1]|cached._p = cached._p.clone()|cached._p.mul_(0.9)|if i == 3:\n    del Cached.__call__\n    Cached.__call__ = lambda self, q: q - 1",
        "{y} * cached.p.sum()|cached.doubled * 1|cached({y})|{y} * cached.missing|{y} * power_of(int(level))|{y} * told_by(level)|deeper({y}, int(level))|{y} * cached.reads|{y} * sum(k for k in items_of if isinstance(k, float))|sum(p.sum() for p in items_of if tg.is_tensor(p)) * {y}"
        "|{y} * len([*items_of])|{y} * (2 if hasattr(cached, 'missing') else 3)|cached.p|{y} * (2 if 'doubled' in vars(cached) else 0.5)|{y} * power_of.cache_info().hits|{y} * sorted([level, 1, 0.5])[1]|{y} * dict(enumerate(items_of)).get(7, 0.5)",
        ("cached", "level", "items_of"),
        "cached.p = cached._p * 0.5|level = level + 1|cached.reads = 0|cached.missing = 0.75|items_of[1] = 2.0|cached._p.add_(0.25)|cached._p = {y}.detach().mean()",
        outcome="cached._p, cached.reads, level, items_of, cached.missing",
    ),
}  # fmt: skip
