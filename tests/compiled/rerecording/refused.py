"""Programs that must be refused. ``# here`` marks the line that the message has to name."""

import copy
import datetime
import functools
import importlib
import itertools
import logging
import os
import pickle
import random
import sys
import threading
import time
import weakref

import numpy as np

# The tensors that the functions find outside; the tests set them.
W = OUTSIDE = SCHEDULER = None
COUNT = 0
LOSSES, TABLE, ITERATOR, LARGE = [], {}, iter(range(100)), np.zeros(10_000)


class Row(list):
    """A list of the program's own."""


class Holder:
    calls = 0
    kept = None

    def __init__(self):
        self.n = 0


class Finalised:
    died = []

    def __del__(self):
        self.died.append(1)


class Registered:
    made = []

    def __init__(self):
        self.made.append(1)


@functools.lru_cache
def of_cache():
    return 2.0


HOLDER = Holder()
REFERENCE, VIEW, OBJECTS = weakref.ref(HOLDER), memoryview(bytearray([1])), np.array([2.0, None], object)
LOCK, KEYS, APPEND = threading.Lock(), TABLE.keys(), LOSSES.append
GENERATOR = np.random.default_rng(0)
CALLS = itertools.count()


def counter(tg, x):
    global COUNT
    COUNT = [COUNT]  # here
    return x


def new_global(tg, x):
    global NEW
    NEW = 3  # here
    return x


def branch(tg, x):
    return x if x.sum() > 0 else -x  # here


def loop(tg, x):
    while (x > -100).any():  # here
        x = x - 1
    return x


def item(tg, x):
    return x.sum().item()  # here


def item_caught(tg, x):
    try:
        return x * x.sum().item()  # here
    except Exception:
        return x


def as_float(tg, x):
    return float(x[0])  # here


def as_index(tg, x):
    return [1, 2, 3][x.argmax()]  # here


def as_numpy(tg, x):
    return x.detach().numpy()  # here


def as_array(tg, x):
    return np.asarray(x)  # here


def as_list(tg, x):
    return x.tolist()  # here


def printed(tg, x):
    print(x)  # here


def printed_text(tg, x):
    print("a step")  # here
    return x


def formatted(tg, x):
    return f"{x[0]:.2f}"  # here


def clock(tg, x):
    return x * (time.time() > 0)  # here


def date(tg, x):
    return x * datetime.date.today().year  # here


def environment(tg, x):
    return x * len(os.environ.get("HOME", ""))  # here


def working_directory(tg, x):
    return x * len(os.getcwd())  # here


def path_asked(tg, x):
    return x * os.path.exists("/")  # here


def file_opened(tg, x):
    with open(__file__) as file:  # here
        return x * len(file.read())


def file_written(tg, x):
    sys.stdout.write("")  # here
    return x


def entropy(tg, x):
    return x * (0 <= np.random.default_rng().random() < 1)  # here


def own_random(tg, x):
    return x * (0 <= random.Random().random() < 1)  # here


def imported_by_text(tg, x):
    return x * importlib.import_module("math").pi  # here


def identity(tg, x):
    return x * (id(x) > 0)  # here


def weak_reference(tg, x):
    return x * REFERENCE().n  # here


def view_of_memory(tg, x):
    return x * VIEW[0]  # here


def array_of_objects(tg, x):
    return x * OBJECTS[0]  # here


def cached(tg, x):
    return x * of_cache()  # here


def lock(tg, x):
    with LOCK:  # here
        return x * 2


def view_of_keys(tg, x):
    return x * len(KEYS)  # here


def aliased_method(tg, x):
    APPEND(1)
    return x


def finaliser(tg, x):
    Finalised()
    return x


def constructor(tg, x):
    Registered()
    return x


def logged(tg, x):
    logging.getLogger("test").warning("a step")  # here
    return x


def appended(tg, x):
    LOSSES.append(x.sum())  # here
    return x


def appended_number(tg, x):
    LOSSES.append(1)
    return x


def dict_written(tg, x):
    TABLE["n"] = [len(TABLE)]
    return x


def attribute_kept(tg, x):
    HOLDER.kept = Row([x * 2])  # here
    return x


def attribute_counted(tg, x):
    HOLDER.n = (HOLDER.n,)  # here
    return x


def new_attribute(tg, x):
    HOLDER.something_new = 1
    return x


def class_attribute_counted(tg, x):
    Holder.calls += 1  # here
    return x


def function_attribute(tg, x):
    function_attribute.calls = getattr(function_attribute, "calls", 0) + 1
    return x


def default_kept(tg, x, memo=[]):  # noqa: B006
    memo.append(1)
    return x


def from_numpy(tg, x):
    return x + tg.from_numpy(np.ones(3, np.float32))  # here


def tensor_of_numpy(tg, x):
    return x + tg.tensor(np.ones(3, np.float32))  # here


def tensor_of_arrays(tg, x):
    return x + tg.tensor([np.ones(3, np.float32)])  # here


def python_random(tg, x):
    return x * random.random()


def numpy_random(tg, x):
    return x * float(np.random.rand())


def numpy_generator(tg, x):
    return x * float(GENERATOR.random())


def advanced(tg, x):
    return x * next(ITERATOR)


def counted(tg, x):
    return x * next(CALLS)


def large_array(tg, x):
    return x * float(LARGE[5000])


def rebound_data(tg, x):
    W.data = x * 2
    return x


def frozen_for_good(tg, x):
    W.requires_grad_(not W.requires_grad)
    return x


def mode_left(tg, x):
    tg.set_grad_enabled(False)
    return x * 2


def out_of_range_caught(tg, x):
    try:
        return x[(x * 1000).long()]  # here
    except IndexError:
        return x


def gradient_shared(tg, x):
    W.grad = x
    return x * 2


def strange_result(tg, x):
    return {1, 2, 3}


def hook_for_later(tg, x):
    y = W * x  # here
    y.register_hook(lambda g: g * 2)
    return y


def own_backward_for_later(tg, x):
    class Double(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 100

    return Double.apply(W * x)  # here


def scheduler_inside(tg, x):
    SCHEDULER.step()  # here
    return x


def graph_from_outside(tg, x):
    OUTSIDE.sum().backward()  # here
    return x


def copied(tg, x):
    return x + copy.deepcopy(OUTSIDE.detach())  # here


def pickled(tg, x):
    return x + pickle.loads(pickle.dumps(OUTSIDE.detach()))  # here


def masked(tg, x):
    return x[x > 0]  # here


def nonzero(tg, x):
    return tg.nonzero(x)  # here


def full_of_a_tensor(tg, x):
    return tg.full((3,), x[0])  # here


def tensor_of_tensors(tg, x):
    return tg.tensor([x[0], x[1]])  # here


def hook_registered(tg, x):
    W.register_hook(lambda g: g * 2)
    return x


def hook_on_a_graph_from_outside(tg, x):
    OUTSIDE.register_hook(lambda g: g * 2)  # here
    return x


def hook_on_an_operation_from_outside(tg, x):
    OUTSIDE.grad_fn.register_prehook(lambda g: None)  # here
    return x


def sorted_by_value(tg, x):
    return sorted(x)[0]  # here


ALL = [f for f in list(globals().values()) if isinstance(f, type(counter)) and f.__module__ == __name__]
