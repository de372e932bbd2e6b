"""Counts calls of Python functions in re-recorded steps.

Run as a program, so that the counts are those of a new process: in one in which other tests have run there are threads,
classes of tensors, sparse tensors and shared memory, and a step asks about each of them.
"""

import json
import sys

from disturbances import Nothing, Training
from side_by_side import batch

import tracegrad as tg


class Alternating(Training):
    """Trains and evaluates in turn; no layer of the model asks for the mode."""

    def step(self, x):
        self.model.train(self.n % 2 == 0)
        if self.model.training:
            return super().step(x)
        self.n += 1
        with self.tg.no_grad():
            return self.loss(x)


STEPS = {
    "plain": lambda: Training(tg, Nothing),
    "looks": lambda: Training(tg, Nothing, looks=True),
    "alternating": lambda: Alternating(tg, Nothing),
}


def calls_of_python(step, data):
    """Calls of Python functions for one step, and how many of all are the engine's."""
    count = {"calls": 0, "engine": 0}

    def listen(frame, event, argument):
        if event == "call":
            count["calls"] += 1
            count["engine"] += frame.f_code.co_filename.endswith("engine.py")

    sys.setprofile(listen)
    try:
        for x in data:
            step(x)
    finally:
        sys.setprofile(None)
    return count["calls"] / len(data), count["engine"]


def counted(name):
    """The way in which a warm step is served, its calls of Python, and those of the engine."""
    step = tg.compile(STEPS[name]().step)
    data = [batch(tg, i, 5, 3) for i in range(8)]
    for i in range(64):
        step(data[i % 8])
    return (step.way, *calls_of_python(step, data))


if __name__ == "__main__":
    print(json.dumps({name: counted(name) for name in STEPS}))
