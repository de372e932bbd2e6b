"""Memory that C cannot use as it is, in every role and touched in every way: compiled code does what eager mode does.

The whole memory behind is compared after each call, so that a write that is lost, or that goes too far, is seen.
"""

import itertools
import tempfile
import warnings

import numpy as np
import pytest
from side_by_side import Program, agreeing

SHAPE = (4, 3)
COUNT = 12
FLOAT = np.dtype(np.float32)


def _numbers():
    return np.arange(1, COUNT + 1, dtype=np.float32)


def _filled(raw, shown):
    shown[...] = _numbers().reshape(SHAPE)
    return raw, shown


def _plain():
    raw = np.zeros(SHAPE, np.float32)
    return _filled(raw, raw)


def _misaligned():
    raw = np.zeros(4 * COUNT + 8, np.uint8)
    return _filled(raw, raw[1 : 1 + 4 * COUNT].view(np.float32).reshape(SHAPE))


def _behind_a_header():
    raw = bytearray(3 + 4 * COUNT + 2)
    return _filled(np.frombuffer(raw, np.uint8), np.frombuffer(raw, np.float32, COUNT, 3).reshape(SHAPE))


def _every_second():
    raw = np.zeros((8, 6), np.float32)
    return _filled(raw, raw[::2, 1::2])


def _transposed():
    raw = np.zeros((3, 4), np.float32)
    return _filled(raw, raw.T)


def _field():
    raw = np.zeros(SHAPE, np.dtype([("tag", np.uint8, (4,)), ("number", np.float32)]))  # else it is refused
    return _filled(raw.reshape(-1).view(np.uint8), raw["number"])


def _sub_array():
    raw = np.zeros(4, np.dtype([("tag", np.uint8, (4,)), ("numbers", np.float32, (3,))]))
    return _filled(raw.view(np.uint8), raw["numbers"])


def _windows():
    raw = np.arange(1.0, 7.0, dtype=np.float32)
    return raw, np.lib.stride_tricks.as_strided(raw, SHAPE, (4, 4))


def _repeated():
    raw = np.arange(1.0, 4.0, dtype=np.float32)
    return raw, np.lib.stride_tricks.as_strided(raw, SHAPE, (0, 4))


def _broadcast():
    raw = np.arange(1.0, 4.0, dtype=np.float32)
    return raw, np.broadcast_to(raw, SHAPE)


def _read_only():
    raw, shown = _plain()
    shown = shown.view()
    shown.flags.writeable = False
    return raw, shown


def _of_bytes():
    shown = np.frombuffer(_numbers().tobytes(), np.float32).reshape(SHAPE)
    return shown, shown


def _mapped():
    file = tempfile.TemporaryFile()
    file.write(bytes(4 * COUNT + 1))
    file.flush()
    return _filled(raw := np.memmap(file, np.uint8, "r+"), raw[1:].view(np.float32).reshape(SHAPE))


def _mapped_aligned():
    file = tempfile.TemporaryFile()
    file.write(bytes(4 * COUNT))
    file.flush()
    return _filled(raw := np.memmap(file, np.float32, "r+", shape=SHAPE), raw)


def _matrix():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy would rather not have it
        raw = np.matrix(np.zeros(SHAPE, np.float32))
    return _filled(np.asarray(raw), raw)


def _masked():
    raw = np.zeros(SHAPE, np.float32)
    raw[...] = _numbers().reshape(SHAPE)
    return raw, np.ma.masked_array(raw, raw > 5)


class _Interface:
    def __init__(self, raw):
        self.raw, self.__array_interface__ = raw, raw.__array_interface__


def _foreign():
    raw = np.zeros(SHAPE, np.float32)
    return _filled(raw, np.asarray(_Interface(raw)))


KINDS = {
    f.__name__[1:]: f
    for f in (
        _plain, _misaligned, _behind_a_header, _every_second, _transposed, _field, _sub_array, _windows,
        _repeated, _broadcast, _read_only, _of_bytes, _mapped, _mapped_aligned, _matrix, _masked, _foreign,
    )
}  # fmt: skip

TOUCHES = {
    "read": lambda x: x * 2,
    "written": lambda x: x.add_(1) * 2,
    "written through a view": lambda x: (x[1:].mul_(2).sum(), x[:, 0] * 1)[1],
    "written after it was read": lambda x: _after(x * 3, x),
    "returned": lambda x: x,
    "written and returned": lambda x: x.add_(1),
    "seen in part": lambda x: x[1:, :2],
    "written and seen in part": lambda x: x.add_(1)[1:].t(),
}


def _after(result, x):
    x.sub_(1)
    return result


def _argument(tg, touch, x):
    return lambda tensor, w: touch(tensor), (lambda i: (x,)), lambda: []


def _captured(tg, touch, x):
    return lambda tensor, w: touch(x), (lambda i: (tg.ones(1),)), lambda: []


def _buffer(tg, touch, x):
    module = tg.nn.Module()
    module.register_buffer("seen", x)
    return lambda tensor, w: touch(module.seen), (lambda i: (tg.ones(1),)), lambda: [module.seen]


def _parameter(tg, touch, x):
    p = tg.nn.Parameter(x)

    def step(tensor, w):
        with tg.no_grad():
            return touch(p)

    return step, (lambda i: (tg.ones(1),)), lambda: [p]


