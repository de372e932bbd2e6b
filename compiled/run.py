"""``step.run(batches)``: many steps of a compiled function, without Python in between where nobody could tell."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..ops.core import switch
from ..tracing.tracebacks import fold
from .common.outermost import clean_up, entry
from .replay.batches import END, Batches, batches_of
from .replay.many_steps import many_steps
from .replay.specialisation import NOT_WRITTEN
from .replay.stacked_results import StackedResults


class Running:
    """The part of a compiled function that calls it many times."""

    @entry
    def run(
        self,
        batches: Any,
        *more: Any,
        every: int | None = None,
        on_log: Callable[[int, Any], object] | None = None,
    ) -> Any:
        """Call the function once for each batch, and return the results of all steps, stacked.

        It means ``[step(*batch) for batch in batches]``, bit for bit: parameters, gradients, random numbers, lists that
        the function appends to, and errors are those of that loop. Where nobody's Python runs in between, as many steps
        as fit into some milliseconds are one call into C, and guards are checked once for all of them. So it is for

        * a list or a tuple of batches; a batch is a tuple or a list of arguments, or the only argument;
        * a tensor, whose rows are the batches, and several tensors (``step.run(xs, ys)``, all of one length): step i
          takes ``xs[i], ys[i]``;
        * a ``TensorDataset`` (the same), and a ``DataLoader`` over one with the library's own samplers and collation.

        Any other iterable is asked for a batch before each step. What cannot be replayed as usual (a batch of another
        shape, a function that looks at numbers, a check that fails) is done step by step, with the same result.

        The results come leaf by leaf: where steps return a tensor of one shape and dtype, a new tensor with the steps
        along its first axis, with the numbers that were in it when its step returned. It requires no gradient, unless
        the steps' own results can still be differentiated. Where steps return anything else, the list of it (None if
        it is always None). Results of different structure come as a list of results; no batches, as ``[]``.

        With `every`, ``on_log(steps, results)`` is called after each so many steps, and after the last ones if fewer
        are left: with how many were done, and with the results since it was called last. It may change anything (a
        learning rate, the model, the list of batches): what the next step depends on is checked again. Raise an
        exception in it to stop.

        After an exception (an error in batch i, KeyboardInterrupt) a whole number of steps is done, as in the loop.
        TypeError for several arguments that are not tensors, ValueError for tensors of different lengths, or for
        `every` that is no positive number or stands without `on_log`.

        PyTorch has no such function. As in ``jax.lax.scan`` data is stacked along the first axis and so are results;
        as with Keras' ``steps_per_execution``, Python is asked every k steps. Other than in both, the loop in Python
        stays the definition: state is where the program keeps it, and nothing has to be rewritten.

        >>> import tracegrad as tg
        >>> w = tg.zeros(1, requires_grad=True)
        >>> optimizer = tg.optim.SGD([w], lr=0.25)
        >>> @tg.compile
        ... def step(x, y):
        ...     optimizer.zero_grad()
        ...     loss = ((x * w - y) ** 2).sum()
        ...     loss.backward()
        ...     optimizer.step()
        ...     return loss
        >>> step.run(tg.ones(5, 1), tg.full((5, 1), 2.0))
        tensor([4.0000, 1.0000, 0.2500, 0.0625, 0.0156])
        """
        _check(every, on_log)
        try:
            return _run(self, batches_of(batches, more), every or sys.maxsize, on_log)
        except BaseException as error:
            clean_up()
            fold(error)
            raise


def _check(every: Any, on_log: Any) -> None:
    if (every is None) is not (on_log is None):
        raise ValueError(
            f"run() got {'on_log without every' if every is None else 'every without on_log'}\n  in the call of run()\n"
            "  Pass both: on_log is called after each so many steps."
        )
    if every is not None and (type(every) is not int or every < 1):
        raise ValueError(
            f"run() got every={every!r}\n  in the call of run()\n  Pass how many steps there are between calls of "
            "on_log: a positive int."
        )


def _run(step: Any, batches: Batches, every: int, on_log: Any) -> Any:
    results = StackedResults()
    total = since = 0
    while True:
        done = _many(step, batches, every - since, results)
        if not done:
            args = batches.next()
            if args is END:
                break
            results.add(step(*args))
            done = 1
        total, since = total + done, since + done
        if since == every:
            on_log(total, results.latest())
            since = 0
    if on_log is not None and since:
        on_log(total, results.latest())
    return results.all()


def _many(step: Any, batches: Batches, most: int, results: StackedResults) -> int:
    """Do the next steps at once; 0 if the next one has to be done by itself."""
    usual = step._usual
    if usual is None or switch.stack:
        return 0
    specialisation = next((s for s in step.specialisations if s.usual is usual), None)
    if specialisation is None or specialisation.unverified:
        return 0
    if specialisation.many is NOT_WRITTEN:
        specialisation.many = many_steps(specialisation)
    if specialisation.many is None:
        return 0
    done: int = specialisation.many.run(batches, most, results)
    if done:
        step.way = "replay"
    return done
