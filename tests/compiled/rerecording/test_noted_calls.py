"""Calls of models, losses and optimizers that re-recorded calls note instead of making them."""

import concurrent.futures
import logging
import queue
import threading

import pytest
from side_by_side import Program, batch, batches, ramp

SEEN = []


def classifier(tg):
    tg.manual_seed(0)
    return tg.nn.Sequential(tg.nn.Linear(3, 6), tg.nn.Tanh(), tg.nn.Linear(6, 4))


def training(tg, model, between, calls=lambda model, x: model(x)):
    """A step that counts its calls; `between` is done after the forward pass, with the number of the call."""
    parameters = list(model.parameters())
    optimizer = tg.optim.SGD(parameters, lr=0.05, momentum=0.9)
    loss_of = tg.nn.CrossEntropyLoss()
    targets = tg.tensor([0, 3, 1, 2, 0])
    counted = {"n": 0}
    del SEEN[:]

    def step(x):
        counted["n"] += 1
        SEEN.append(counted["n"])
        optimizer.zero_grad()
        loss = loss_of(calls(model, x), targets)
        put_back = between(counted["n"], parameters, loss)
        loss.backward()
        optimizer.step()
        if put_back is not None:
            put_back()
        return loss

    return Program(step, batches(tg, 5, 3), lambda: [parameters, counted])


def scaled(tg):
    """A model of whose parameters the tape keeps the first itself, and views of weights."""

    class Model(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = tg.nn.Parameter(ramp(tg, 3))
            self.inner = classifier(tg)

        def forward(self, x):
            return self.inner(tg.tanh((x * self.scale) * self.scale + 1))

    return Model()


@pytest.mark.parametrize("way", ["computed", "swapped"])
@pytest.mark.parametrize("position", [0, 3, 4])  # kept itself; kept as a view; not kept
def test_parameters_with_other_memory_between_forward_and_backward(agree, position, way):
    """``p.data = other``: the backward pass reads what eager mode's tape would read."""

    def make(tg):
        model = scaled(tg)
        which = list(model.parameters())[position]
        own, other = which.data, which.detach() * 1.5 + 0.25

        def between(n, parameters, loss):
            if way == "swapped" and n > 5:
                which.data = other
                return lambda: setattr(which, "data", own)
            if way == "computed" and n % 3 != 1:
                which.data = which.data * 0.9
            return None

        return training(tg, model, between)

    assert agree(make, calls=9).way == "re-record"


def test_a_tensor_kept_itself_and_as_a_view_is_refused(tg):
    """Eager mode would read its old memory in one place and the new in another."""

    class Model(tg.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = tg.nn.Parameter(ramp(tg, 3, 3))

        def forward(self, x):
            return tg.tanh(tg.tanh(x) @ self.weight.T @ self.weight) * (self.weight * self.weight)[0]

    model = Model()
    compiled = tg.compile(model)
    for i in range(4):
        compiled(batch(tg, i, 5, 3).requires_grad_()).sum().backward()
    loss = compiled(batch(tg, 5, 5, 3).requires_grad_()).sum()
    model.weight.data = model.weight.data * 2
    with pytest.raises(RuntimeError, match="has been given other memory"):
        loss.backward()


def test_other_shapes_between_forward_and_backward(tg):
    """A gradient has the shape that its leaf had in the forward pass."""

    def between(n, parameters, loss):
        if n == 9:
            parameters[1].data = tg.zeros(40000)

    program = training(tg, classifier(tg), between)
    step = tg.compile(program.step)
    for i in range(8):
        step(*program.args(i))
    with pytest.raises(RuntimeError, match="assign a gradient of size"):
        step(*program.args(8))


def test_names_of_nodes(agree):
    def make(tg):
        def look(n, parameters, loss):
            node = loss.grad_fn
            SEEN.append((node.name(), type(node).__name__, str(node).split(" ")[0]))

        program = training(tg, classifier(tg), look)
        state = program.state
        program.state = lambda: [state(), list(SEEN)]
        return program

    assert agree(make, calls=8).way == "re-record"


def in_thread(look):
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()


POOL = None
QUEUE, ANSWERS = queue.Queue(), queue.Queue()


def answer():
    while (look := QUEUE.get()) is not None:
        ANSWERS.put(look())


@pytest.fixture
def others(monkeypatch):
    """Threads of the program that wait for work: one behind the queue, one in the pool."""
    thread = threading.Thread(target=answer)
    thread.start()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        monkeypatch.setitem(globals(), "POOL", pool)
        yield
    QUEUE.put(None)
    thread.join()


def in_queue(look):
    QUEUE.put(look)
    ANSWERS.get()


def in_pool(look):
    POOL.submit(look).result()


LOOKS = {
    "loss": lambda parameters, loss: SEEN.append(loss.item()),
    "parameters": lambda parameters, loss: SEEN.extend(p.sum().item() for p in parameters),
    "backward": lambda parameters, loss: loss.backward(retain_graph=True),
}


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("where", [in_thread, in_pool, in_queue])
def test_what_other_threads_look_at_is_there(agree, others, where, look):
    def make(tg):
        def between(n, parameters, loss):
            with tg.no_grad():
                parameters[1].mul_(0.9)
            where(lambda: LOOKS[look](parameters, loss))

        program = training(tg, classifier(tg), between)
        state = program.state
        program.state = lambda: [state(), list(SEEN)]
        return program

    step = agree(make, calls=6)
    assert step.way == "eager"
    assert "other threads may look at tensors" in step.explain()


def test_a_logger_hands_nothing_to_threads(agree):
    """It has a lock, for itself."""
    log = logging.getLogger("a_training")

    def make(tg):
        return training(tg, classifier(tg), lambda n, parameters, loss: log.debug("loss %s", loss.item()))

    assert agree(make, calls=6).way == "re-record"
