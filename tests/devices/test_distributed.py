"""A process group of one process: every collective function has its operand as result; more processes are refused."""

import pytest

import tracegrad as tg
from tracegrad import distributed as dist


@pytest.fixture
def group():
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:1", world_size=1, rank=0)
    yield dist
    if dist.is_initialized():
        dist.destroy_process_group()


def test_ranks(group):
    assert (group.get_rank(), group.get_world_size(), group.get_backend()) == (0, 1, "gloo")
    assert group.group.WORLD is group.GroupMember.WORLD is not None and group.is_initialized()
    other = group.new_group([0])
    assert group.get_rank(other) == 0 and group.get_process_group_ranks(other) == [0]
    with pytest.raises(ValueError, match="twice"):
        group.init_process_group("gloo", init_method="tcp://127.0.0.1:1", world_size=1, rank=0)
    group.destroy_process_group()
    assert not group.is_initialized() and group.group.WORLD is None


def test_collective_functions(group):
    x = tg.arange(3.0)
    for written in (x.clone(), x.clone().view(3, 1)):
        group.all_reduce(written)
        group.all_reduce(written, op=group.ReduceOp.MAX, async_op=True).wait()
        group.broadcast(written, 0)
        group.reduce(written, dst=0)
        assert written.flatten().tolist() == [0.0, 1.0, 2.0]
    for gather in (group.all_gather, lambda out, x: group.gather(x, out), group.all_to_all):
        out = [tg.zeros(3)]
        gather(out, [x] if gather is group.all_to_all else x)
        assert out[0].tolist() == [0.0, 1.0, 2.0]
    for scatter in (group.scatter, group.reduce_scatter):
        out = tg.zeros(3)
        scatter(out, [x])
        assert out.tolist() == [0.0, 1.0, 2.0]
    for whole in (group.all_gather_into_tensor, group.reduce_scatter_tensor, group.all_to_all_single):
        out = tg.zeros(3)
        whole(out, x)
        assert out.tolist() == [0.0, 1.0, 2.0]
    objects = [None]
    group.all_gather_object(objects, {"a": 1})
    assert objects == [{"a": 1}]
    assert group.barrier() is None


def test_what_needs_others_is_refused(group):
    x = tg.ones(1)
    for call in (lambda: group.send(x, 0), lambda: group.recv(x, 0), lambda: group.broadcast(x, 1),
                 lambda: group.all_gather([x, x], x), lambda: group.new_group([0, 1])):  # fmt: skip
        with pytest.raises(ValueError):
            call()
    with pytest.raises(RuntimeError, match="AVG"):
        group.all_reduce(x, op=group.ReduceOp.AVG)
    with pytest.raises(TypeError, match="type tensor"):
        group.all_reduce([x])


def test_more_processes_are_refused(monkeypatch):
    with pytest.raises(RuntimeError, match="one process"):
        dist.init_process_group("gloo", init_method="tcp://127.0.0.1:1", world_size=2, rank=0)
    for name, value in dict(RANK="0", WORLD_SIZE="4", MASTER_ADDR="127.0.0.1", MASTER_PORT="1").items():
        monkeypatch.setenv(name, value)
    with pytest.raises(RuntimeError, match="one process"):
        dist.init_process_group("gloo")
    assert not dist.is_initialized()
    monkeypatch.setenv("WORLD_SIZE", "1")
    with pytest.raises(RuntimeError, match="doesn't have MPI built in"):
        dist.init_process_group("mpi")
    assert not dist.is_initialized()
    dist.init_process_group("gloo")
    assert dist.get_world_size() == 1
    dist.destroy_process_group()


def test_distributed_data_parallel(group):
    with pytest.raises(RuntimeError, match="not needed"):
        tg.nn.parallel.DistributedDataParallel(tg.nn.ReLU())
    with pytest.raises(ValueError, match="device_ids"):
        tg.nn.parallel.DistributedDataParallel(tg.nn.Linear(2, 1), device_ids=[0])
    inner = tg.nn.Linear(2, 1)
    model = tg.nn.parallel.DistributedDataParallel(inner)
    with model.no_sync():
        model(tg.ones(3, 2)).sum().backward()
    assert model.module is inner and inner.weight.grad.tolist() == [[3.0, 3.0]]
    assert list(model.state_dict()) == ["module.weight", "module.bias"]
