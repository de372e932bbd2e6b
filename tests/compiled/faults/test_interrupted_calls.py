"""Ctrl-C in calls that put something in place for their length, and in blocks that do: what held before holds again."""

import gc
import sys
import warnings
from pathlib import Path

import pytest

import tracegrad as tg
from tracegrad.autograd import graph
from tracegrad.ops.core import switch
from tracegrad.tape.grad_mode import switches
from tracegrad.tape.saved import packing
from tracegrad.tensors import autocasting
from tracegrad.tensors.generator import default_generator
from tracegrad.tracing import watch
from tracegrad.utils import checkpoint

sys.path.insert(0, str(Path(__file__).parent))

from check_points import CheckPoints  # noqa: E402

# Python drops an exception that comes within a generator that is being closed, and says so.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
FILES = (
    "autograd/graph devices/backends/cuda devices/backends/flags func/modules tape/grad_mode tape/saved "
    "tensors/autocasting tracing/blocks tracing/settings utils/checkpoint utils/recomputation utils/reentrant"
)
OWN = {str(Path(tg.__file__).parent / f"{file}.py") for file in FILES.split()}


def wanted(code):
    return code.co_filename in OWN and code.co_name != "__del__"


def in_place():
    """What calls and blocks change of the thread and the process."""
    kernels = tg.backends.cuda.flash_sdp_enabled(), tg.backends.cuda.math_sdp_enabled()
    modes = autocasting.state.modes, switches.enabled, switches.inference, packing.hooks, switch.stack
    of_process = checkpoint._early_stop.now(), checkpoint._debug.now(), graph._disabled.message
    return modes, watch.local.server, of_process, kernels, tg.backends.fp32_precision


class Functional:
    """``functional_call``: the module has its own tensors."""

    def __init__(self):
        self.model = tg.nn.Sequential(tg.nn.Linear(2, 2), tg.nn.BatchNorm1d(2))
        self.mine = [dict(each) for each in self.registries()]
        names = ("0.weight", "0.bias", "1.weight", "1.running_mean", "1.new")
        self.others = {name: tg.ones(2, 2) if name == "0.weight" else tg.ones(2) for name in names}

    def registries(self):
        return [registry for m in self.model.modules() for registry in (m._parameters, m._buffers)]

    def call(self):
        tg.func.functional_call(self.model, self.others, tg.tensor([[1.0, 2.0], [2.0, 5.0]]))

    def check(self):
        for registry, mine in zip(self.registries(), self.mine, strict=True):
            assert registry.keys() == mine.keys() and all(registry[name] is mine[name] for name in mine)


class Stateless(Functional):
    """The same by its old name, which says that it is deprecated, and tells what the call has rebound."""

    def __init__(self):
        super().__init__()
        del self.others["1.new"]  # it leaves out what is not there

    def call(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            tg.nn.utils.stateless.functional_call(self.model, self.others, tg.tensor([[1.0, 2.0], [2.0, 5.0]]))


class Checkpointed:
    """The backward pass of a checkpoint: the random numbers go on where they were."""

    use_reentrant = False

    def __init__(self):
        tg.manual_seed(0)
        self.x = tg.ones(3, requires_grad=True)
        with tg.autocast("cpu", dtype=tg.bfloat16):
            self.out = self.forward(self.x * 1).sum()
        self.random = default_generator.get_state().tolist()

    def forward(self, x):
        inner = lambda x: tg.nn.functional.dropout(x.exp(), 0.5).sin()  # noqa: E731
        outer = lambda x: tg.utils.checkpoint.checkpoint(inner, x.cos(), use_reentrant=self.use_reentrant) * x  # noqa: E731
        return tg.utils.checkpoint.checkpoint(outer, x, use_reentrant=self.use_reentrant)

    def call(self):
        self.out.backward()

    def check(self):
        assert default_generator.get_state().tolist() == self.random


class Reentrant(Checkpointed):
    use_reentrant = True


class First(Checkpointed):
    """The first call of a checkpoint."""

    def call(self):
        self.forward(self.x * 1)

    def check(self):
        """Some numbers may have been drawn."""


class Blocks:
    """Blocks, within each other and entered again."""

    def call(self):
        hooks = tg.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x)
        with tg.backends.flags(fp32_precision="ieee"), tg.backends.cuda.sdp_kernel(enable_flash=False):
            with hooks, tg.utils.checkpoint.set_checkpoint_early_stop(False), hooks:
                with tg.utils.checkpoint.set_checkpoint_debug_enabled(True):
                    with tg.autograd.graph.disable_saved_tensors_hooks("no"):
                        tg.ones(2)

    def check(self):
        """Nothing besides."""


CASES = (Functional, Stateless, Checkpointed, Reentrant, First, Blocks)


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.long(fast=4)
def test_wherever_python_can_let_it_in(kind):
    counter = CheckPoints(wanted)
    assert not counter.run(kind().call)
    before, count = in_place(), 0
    for place, times in counter.seen.items():
        for time in sorted({1, times}):
            tracer, case = CheckPoints(wanted, (place, time)), kind()
            count += tracer.run(case.call)
            gc.collect(0)
            assert in_place() == before, tracer.where
            case.check()
    assert count > 10
