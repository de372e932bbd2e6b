"""PyTorch's conventions of calling, for all public functions: other names of arguments, old overloads, ``out=``.

`operands.checked` asks here when a call does not fit a function's own parameters; a plain call never looks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from ...ops.array import Array
from ...ops.lazy import lazy
from ...ops.types import NUMBERS
from ...tracing.user_warning import warn_once
from ..arguments import named_sizes
from .out import into, takes_out

#: numpy's names, which all of PyTorch's functions in C take.
NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}
#: PyTorch's functions in Python, which take their own names only; of ``nn.functional``, those in C.
IN_PYTHON = frozenset(
    "atleast_1d atleast_2d atleast_3d block_diag broadcast_shapes broadcast_tensors cartesian_prod cdist chain_matmul "
    "einsum lobpcg lu meshgrid norm pca_lowrank split stft svd_lowrank tensordot unique unique_consecutive "
    "unravel_index compile cond save load from_dlpack manual_seed set_float32_matmul_precision set_printoptions "
    "set_warn_always use_deterministic_algorithms vmap".split()
)
#: Functions in C that look at their arguments themselves: what they refuse, they refuse in words of their own.
OF_OWN_WORDS = frozenset("set_num_threads set_num_interop_threads set_flush_denormal".split())
IN_C = frozenset(
    "adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d bilinear channel_shuffle conv1d conv2d conv3d conv_tbc "
    "conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity gelu hardshrink linear logsigmoid "
    "native_channel_shuffle one_hot pairwise_distance pdist pixel_shuffle pixel_unshuffle prelu softplus softshrink "
    "scaled_dot_product_attention".split()
)
#: Functions in Python, but for one of ``nn.functional``, that hand their lists of integers on to C.
LISTS_IN_C = frozenset(
    "layer_norm rms_norm pad max_pool1d max_pool2d max_pool3d max_pool1d_with_indices max_pool2d_with_indices "
    "max_pool3d_with_indices fold unfold split".split()
)
#: Names that single functions have besides, and which parameters these are.
#: (of several, the first that is not given yet).
OTHER_NAMES: dict[str, dict[str, str | tuple[str, ...]]] = {
    "swapaxes": {"axis0": "dim0", "axis1": "dim1"},
    "Tensor.swapaxes": {"axis0": "dim0", "axis1": "dim1"},
    "Tensor.split": {"split_size": "split_size_or_sections"},
    "split": {"tensor": "input"},
    "result_type": {
        **{"tensor": ("first", "second"), "scalar": "first", "other": "second"},
        **{"scalar1": "first", "tensor1": "first", "scalar2": "second", "tensor2": "second"},
    },
    "isin": {"element": "elements", "test_element": "test_elements"},
    "Tensor.copy_": {"other": "src"},
    "linalg.lstsq": {"b": "B"},
    "promote_types": {"type1": "a", "type2": "b"},
    "is_tensor": {"obj": "x"},
    "ormqr": {"input2": "tau", "input3": "other"},
    **{
        f"{of}{name}": dict.fromkeys(("sections", "indices", "tensor_indices_or_sections"), "indices_or_sections")
        for of in ("", "Tensor.")
        for name in ("hsplit", "vsplit", "dsplit", "tensor_split")
    },
    **dict.fromkeys(("max", "min", "Tensor.max", "Tensor.min"), {"other": "dim"}),  # the overload of two tensors
    "Tensor.random_": {"from": "from_"},
}
#: Sizes and axes that functions take one by one, under the keyword by which they come at once.
GATHERED = frozenset("size shape dims repeats sizes".split())
#: Overloads of old, which PyTorch still takes: numbers in front of the tensors that they belong to.
OLD_OVERLOADS: dict[str, tuple[str, ...]] = {
    "add": ("input alpha other",),
    "sub": ("input alpha other",),
    "addcmul": ("input value tensor1 tensor2",),
    "addcdiv": ("input value tensor1 tensor2",),
    "addmm": ("beta input alpha mat1 mat2", "beta input mat1 mat2"),
    "addmv": ("beta input alpha mat vec", "beta input mat vec"),
    "addr": ("beta input alpha vec1 vec2", "beta input vec1 vec2"),
    "addbmm": ("beta input alpha batch1 batch2", "beta input batch1 batch2"),
    "baddbmm": ("beta input alpha batch1 batch2", "beta input batch1 batch2"),
}
_NUMBERS = ("alpha", "beta", "value")


def _fits(name: str, arg: Any) -> bool:
    """Whether `arg` may stand for `name` in an overload of old; the other operand of a sum may be a number, too."""
    return (name in _NUMBERS) != isinstance(arg, Array) or (name == "other" and isinstance(arg, NUMBERS))


Call = tuple[tuple[Any, ...], dict[str, Any]]


class Conventions:
    """How the public function at `path` ("add", "nn.functional.gelu", "Tensor.add") may be called besides."""

    def __init__(self, function: Callable[..., Any], path: str, parameters: Iterable[inspect.Parameter]) -> None:
        self.path, self.name, self._function = path, path.rpartition(".")[2], function
        self._own = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        self._gathers = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "")
        self.takes_out = takes_out(path) and "out" not in self._own
        self.is_method = path.startswith("Tensor.")
        within = path.rpartition(".")[0]
        self.in_c = self.name in IN_C if within == "nn.functional" else self.name not in IN_PYTHON or within == "linalg"
        self.in_c = self.in_c and within != "autograd" and self.name not in OF_OWN_WORDS
        self.lists_in_c = (within == "nn.functional" or self.name == "split") and self.name in LISTS_IN_C

    @lazy
    def signature(self) -> inspect.Signature:
        """Made for the few functions that are called in other ways: those of all of them are a megabyte."""
        return inspect.signature(self._function)

    @property
    def matter(self) -> bool:
        """Whether a function whose arguments need no check is called in other ways than its own."""
        return self.takes_out or self.path in OTHER_NAMES

    def asked(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What ``function(*args, **kwargs)`` means, which has raised TypeError: done; NotImplemented for an error."""
        has_out = self.takes_out and "out" in kwargs
        rest = {name: value for name, value in kwargs.items() if name != "out"} if has_out else kwargs
        if not self._binds(args, rest):
            meant = self._of_old(args, rest) or self._renamed(args, rest)
            if self._binds(*meant):
                args, rest = meant
            elif not has_out:
                return NotImplemented
            # Else the function itself may know the names (``layout`` of a factory); its error is not about `out`.
        elif not has_out:
            return NotImplemented  # the call was in the function's own terms
        if has_out and kwargs["out"] is not None:
            return into(kwargs["out"], self.path, function, args, rest)
        return function(*args, **rest)

    def _binds(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        try:
            self.signature.bind(*args, **kwargs)
        except TypeError:
            return False
        return True

    def _renamed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call:
        renamed: dict[str, Any] = {}
        for name, value in kwargs.items():
            own = name if name in self._own else self._own_name(name, {*self._own[: len(args)], *renamed})
            if name in GATHERED and name not in self._own and self._gathers:
                args = (*args, *named_sizes(self.name, name, value))
            elif own in renamed:
                return args, kwargs
            else:
                renamed[own] = value
        if self._gathers and self._own[:1] and self._own[0] in renamed:  # what is gathered comes behind
            args = (renamed.pop(self._own[0]), *args)
        return args, renamed

    def _own_name(self, name: str, given: set[str]) -> str:
        """What the function calls the argument that PyTorch calls `name`, where the arguments `given` are there."""
        special = OTHER_NAMES.get(self.path, {}).get(name)
        if special:
            return special if isinstance(special, str) else next((n for n in special if n not in given), name)
        name = NUMPY_NAMES.get(name, name) if self.in_c else name
        if name == "input" and not self.is_method and self._own[:1] in (["x"], ["self"], ["A"]):
            return self._own[0]
        return name

    def _of_old(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | None:
        """The call, if it is an overload of old."""
        if self.name == "rsub" and len(args) == 3 and not isinstance(args[1], Array):
            return args[:2], {"alpha": args[2], **kwargs}  # an overload of a number, without a name before `alpha`
        for overload in OLD_OVERLOADS.get(self.name, ()):
            names = overload.split()
            if self.is_method:
                names = ["input", *(name for name in names if name != "input")]
            if len(names) == len(args) and all(map(_fits, names, args)):
                self._warn(overload)
                given = dict(zip(names, args, strict=True))
                numbers = {name: given.pop(name) for name in _NUMBERS if name in given}
                tensors = (given.pop("input"), *given.values())
                return tensors, {**numbers, **kwargs}
        return None

    def _warn(self, overload: str) -> None:
        typed = [f"{'Number' if n in _NUMBERS else 'Tensor'} {n}" for n in overload.split()]
        new = [n for n in typed if n[:6] == "Tensor"] + ["*"] + [f"{n} = 1" for n in typed if n[:6] == "Number"]
        old = f"{self.name}({', '.join(typed)}, *, Tensor out = None)"
        warn_once(
            f"This overload of {self.name} is deprecated:\n\t{old}\nConsider using one of the following signatures "
            f"instead:\n\t{self.name}({', '.join(new)}, Tensor out = None)",
            family="overloads of old",
        )
