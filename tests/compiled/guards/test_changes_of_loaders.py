"""Loaders, samplers and datasets that a compiled function reads: what they are made of is replaced, or changes in
place, after calls were replayed or re-recorded."""

import pytest
from compiled.changing import Programs, assert_changes_are_noticed
from side_by_side import ramp

from tracegrad.tracing.declares import declares
from tracegrad.tracing.watched_classes import classes

program = Programs()


def items(tg, count=6):
    return [ramp(tg, 3) * (i + 1) for i in range(count)]


def loader_of(tg, **options):
    return tg.utils.data.DataLoader(items(tg), batch_size=2, **options)


def generator(tg, seed=1):
    return tg.Generator().manual_seed(seed)


def added(batch):
    """What is made of the items of a batch."""
    return sum(batch[1:], batch[0])


def doubled(batch):
    return added(batch) * 2.0


#: What a step reads of a loader.
READS = {
    "all": lambda x, loader: x * sum(batch.sum() for batch in loader),
    "the first": lambda x, loader: x * next(iter(loader)).sum(),
    "its length": lambda x, loader: x * float(len(loader)),
    "its size of batches": lambda x, loader: x * (loader.batch_size or 1),
    "whether it drops": lambda x, loader: x * (2.0 if loader.drop_last else 3.0),
    "its dataset": lambda x, loader: x * loader.dataset[0],
    "the length of its dataset": lambda x, loader: x * float(len(loader.dataset)),
    "its function": lambda x, loader: x * loader.collate_fn([x, x]).sum(),
    "its indices": lambda x, loader: x * float(next(iter(loader.sampler))),
    "its batches of indices": lambda x, loader: x * float(len(next(iter(loader.batch_sampler)))),
}


def collated(tg, batch):
    return tg.stack(batch)


def set_past(loader, **attributes):
    """Set what a loader refuses to have set."""
    vars(loader).update(attributes)


#: How a loader changes.
CHANGES = {
    "dataset": lambda tg, of, v: set_past(of, dataset=[item * v for item in items(tg, 6 if v == 2.0 else 4)]),
    "items of the dataset": lambda tg, of, v: of.dataset.__setitem__(0, ramp(tg, 3) * v),
    "more items": lambda tg, of, v: of.dataset.append(ramp(tg, 3) * v),
    "numbers of the items": lambda tg, of, v: of.dataset[0].fill_(v),
    "size of batches": lambda tg, of, v: _resized(tg, of, int(v)),
    "size of batches by attribute": lambda tg, of, v: set_past(of, batch_size=int(v)),
    "dropping": lambda tg, of, v: _dropping(of, v == 5.0),
    "function": lambda tg, of, v: setattr(of, "collate_fn", doubled if v == 5.0 else added),
    "sampler": lambda tg, of, v: setattr(of.batch_sampler, "sampler", range(int(v) - 1)),
    "sampler by attribute": lambda tg, of, v: set_past(of, sampler=range(1, int(v))),
    "generator": lambda tg, of, v: setattr(of, "generator", generator(tg, int(v))),
    "seed": lambda tg, of, v: tg.manual_seed(int(v)),
    "class": lambda tg, of, v: setattr(of, "__class__", _reversed(type(of))),
}


def _resized(tg, loader, size):
    set_past(loader, batch_sampler=tg.utils.data.BatchSampler(loader.sampler, size, False))


def _dropping(loader, drops):
    set_past(loader, drop_last=drops)
    loader.batch_sampler.drop_last = drops


def _reversed(kind):
    return type("Reversed", (kind,), {"__iter__": lambda self: iter([*kind.__iter__(self)][::-1])})


def with_loader(what, read, how, change, shuffled):
    def maker(tg):
        options = {"shuffle": True, "generator": generator(tg)} if shuffled else {}
        loader = loader_of(tg, collate_fn=None if what == "its function" else added, **options)
        return lambda x: read(x, loader), lambda v: change(tg, loader, v)

    maker.__name__ = f"{what}, {how}{', shuffled' if shuffled else ''}"
    program(maker)


for _what, _read in READS.items():
    for _how, _change in CHANGES.items():
        with_loader(_what, _read, _how, _change, False)
for _what in ("all", "the first", "its indices"):
    for _how in ("generator", "seed", "dataset", "more items"):
        with_loader(_what, READS[_what], _how, CHANGES[_how], True)


