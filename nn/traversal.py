"""Walking through a tree of modules: named parameters, buffers and modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ..tensors.tensor import Tensor
from ..tracing.eager_compiler import what_is_compiled
from .parameter import Parameter
from .registry import Registry

if TYPE_CHECKING:
    from .module import Module


class Traversal(Registry):
    """The iterators of Module. Shared modules and tensors are listed once unless ``remove_duplicate=False``."""

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below it with their dotted paths; this module's is `prefix`."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self  # type: ignore[misc]
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, _joined(prefix, name), remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Module]:
        """This module and all below it."""
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly below, with their names."""
        seen: set[Any] = set()
        for name, child in self._modules.items():
            if child is not None and child not in seen:
                seen.add(child)
                yield name, child

    def children(self) -> Iterator[Module]:
        """The modules directly below."""
        return (child for _, child in self.named_children())

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """All parameters with their dotted paths; without `recurse`, only this module's own."""
        return self._named_members(lambda module: module._parameters.items(), prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """All parameters, as optimizers want them."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """All buffers with their dotted paths."""
        return self._named_members(lambda module: module._buffers.items(), prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """All buffers."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def _named_members(
        self,
        members: Callable[[Any], Iterable[tuple[str, Any]]],
        prefix: str,
        recurse: bool,
        remove_duplicate: bool,
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        tree = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate) if recurse else [(prefix, self)]
        for path, module in tree:
            for name, tensor in members(module):
                if tensor is not None and id(tensor) not in seen:
                    if remove_duplicate:
                        seen.add(id(tensor))
                    yield _joined(path, name), tensor

    # ------------------------------------------------------------------------------------------------------ by path

    def get_submodule(self, target: str) -> Module:
        """The module at a dotted path; AttributeError if there is none."""
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = what_is_compiled(getattr(module, name))
            if not isinstance(module, Traversal):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put `module` at a dotted path; with `strict`, only in the place of another one.

        ValueError for an empty path or what is no module, AttributeError where the path leads nowhere.
        """
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        if not isinstance(module, Traversal):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Traversal):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path; AttributeError if there is none."""
        return self._member(target, "_parameters", "an nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path; AttributeError if there is none."""
        return self._member(target, "_buffers", "a buffer")

    def _member(self, target: str, registry: str, what: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in getattr(module, registry):
            raise AttributeError(f"`{name}` is not {what}")
        return getattr(module, name)


def _joined(prefix: str, name: str) -> str:
    return f"{prefix}.{name}" if prefix else name
