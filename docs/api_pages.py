"""Reference pages: each namespace's public functions and classes, from their docstrings."""

import inspect
import re
from pathlib import Path
from types import ModuleType

import tracegrad

#: Namespaces, and what they hold.
NAMESPACES = {
    "tracegrad": "Tensors, functions of tensors, compiling",
    "tracegrad.Tensor": "Methods of tensors",
    "tracegrad.nn": "Modules",
    "tracegrad.nn.functional": "What modules compute, as functions",
    "tracegrad.nn.init": "Initial values",
    "tracegrad.nn.utils": "Parameters as vectors, norms, parametrizations",
    "tracegrad.optim": "Optimizers",
    "tracegrad.optim.lr_scheduler": "Learning rates over time",
    "tracegrad.autograd": "Derivatives",
    "tracegrad.func": "Derivatives and maps of functions",
    "tracegrad.linalg": "Matrices",
    "tracegrad.fft": "Fourier transforms",
    "tracegrad.special": "Special functions",
    "tracegrad.distributions": "Probability distributions",
    "tracegrad.utils.data": "Data sets and loaders",
}

SINGLE_ASTERISK = re.compile(r"(?<![\\\w*`])\*(?=\w)(?![^*`]*\w\*(?!\w))")


def write(docs: Path) -> None:
    """Writes ``api/*.rst`` and ``api/index.md`` below `docs`."""
    (docs / "api").mkdir(exist_ok=True)
    for name, title in NAMESPACES.items():
        (docs / "api" / f"{name}.rst").write_text(_page(name, title), encoding="utf-8")
    rows = "\n".join(f"| [{name}]({name}.rst) | {title} |" for name, title in NAMESPACES.items())
    contents = "\n".join(NAMESPACES)
    text = f"""# API reference

Names, arguments and results are PyTorch's; the docstrings say shapes, types, errors, and where something differs. Which
of PyTorch's names are there at all stands in the [table of names](../pytorch.md).

| namespace | holds |
|---|---|
{rows}

```{{toctree}}
:hidden:

{contents}
```
"""
    (docs / "api" / "index.md").write_text(text, encoding="utf-8")


def _page(name: str, title: str) -> str:
    place = _find(name)
    entries = [_entry(name, public, value) for public, value in sorted(_offered(place).items())]
    return "\n\n".join([f"{name}\n{'=' * len(name)}", f"{title}.", *entries]) + "\n"


def _find(name: str) -> object:
    place: object = tracegrad
    for part in name.split(".")[1:]:
        place = getattr(place, part)
    return place


def _offered(place: object) -> dict[str, object]:
    """Public functions and classes that have a docstring; of a module those that it says are its own."""
    found = {}
    for name in getattr(place, "__all__", None) or dir(place):
        value = getattr(place, name, None)
        own = callable(value) and not isinstance(value, ModuleType) and not name.startswith("_")
        borrowed = value is tracegrad.Tensor and place is not tracegrad
        if own and not borrowed and inspect.getdoc(value) and _is_ours(value):
            found[name] = value
    return found


def _is_ours(value: object) -> bool:
    return str(getattr(value, "__module__", None) or "tracegrad").startswith("tracegrad")


def _entry(namespace: str, name: str, value: object) -> str:
    """The entry stands in the page itself: docstrings are found through objects, whose own modules are inner ones."""
    try:
        signature = str(inspect.signature(value)) if callable(value) else ""
    except (TypeError, ValueError):
        signature = "(...)"
    kind = "class" if inspect.isclass(value) else "function"
    signature = _shortened(signature)
    if kind == "class":
        signature = signature.removesuffix(" -> None")
    head = f".. py:{kind}:: {namespace}.{name}{signature}"
    text = inspect.getdoc(value) or ""
    return head + "\n\n" + "\n".join(f"   {_with_asterisks(line)}".rstrip() for line in text.splitlines())


def _with_asterisks(line: str) -> str:
    """``[*shape]`` as it is written: an asterisk that no second one follows begins no emphasis."""
    return line if ">>>" in line else SINGLE_ASTERISK.sub(r"\\*", line)


def _shortened(signature: str) -> str:
    """Without what tells a reader nothing: Any, and addresses of default values."""
    for noise in (": 'Any'", " -> 'Any'", ": Any", " -> Any"):
        signature = signature.replace(noise, "")
    return "(...)" if " at 0x" in signature or "<" in signature else signature.replace("'", "")
