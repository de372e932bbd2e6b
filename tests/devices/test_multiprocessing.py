"""Tensors in memory that processes share: what one writes in place, the others see."""

import os
import pickle
import sys
from multiprocessing.reduction import ForkingPickler

import numpy as np
import pytest
from process_functions import Tagged, Weight, double, fail, leave, train, train_part

import tracegrad as tg
from tracegrad import multiprocessing as mp
from tracegrad.tensors import shared_memory

#: A spawned process imports all anew.
METHODS = ["fork", pytest.param("spawn", marks=pytest.mark.long)]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="refused there")


@pytest.mark.parametrize("method", METHODS)
def test_processes_see_what_others_write(method):
    context = mp.get_context(method)
    queue, answers = context.Queue(), context.Queue()
    x, model, sent = tg.ones(3).share_memory_(), tg.nn.Linear(2, 2), tg.zeros(2, 2)
    assert model.share_memory() is model and all(p.is_shared() for p in model.parameters())
    process = context.Process(target=double, args=(queue, answers, x, model))
    process.start()
    queue.put(sent)
    view, own = answers.get(timeout=60), answers.get(timeout=60)
    queue.put(None)
    process.join(60)
    assert process.exitcode == 0 and x.tolist() == [2.0, 2.0, 2.0] and own.tolist() == [0, 1, 2, 3]
    assert model.weight.tolist() == [[3.0, 3.0], [3.0, 3.0]] and isinstance(model.weight, tg.nn.Parameter)
    assert sent.is_shared() and sent.tolist() == [[7.0, 7.0], [7.0, 7.0]]
    view.fill_(9.0)
    assert x.tolist() == [2.0, 9.0, 9.0]


@pytest.mark.parametrize("method", METHODS)
def test_compiled_steps_write_to_shared_parameters(method):
    tg.manual_seed(0)
    model = tg.nn.Linear(2, 1)
    alone = tg.nn.Linear(2, 1)
    alone.load_state_dict(model.state_dict())
    model.share_memory()
    x = tg.rand(4, 2)
    train(alone, x)
    process = mp.get_context(method).Process(target=train, args=(model, x))
    process.start()
    process.join(120)
    assert process.exitcode == 0
    tg.testing.assert_close(model.state_dict(), alone.state_dict())


def test_spawn():
    assert mp.spawn(fail, ("more",), nprocs=1, start_method="fork") is None
    with pytest.raises(mp.ProcessRaisedException, match="ValueError: no more"):
        mp.spawn(fail, ("more",), nprocs=2, start_method="fork")
    with pytest.raises(mp.ProcessExitedException, match="exit code 3") as caught:
        mp.start_processes(leave, start_method="fork")
    assert caught.value.exit_code == 3


def test_what_cannot_be_shared_is_refused():
    with pytest.raises(RuntimeError, match="Cowardly refusing"):
        ForkingPickler.dumps(tg.ones(1, requires_grad=True) * 2)
    with pytest.raises(RuntimeError, match="uninitialized"):
        tg.nn.LazyLinear(2).share_memory()


def sent(value):
    """What another process would get."""
    return ForkingPickler.loads(ForkingPickler.dumps(value))


class OfItsOwnForm(Tagged):
    def __reduce_ex__(self, protocol):
        return super().__reduce_ex__(protocol)


#: A tensor of each kind that programs have.
KINDS = {
    "plain": lambda: tg.arange(6.0),
    "requires_grad": lambda: tg.ones(3, requires_grad=True),
    "parameter": lambda: tg.nn.Parameter(tg.ones(3)),
    "parameter_subclass": lambda: Weight(tg.ones(3)),
    "subclass": lambda: tg.arange(6.0).as_subclass(Tagged),
    "subclass_with_a_form": lambda: tg.arange(6.0).as_subclass(OfItsOwnForm),
    "parameter_of_a_subclass": lambda: tg.nn.Parameter(tg.ones(3).as_subclass(Tagged)),
    "buffer": lambda: tg.nn.Buffer(tg.ones(3)),
    "view": lambda: tg.arange(6.0)[2:4],
    "strides": lambda: tg.arange(6.0).view(2, 3).t(),
    "repeated": lambda: tg.arange(3.0).expand(4, 3)[:1],
    "as_strided": lambda: tg.arange(9.0).as_strided((2, 2), (3, 1), 1),
    "flipped_by_numpy": lambda: tg.from_numpy(np.arange(4.0)[:1:]),
    "short": lambda: tg.ones(3, dtype=tg.bfloat16),
    "complex": lambda: tg.ones(2, dtype=tg.complex64),
    "number": lambda: tg.tensor(3.0),
}


