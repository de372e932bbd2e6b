"""A page for each example: its docstring, its picture, its text."""

import ast
from pathlib import Path

OTHERS = ["train_digits", "regression", "classifier_bce"]  # have command lines of their own


def write(docs: Path) -> None:
    """Writes ``examples/*.md`` and ``examples/index.md`` below `docs`."""
    sources = docs.parent / "examples"
    names = sorted(path.stem for path in sources.glob("*.py") if path.stem not in ("runner", *OTHERS))
    (docs / "examples").mkdir(exist_ok=True)
    titles = {}
    for name in [*names, *OTHERS]:
        docstring = ast.get_docstring(ast.parse((sources / f"{name}.py").read_text(encoding="utf-8")))
        titles[name], _, rest = docstring.partition("\n")
        picture = f"![{name}](../pictures/{name}.png)\n" if (docs / "pictures" / f"{name}.png").exists() else ""
        command, _, rest = rest.strip().partition("\n")
        page = [f"# {name}", titles[name], f"    {command.strip()}", rest.strip(), picture, _listing(name)]
        (docs / "examples" / f"{name}.md").write_text("\n\n".join(page) + "\n", encoding="utf-8")
    (docs / "examples" / "index.md").write_text(_index(titles), encoding="utf-8")


def _listing(name: str) -> str:
    return f"```{{literalinclude}} ../../examples/{name}.py\n:language: python\n```"


def _index(titles: dict[str, str]) -> str:
    rows = "\n".join(f"| [{name}]({name}.md) | {title} |" for name, title in titles.items())
    contents = "\n".join(titles)
    return f"""# Examples

Each is one file in plain PyTorch style, on data that are there without a download. With no option an example trains
twice from the same seed, eagerly and compiled, and prints the time of a step of each; `--eager` leaves the second run
out, `--steps` sets the length, and `--picture result.png` draws the result (matplotlib). Their losses are those of
PyTorch: the tests hold the first ten against stored ones.

| example | what it does |
|---|---|
{rows}

```{{toctree}}
:hidden:

{contents}
```
"""
