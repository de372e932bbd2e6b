"""Ctrl-C where a block of `tg.deferred()` begins and ends: everything is put back, wherever Python can let it in.

The one exception is the first instruction of the block's ``__exit__``, before which Python calls nothing of ours: the
next beginning of a block puts back what was left then.
"""

import ast
import copy
import gc
import random
import sys
import threading
from pathlib import Path

import pytest
from package_files import ROOT, trees_with

import tracegrad as tg
from tracegrad.compiled import deferral
from tracegrad.compiled.common import collection, threads
from tracegrad.ops.core import switch
from tracegrad.ops.locks import all_locks
from tracegrad.tracing import watch

sys.path.insert(0, str(Path(__file__).parent))

from check_points import CheckPoints  # noqa: E402

START = threading.Thread.start
# Python drops an exception that comes within a callback of the garbage collector, and says so.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
OWN = {deferral.__file__, collection.__file__, threads.__file__, watch.__file__}


class Program:
    """Steps within a block, as ``with`` or by the decorator."""

    def __init__(self, tiered, is_decorator):
        tg.manual_seed(0)
        self.model = tg.nn.Sequential(tg.nn.Linear(2, 3), tg.nn.Tanh(), tg.nn.Linear(3, 1))
        self.optimizer = tg.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.block = tg.deferred(tiered=tiered)
        self.decorated = self.block(self.steps) if is_decorator else None
        self.x, self.losses = tg.tensor([[1.0, -1.0], [0.5, 2.0]]), []

    def steps(self):
        for _ in range(2):
            self.optimizer.zero_grad()
            loss = (self.model(self.x) ** 2).sum()
            loss.backward()
            self.optimizer.step()
            self.losses.append(loss.item())

    def call(self):
        if self.decorated is not None:
            self.decorated()
            return
        with self.block:
            self.steps()


def is_of_blocks(code):
    return code.co_filename in OWN


def assert_nothing_in_place():
    assert switch.stack == () and watch._local.server is None and watch._local.watcher is None
    assert threading.Thread.start is START and threads.heard_by() is None
    assert collection.listening() == (bool, bool) and gc.isenabled()
    assert not any(lock._is_owned() for lock in all_locks())


def points(*form):
    """The first and the last time of each place in the third call."""
    program = Program(*form)
    for _ in range(2):
        program.call()
    tracer = CheckPoints(is_of_blocks)
    tracer.run(program.call)
    return [(place, time) for place, times in tracer.seen.items() for time in sorted({1, times})]


def begins_exit(at):
    return at[0] == (deferral.deferred.__exit__.__code__, "start")


def eager_losses(program):
    """Of a program that goes on from the same state in eager mode."""
    twin = Program(False, False)
    twin.model.load_state_dict(program.model.state_dict())
    twin.optimizer.load_state_dict(copy.deepcopy(program.optimizer.state_dict()))
    twin.steps()
    return twin.losses


def interrupted(form, at):
    """True if the call came to this place."""
    program = Program(*form)
    for _ in range(2):
        program.call()
    tracer = CheckPoints(is_of_blocks, at)
    if not tracer.run(program.call):
        return False
    try:
        check(program, at)
    except AssertionError as error:
        error.add_note(f"interrupted at {tracer.where}")
        raise
    return True


def check(program, at):
    if not begins_exit(at):
        assert_nothing_in_place()
    for _ in range(3):
        program.losses.clear()
        expected = eager_losses(program)
        program.call()
        assert program.losses == pytest.approx(expected, rel=1e-4)
        assert_nothing_in_place()


FORMS = {"with": (False, False), "decorator": (False, True), "tiered": (True, False)}


@pytest.mark.parametrize("form", FORMS)
def test_a_sample_of_the_places(form):
    places = points(*FORMS[form])
    assert len(places) > (30 if sys.version_info[:2] == (3, 12) else 60)  # Python 3.12 tells a tracer of fewer
    drawn = random.Random(8).sample(places, 4)
    assert all(interrupted(FORMS[form], at) for at in {*drawn, *filter(begins_exit, places)})


@pytest.mark.long(every=3)
@pytest.mark.parametrize("form", FORMS)
def test_every_place(form):
    places = points(*FORMS[form])
    come = sum(interrupted(FORMS[form], at) for at in places)
    assert come > 0.9 * len(places)  # the last time of a place is another one in a call that takes another way


def test_an_end_that_was_skipped_is_made_up_for_in_the_same_frame():
    """A loop that catches the interrupt and goes on to the next block."""
    block, caught = tg.deferred(), 0
    code = deferral.deferred.__exit__.__code__
    entry = CheckPoints(lambda each: each is code, ((code, "start"), 1))

    def loop():
        nonlocal caught
        for turn in range(3):
            try:
                if turn == 1:
                    entry.run(lambda: leave(block))
                    caught += 1
                    continue
                with block:
                    assert (tg.ones(2) * turn).tolist() == [turn, turn]
                assert_nothing_in_place()
            except KeyboardInterrupt:
                caught += 1

    loop()
    assert caught == 1


def leave(block):
    with block:
        tg.ones(2) * 3


@pytest.mark.long(fast=1)
def test_locks_are_taken_by_with_alone():
    """Between ``acquire()`` and the ``try`` after it Python may raise an interrupt; within ``with`` it does not."""
    found = set()
    for path, tree in trees_with("acquire"):
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == "acquire":
                found.add(path.relative_to(ROOT).as_posix())
    assert found <= {"ops/locks.py"}  # around fork(), where they are put into a list