@pytest.mark.parametrize("kind", KINDS)
def test_sent_tensors_are_the_same_memory_and_class(kind):
    tensor = KINDS[kind]()
    values = tensor.tolist()
    received = sent(tensor)
    assert type(received) is type(tensor) and received.is_leaf and received.requires_grad == tensor.requires_grad
    assert isinstance(received, tg.nn.Parameter) == isinstance(tensor, tg.nn.Parameter)
    assert received.tolist() == values == tensor.tolist() and received.stride() == tensor.stride()
    assert received.is_shared() and tensor.is_shared() and received.data_ptr() == tensor.data_ptr()
    with tg.no_grad():
        received.fill_(7.0)
    assert set(np.ravel(tensor.tolist())) == {7.0}


def test_sent_tensors_keep_the_program_s_attributes():
    weight = Weight(tg.ones(2))
    weight.level, weight.grad = 3, tg.ones(2)
    assert sent(weight).level == 3 and sent(weight).grad is None
    copied = pickle.loads(pickle.dumps(weight))
    assert type(copied) is Weight and copied.level == 3 and not copied.is_shared()


def test_sharing_moves_all_that_shows_the_memory():
    x = tg.arange(6.0)
    view, alias, hidden, storage = x.view(2, 3).t(), x.detach(), x.data, x.untyped_storage()
    history = tg.ones(3, requires_grad=True)
    result = history * history
    assert view.share_memory_() is view and result.share_memory_() is result and history.share_memory_() is history
    assert all(of.is_shared() for of in (x, view, alias, hidden, storage, result))
    view[2, 1] = 9.0
    assert [of[5].item() for of in (x, alias, hidden)] == [9.0] * 3 and storage.nbytes() == 24
    assert x._version == alias._version == 1 and hidden._version == 0
    result.sum().backward()
    assert history.grad.tolist() == [2.0, 2.0, 2.0]
    storage.share_memory_()[0:4].fill_(0)
    assert sent(storage).data_ptr() == storage.data_ptr()


def test_writes_after_sharing_are_seen_by_the_version_check():
    x = tg.ones(3, requires_grad=True)
    result = x * x
    x.share_memory_()
    with tg.no_grad():
        x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        result.sum().backward()


def test_what_is_received_twice_is_one_memory():
    x = tg.arange(4.0)
    whole, part = sent((x, x[1:]))
    assert part.data_ptr() == whole.data_ptr() + 4

    @tg.compile
    def step(a, b):
        a.add_(1)
        return b * 2

    for i in range(1, 5):
        assert step(whole, part).tolist() == [2 * (j + i) for j in (1, 2, 3)]


@pytest.mark.parametrize("compiled", [False, True])
def test_processes_train_one_set_of_parameters(compiled):
    """One after the other, so that the result is determined: PyTorch's is the same."""
    tg.manual_seed(0)
    model = tg.nn.Sequential(tg.nn.Linear(3, 4), tg.nn.Tanh(), tg.nn.Linear(4, 1))
    model.share_memory()
    for rank in range(2):
        process = mp.get_context("fork").Process(target=train_part, args=(rank, model, compiled))
        process.start()
        process.join(120)
        assert process.exitcode == 0
    expected = [0.5811452865600586, -0.675212025642395]
    with tg.no_grad():
        found = [model(tg.ones(1, 3)).item(), model[0].weight.sum().item()]
    assert found == pytest.approx(expected, rel=1e-5)


def test_sharing_keeps_what_a_tensor_is():
    weight = tg.nn.Parameter(tg.rand(3, 2))
    values, kept = weight.tolist(), weight
    weight.share_memory_()
    assert kept is weight and weight.tolist() == values and weight.requires_grad and weight.is_leaf
    (weight * 2).sum().backward()
    assert weight.grad.tolist() == [[2.0, 2.0]] * 3
    assert pickle.loads(pickle.dumps(weight)).tolist() == values
    for dtype in (tg.bfloat16, tg.int64, tg.bool, tg.complex64):
        assert tg.ones(2, dtype=dtype).share_memory_().dtype is dtype
    assert tg.ones(0).share_memory_().shape == (0,) and tg.tensor(3.0).share_memory_().item() == 3.0


def test_a_compiled_function_follows_a_parameter_into_shared_memory():
    weight = tg.nn.Parameter(tg.ones(2))
    step = tg.compile(lambda x: (weight * x).sum())
    for i in range(4):
        if i == 2:
            weight.share_memory_()
        with tg.no_grad():
            weight.fill_(float(i))
        assert step(tg.ones(2)).item() == 2.0 * i


def test_a_descriptor_that_a_mapping_keeps_is_not_closed():
    """Spawned processes are sent one for all tensors that show the same memory."""
    mapping = shared_memory.new_mapping(8)
    assert shared_memory.SharedMapping.of(mapping.descriptor, 8) is mapping
    assert os.fstat(mapping.descriptor).st_size == 8
