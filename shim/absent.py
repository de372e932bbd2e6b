"""What is said where a program asks for a part of PyTorch that is not here."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from ..ops.lazy import late
from ..tracing.unknown_names import INSTEAD

difflib = late("difflib")

#: What to use for modules that are left out for good, by the beginning of their path.
_MODULES = {
    "torch.fx": "step.graph of a function under torch.compile is its graph",
    "torch.onnx": "step.source of a function under torch.compile is C without Python",
    "torch.export": "step.source of a function under torch.compile is C without Python",
    "torch.distributed": "there is one process; threads are set by torch.set_num_threads()",
    "torch.quantization": "there are no quantised types",
    "torch.ao": "there are no quantised types",
    "torch.package": "torch.save() and torch.load() keep models",
    "torch.nn.quantized": "there are no quantised types",
    "torch.nn.qat": "there are no quantised types",
    "torch.nn.intrinsic": "there are no quantised types",
    "torch.utils.cpp_extension": "extensions in C++ need PyTorch's own library; torch.compile makes C of a function",
    "torch._six": "PyTorch itself has removed it: Python's collections and str take its place",
    "torch.library": "torch.autograd.Function makes an operation with a derivative",
    "torch.ops": "operations are functions of torch and torch.nn.functional; libraries in C++ cannot be loaded",
    "torch.classes": "libraries in C++ cannot be loaded",
    "torch._subclasses": "torch.device('meta') has shapes without numbers",
    "torch.utils._python_dispatch": "__torch_function__ of a class of tensors sees operations",
    "torch.utils.mobile_optimizer": "step.source of a function under torch.compile is C without Python",
    "torch.utils.flop_counter": "step.profile() of a function under torch.compile counts operations",
    "torch.utils.data.datapipes": "torch.utils.data.Dataset and IterableDataset take its place",
    "torch.testing._internal": "it tests PyTorch itself; torch.testing.assert_close() is there",
    "torch.nested": "pad sequences, by torch.nn.utils.rnn.pad_sequence()",
    "torch.masked": "use masked_fill() and the like, with a mask of bool",
    "torch.monitor": "torch.profiler and torch.utils.tensorboard are there",
    "torch._dynamo": "torch.compile and torch.compiler are what there is of it",
}


class AbsentName(AttributeError):
    """AttributeError whose advice is looked for when it is shown: ``hasattr`` asks often."""

    def __str__(self) -> str:
        path, name = self.args
        advice = _MODULES.get(f"{path}.{name}") or INSTEAD.get(name) or _near(name, self.obj)
        return f"tracegrad has no {path}.{name}" + (f": {advice}." if advice else ".")


# Programs print the names of exceptions' classes.
AbsentName.__name__ = AbsentName.__qualname__ = "AttributeError"
AbsentName.__module__ = "builtins"


def no_name(path: str, name: str, module: ModuleType | None) -> AttributeError:
    """The error for a name that is not at one of PyTorch's paths."""
    return AbsentName(path, name, name=name, obj=module)


def no_module(path: str, parent: ModuleType | None, known: list[str]) -> ModuleNotFoundError:
    """The error for a path that is not here.

    Its `name` is that of the parent: Python would leave the text out of ``from torch.nn import X`` otherwise.
    """
    whole = path
    while whole and whole not in _MODULES:
        whole = whole.rpartition(".")[0]
    above, _, name = path.rpartition(".")
    near = difflib.get_close_matches(path, known, 1)
    nearest = f"the nearest is {near[0]}" if near else ""
    advice = _MODULES.get(whole) or INSTEAD.get(name) or _near(name, parent) or nearest
    return ModuleNotFoundError(f"tracegrad has no {path}" + (f": {advice}." if advice else "."), name=above)


def no_import(path: str, parent: ModuleType | None, known: list[str]) -> ImportError:
    """The error for a name that is imported from a module which has neither it nor such a submodule."""
    above, _, name = path.rpartition(".")
    text = f"cannot import name {name!r} from {above!r}: {no_module(path, parent, known)}"
    return ImportError(text, name=above, path=getattr(parent, "__file__", None))


def _near(name: str, module: Any) -> str:
    near = difflib.get_close_matches(name, [n for n in dir(module) if n[:1] != "_"], 1)
    return f"the nearest name is {near[0]!r}" if near else ""