#: Samplers and datasets by themselves: how they are made, read and changed.
THINGS = {
    "sequential": (
        lambda tg, data: data.SequentialSampler([1, 2]),
        lambda s: len(list(s)),
        lambda tg, s, v: s.data_source.append(v),
    ),
    "source": (
        lambda tg, data: data.SequentialSampler([1, 2]),
        lambda s: len(s),
        lambda tg, s, v: setattr(s, "data_source", [1] * int(v)),
    ),
    "subset": (
        lambda tg, data: data.SubsetRandomSampler([7, 7]),
        lambda s: sum(s),
        lambda tg, s, v: s.indices.append(int(v)),
    ),
    "indices": (
        lambda tg, data: data.SubsetRandomSampler([7, 7]),
        lambda s: len(s),
        lambda tg, s, v: setattr(s, "indices", [1] * int(v)),
    ),
    "random": (
        lambda tg, data: data.RandomSampler([1, 2, 3]),
        lambda s: len(s),
        lambda tg, s, v: setattr(s, "_num_samples", int(v)),
    ),
    "replacement": (
        lambda tg, data: data.RandomSampler([1, 2, 3]),
        lambda s: 2.0 if s.replacement else 3.0,
        lambda tg, s, v: setattr(s, "replacement", v == 5.0),
    ),
    "random order": (
        lambda tg, data: data.RandomSampler(list(range(9)), generator=generator(tg)),
        lambda s: list(s)[0],
        lambda tg, s, v: s.generator.manual_seed(int(v)),
    ),
    "weights": (
        lambda tg, data: data.WeightedRandomSampler([1.0, 0.0], 3),
        lambda s: sum(s),
        lambda tg, s, v: s.weights.copy_(tg.tensor([0.0, 1.0])),
    ),
    "weights read": (
        lambda tg, data: data.WeightedRandomSampler([1.0, 0.0], 3),
        lambda s: s.weights.sum(),
        lambda tg, s, v: s.weights.copy_(tg.tensor([0.0, v])),
    ),
    "number of samples": (
        lambda tg, data: data.WeightedRandomSampler([1.0, 0.0], 3),
        lambda s: s.num_samples,
        lambda tg, s, v: setattr(s, "num_samples", int(v)),
    ),
    "batches": (
        lambda tg, data: data.BatchSampler([1, 2, 3], 2, False),
        lambda s: len(s),
        lambda tg, s, v: setattr(s, "batch_size", int(v)),
    ),
    "dropped": (
        lambda tg, data: data.BatchSampler([1, 2, 3], 2, False),
        lambda s: len(list(s)),
        lambda tg, s, v: setattr(s, "drop_last", v == 5.0),
    ),
    "tensors": (
        lambda tg, data: data.TensorDataset(tg.ones(3) * 2.0),
        lambda s: s[0][0],
        lambda tg, s, v: setattr(s, "tensors", (tg.ones(3) * v,)),
    ),
    "part": (
        lambda tg, data: data.Subset([1.0, 2.0, 3.0], [0, 1]),
        lambda s: s[1],
        lambda tg, s, v: s.indices.__setitem__(1, 2),
    ),
    "parts joined": (
        lambda tg, data: data.ConcatDataset([[1.0], [2.0, 3.0]]),
        lambda s: s[1] + len(s),
        lambda tg, s, v: s.cumulative_sizes.__setitem__(1, int(v)),
    ),
    "limits": (lambda tg, data: tg.finfo(tg.float32), lambda s: s.eps, lambda tg, s, v: setattr(s, "eps", v)),
}


def with_thing(name, make, look, change):
    def maker(tg):
        thing = make(tg, tg.utils.data)
        return lambda x: x * look(thing), lambda v: change(tg, thing, v)

    maker.__name__ = name
    program(maker)


for _name, _row in THINGS.items():
    with_thing(_name, *_row)


@pytest.mark.parametrize("make", program.rows())
def test_changes_of_loaders(tg, make):
    assert_changes_are_noticed(tg, make)


# What these classes hold is of one call, or is looked at by the recording itself.
OF_A_CALL = {
    "Function",
    "FunctionCtx",
    "Registry",
    "StackedRows",
    "Traversal",
    "Calling",  # these are bases of modules and optimizers, which say it
    "StateHooks",
    "Joinable",
    "StepHooks",
    "StepsAsCalls",
    "FlatParameters",
    "LazyModuleMixin",
    "_LazyConvolution",
    "_LazyConv",
    "_LazyConvTranspose",
    "_LazyNorm",
    "Counted",
    "Generator",
    "DisableTorchFunctionSubclass",
    "_GradMode",
    "_Decorator",
    "_BareGradMode",
    "enable_grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
}


# They are refused, or what they hold is memory, looked at as tensors are.
NEVER_COMPUTED_WITH = {
    f"tracegrad.{package}"
    for package in (
        "devices.answers",
        "devices.cpu",
        "devices.cuda",
        "devices.cuda.tensor_types",
        "devices.distributed.collectives",
        "devices.distributed.groups",
        "devices.multiprocessing.spawning",
        "serialization.settings",
        "serialization.storages",
        "serialization.trust",
        "serialization.untyped_storage",
        "utils.benchmark.timer",
    )
}


TENSORS = ("Tensor", "Parameter", "Buffer", "UninitializedBuffer")


def test_every_public_class_with_attributes_says_what_is_read_of_them():
    kinds = [kind for kind in classes.kinds if kind.__module__ not in NEVER_COMPUTED_WITH]
    silent = {kind.__name__ for kind in kinds if kind.__dictoffset__ and declares(kind) is None}
    assert {name for name in silent if name not in TENSORS} == OF_A_CALL
