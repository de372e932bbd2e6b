"""Loads files that may hold anything, in a process of its own, and looks at what they do."""

import contextlib
import io
import itertools
import os
import pickle
import sys
import traceback
import tracemalloc

import numpy as np

import tracegrad as tg

#: What load raises for a file that it does not take.
DOCUMENTED = (pickle.UnpicklingError, EOFError)
#: ... and for a damaged archive, in PyTorch's class.
OF_ARCHIVES = (*DOCUMENTED, RuntimeError)

#: What a restricted load may cost: the objects that Python makes of single bytes (an empty set of one byte takes 216),
#: and what the reader itself needs.
FACTOR, FIXED = 400, 1 << 20

PERMITTED_EVENTS = {"builtins.id", "object.__getattr__", "sys._getframe", "ctypes.addressof", "array.__new__"}


def outcomes(files, documented=DOCUMENTED, warm_up=(), load=tg.load):
    """`attempt` for each file, in a forked process: an audit hook stays for good, and a crash would end the tests."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            answer = pickle.dumps(attempts(files, documented, warm_up, load))
        except BaseException:
            answer = pickle.dumps(traceback.format_exc())
        with open(write, "wb") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(write)
    with open(read, "rb") as pipe:
        answer = pipe.read()
    assert os.waitpid(child, 0)[1] == 0
    came = pickle.loads(answer)
    assert isinstance(came, list), came
    return came


def attempts(files, documented, warm_up, load):
    files, events = iter(files), []
    first = next(files)  # generators prepare what they need first
    for data in (*warm_up, b"\x80\x02P"):  # what is imported once
        with contextlib.suppress(*OF_ARCHIVES):
            load(io.BytesIO(data))
    sys.addaudithook(lambda event, given: event in PERMITTED_EVENTS or events.append((event, str(given)[:100])))
    tracemalloc.start()
    return [attempt(data, events, documented, load) for data in itertools.chain([first], files)]


PLAIN = (
    type(None),
    bool,
    int,
    float,
    complex,
    str,
    bytes,
    bytearray,
    np.generic,
    tg.dtype,
    tg.device,
    tg.Generator,
    tg.layout,
    tg.memory_format,
)


def assert_plain(value):
    waiting, seen = [value], set()
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, dict):
            waiting += [*part.keys(), *part.values()]
        elif isinstance(part, (list, tuple, set, frozenset)):
            waiting += part
        elif isinstance(part, tg.Tensor):
            assert type(part) in (tg.Tensor, tg.nn.Parameter)
            waiting += vars(part).values()
            look(part.detach().ndarray)  # which numpy() refuses to give of bfloat16
        elif tg.is_storage(part):
            assert len(part.tolist()) == len(part)
        else:
            assert isinstance(part, PLAIN), type(part)


def look(array):
    """Read all of an array, or both ends of one that shows elements many times."""
    ends = (
        array if array.size < 10**6 else array[(slice(None, None, max(array.shape[0] - 1, 1)), *[0] * (array.ndim - 1))]
    )
    assert ends.astype(complex).sum() is not None


def attempt(data, events, documented, load):
    """Load `data` as weights: True if plain data came of it, False for a documented error; anything else fails."""
    events.clear()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        value = load(io.BytesIO(data))
    except documented:
        value, came = None, False
    else:
        came = True
    peak = tracemalloc.get_traced_memory()[1] - before
    assert not events, (events, data)
    assert peak <= FACTOR * len(data) + FIXED, (peak, len(data))
    with np.errstate(all="ignore"):
        assert_plain(value)
    return came
