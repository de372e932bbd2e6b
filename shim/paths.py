"""Which module of this package each path of PyTorch's shows, and which paths there are.

``paths.json`` holds PyTorch's own modules with the names in each, written by ``python -m tests.names.paths``: a name is
listed under the place that has the same object. ``library_names.json`` holds what those modules have of Python's
library besides, and of types for annotations, as ``from torch.nn.functional import math`` finds it. What stands here
is where this package has them.
"""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

PACKAGE = __name__.partition(".")[0]

#: The modules of this package that a path shows, the first first. A path that is not listed shows the module of the
#: same name where there is one, and besides that what PyTorch takes from its other paths.
HOMES = {
    "torch": ("shim.names.top", ""),
    "torch._C": ("shim.names.c", "_C", ""),
    "torch._C._nn": ("nn.functional", ""),
    "torch.__config__": ("shim.names.config",),
    "torch.__future__": ("shim.names.future",),
    "torch._dynamo": ("shim.names.dynamo",),
    "torch._dynamo.config": ("shim.names.dynamo_config",),
    "torch._inductor": ("shim.names.compiling",),
    "torch._inductor.config": ("shim.names.inductor_config",),
    "torch._jit_internal": ("shim.names.jit_internal",),
    "torch._tensor": ("tensors.tensor",),
    "torch._utils": ("shim.names.utils",),
    "torch._vmap_internals": ("shim.names.vmap_internals",),
    "torch.autograd.functional": ("autograd.functional", "shim.names.autograd_functional"),
    "torch.autograd.grad_mode": ("tape.grad_mode",),
    "torch.autograd.variable": ("shim.names.variable",),
    "torch.compiler": ("shim.names.compiling", "tooling.compiler"),
    "torch.functional": ("",),
    "torch.nn._reduction": ("shim.names.reduction",),
    "torch.nn.common_types": ("shim.names.common_types",),
    "torch.nn.modules": ("nn",),
    "torch.nn.modules.module": ("nn.modules.module", "shim.names.modules"),
    "torch.nn.modules.utils": ("shim.names.tuples",),
    "torch.optim.lbfgs": ("optim.lbfgs", "shim.names.lbfgs"),
    "torch.optim.optimizer": ("optim.optimizer", "shim.names.optimizers"),
    "torch.overrides": ("tensors.overrides",),
    "torch.random": ("tensors.generator",),
    "torch.serialization": ("serialization", "serialization.serialization", ""),
    "torch.storage": ("serialization.storages",),
    "torch.torch_version": ("shim.names.version",),
    "torch.types": ("types", "shim.names.types"),
    "torch.utils._pytree": ("shim.names.pytree",),
    "torch.utils.data._utils.collate": ("utils.data._utils.collate", "utils.data.collate"),
    "torch.utils.data.dataloader": ("utils.data.dataloader", "utils.data.loader", "utils.data.collate"),
    "torch.utils.hooks": ("shim.names.hooks",),
    "torch.utils.model_zoo": ("tooling.hub",),
    "torch.version": ("shim.names.version",),
}

#: Folders of this package whose names mean something else in PyTorch, where a path has no entry in HOMES.
INNER = frozenset("compiled compiler functional ops runtime shim tape templates tensors tracing".split())


@lru_cache(maxsize=1)
def table() -> dict[str, dict[str, Any]]:
    """PyTorch's paths, and what each of them names."""
    return json.loads(Path(__file__).with_name("paths.json").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def library_names() -> dict[str, dict[str, str]]:
    """By path: what PyTorch's module has imported of Python's library, and types for annotations, by where they are."""
    return json.loads(Path(__file__).with_name("library_names.json").read_text(encoding="utf-8"))


def homes(path: str) -> list[str]:
    """The modules of this package, whether they exist or not, that are shown at one of PyTorch's paths."""
    inner = path.partition(".")[2]
    found = HOMES.get(path, (inner,) if inner.partition(".")[0] not in INNER else ())
    if path.startswith("torch.nn.modules.") and path in table():
        found = (*found, "shim.names.bases")
    return [f"{PACKAGE}.{name}".rstrip(".") for name in found]