def _trained(tg, touch, x):
    """The parameter of an optimizer; `touch` does its work on a detached alias."""
    p = tg.nn.Parameter(x)
    optimizer = tg.optim.SGD([p], lr=0.5, momentum=0.5)

    def step(tensor, w):
        optimizer.zero_grad()
        (p * tensor).sum().backward()
        optimizer.step()
        return touch(p.detach())

    return step, (lambda i: (tg.ones(1) * i,)), lambda: [p, p.grad]


def _gradient(tg, touch, x):
    p = tg.nn.Parameter(tg.ones(*SHAPE))
    p.grad = x

    def step(tensor, w):
        (p * tensor).sum().backward()
        with tg.no_grad():
            return touch(p.grad)

    return step, (lambda i: (tg.ones(1) * i,)), lambda: [p]


def _state(tg, touch, x):
    """A momentum of an optimizer."""
    p = tg.nn.Parameter(tg.ones(*SHAPE))
    optimizer = tg.optim.SGD([p], lr=0.5, momentum=0.5)
    p.sum().backward()
    optimizer.step()
    optimizer.state[p]["momentum_buffer"] = x

    def step(tensor, w):
        optimizer.zero_grad()
        (p * tensor).sum().backward()
        optimizer.step()
        return touch(optimizer.state[p]["momentum_buffer"])

    return step, (lambda i: (tg.ones(1) * i,)), lambda: [p]


ROLES = {f.__name__[1:]: f for f in (_argument, _captured, _buffer, _parameter, _trained, _gradient, _state)}


def _joined(step):
    return lambda tensor, w: step(tensor, w).sum() * w


def _looking(step):
    """Python looks at a number, so that it runs at each call."""

    def looking(tensor, w):
        result = step(tensor, w)
        return result if float(tensor.sum()) > -1e9 else None

    return looking


WAYS = {"replayed": lambda step: step, "re-recorded": _looking, "joined": _joined}


def _agree(tg, kind, role, touch, way):
    def make(tg):
        raw, shown = KINDS[kind]()
        x = tg.from_numpy(shown)
        w = tg.nn.Parameter(tg.ones(1))
        step, args, state = ROLES[role](tg, TOUCHES[touch], x)
        step = WAYS[way](step)
        return Program(lambda t: step(t, w), args, lambda: [raw, *state()], raises=(RuntimeError,))

    return agreeing(tg, make, 4)


USUAL = ("plain", "misaligned", "field", "windows", "repeated", "read_only", "foreign")


@pytest.mark.parametrize("touch", ["read", "written", "written through a view", "written and seen in part"])
@pytest.mark.parametrize("role", ["argument", "captured"])
@pytest.mark.parametrize("kind", USUAL)
def test_each_kind(tg, kind, role, touch):
    """In the usual roles, replayed if that can be."""
    _agree(tg, kind, role, touch, "replayed")


@pytest.mark.parametrize("role", ROLES)
def test_each_role(tg, role):
    """Misaligned memory, written."""
    _agree(tg, "misaligned", role, "written", "replayed")


@pytest.mark.long(every=47)
@pytest.mark.parametrize(("kind", "role", "touch", "way"), list(itertools.product(KINDS, ROLES, TOUCHES, WAYS)))
def test_all(tg, kind, role, touch, way):
    """Every kind of memory, in every role, touched in every way, however calls are served."""
    _agree(tg, kind, role, touch, way)


def test_a_lost_write_as_it_was_found(tg):
    """Numbers behind an odd header, added to at each call."""
    raw = bytearray(1 + 4 * COUNT)
    x = tg.from_numpy(np.frombuffer(raw, np.float32, COUNT, 1))
    step = tg.compile(lambda x: x.add_(1))
    for count in range(1, 5):
        assert step(x) is x
        assert np.frombuffer(raw, np.float32, COUNT, 1).tolist() == [count] * COUNT


def test_another_byte_order_is_refused(tg):
    with pytest.raises(ValueError, match="given numpy array has byte order different from the native byte order"):
        tg.from_numpy(np.zeros(3, FLOAT.newbyteorder()))


@pytest.mark.parametrize("shared", ["numpy", "bytearray", "foreign"])
def test_arguments_that_begin_to_overlap(tg, shared):
    """They lay side by side in one memory when they were recorded; later one begins within the other."""

    def make(tg):
        memory = bytearray(4 * COUNT)
        raw = np.frombuffer(memory, np.float32)
        whole = np.arange(COUNT, dtype=np.float32)
        raw[:] = whole

        def part(start):
            if shared == "numpy":
                return tg.from_numpy(whole[start : start + 4])
            if shared == "bytearray":
                return tg.from_numpy(np.frombuffer(memory, np.float32, 4, 4 * start))
            return tg.from_numpy(np.asarray(_Interface(whole[start : start + 4])))

        def step(x, y):
            x[1:].add_(y[:3])
            return y * 2

        starts = [(0, 6), (1, 7), (0, 2), (3, 2), (0, 6), (2, 2)]
        return Program(step, lambda i: tuple(map(part, starts[i])), lambda: [raw, whole])

    agreeing(tg, make, 6)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (1, 1), (0, 3)])
@pytest.mark.parametrize("odd", [False, True])
def test_few_elements(tg, shape, odd):
    def make(tg):
        raw = np.zeros(17, np.uint8)
        shown = np.ndarray(shape, np.float32, raw, offset=3 if odd else 0)
        x = tg.from_numpy(shown)
        return Program(lambda y: (x.add_(y), x * 2), lambda i: (tg.tensor(float(i)),), lambda: [raw])

    agreeing(tg, make, 4)
