"""The shape of the code, held by its syntax trees: import direction, no cycles, no hidden imports, small pieces."""

import ast
import gc
import re
import sys
from collections import Counter
from functools import cache

import pytest
from jinja2 import nodes
from package_files import ROOT, package_files

from tracegrad.compiler.codegen.environment import ENVIRONMENT

# Eager mode below ``autograd``'s functions.
EAGER = {"serialization", "tensors", "tape", "tracing", "ops"}
# What a top-level folder of the package may import from. The root's __init__.py is the public face and may import all.
MAY_IMPORT = {
    "ops": set(),
    "tracing": {"ops"},
    "tape": {"tracing", "ops"},
    "tensors": {"tape", "tracing", "ops"},
    "serialization": {"tensors", "tracing", "ops"},
    "autograd": EAGER,
    "functional": {"autograd"} | EAGER,
    "distributions": {"functional", "autograd"} | EAGER,
    "func": {"nn", "functional", "autograd"} | EAGER,
    "nn": {"functional", "autograd", "devices"} | EAGER,
    "devices": EAGER,
    "tooling": {"devices", "nn", "functional", "autograd"} | EAGER,
    "optim": {"functional", "autograd", "nn"} | EAGER,
    "utils": {"tooling", "devices", "functional", "autograd", "runtime"} | EAGER,
    "vision": {"utils", "nn", "functional", "autograd"} | EAGER,
    "runtime": set(),
    "compiler": {"runtime", "ops"},
    "compiled": {"compiler", "runtime", "autograd"} | EAGER,
    "templates": set(),
    "shim": {"compiled", "runtime", "tooling", "devices", "func", "nn", "optim", "functional", "autograd"} | EAGER,
    "commandline": {"shim", "compiled", "compiler", "runtime"} | EAGER,
}
# The same of the chapters of ``compiled``; its other files are the public face of all of them.
COMPILED_MAY_IMPORT = {
    "common": set(),
    "symbolic": {"common"},
    "execution": set(),
    "guards": {"common", "symbolic"},
    "verification": {"common", "guards"},
    "profiling": {"execution"},
    "recording": {"common", "symbolic", "guards"},
    "lazy": {"common", "symbolic", "execution", "guards"},
    "replay": {"common", "symbolic", "execution", "guards", "lazy", "recording", "verification"},
    "parts": {"common", "execution", "guards", "lazy", "recording", "replay"},
}
OPS_LIBRARIES = {"numpy", "ml_dtypes"}  # which gives numpy the type bfloat16
# Optional libraries, imported where they are used.
LAZY = {"sklearn", "tqdm", "torch", "matplotlib"}

LONGEST_FUNCTION = 60
P90_FUNCTION = 22
LONGEST_FILE = 400
LARGEST_FOLDER = 32

# What a template may do besides naming values, looping and choosing: it formats, it does not compute.
TEMPLATE_FILTERS = {"join", "indent"}
TEMPLATE_TESTS = {"defined", "none"}
ARITHMETIC = (nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Pow)


FILES = list(package_files())


@cache
def text_of(path):
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path):
    """The file's syntax tree: made when the first test asks, not while tests are collected."""
    return ast.parse(text_of(path))


@pytest.fixture(scope="module", autouse=True)
def trees_go_with_the_file():
    """More than a million objects: neither walked through while they are made nor kept for the tests of other files."""
    gc.disable()
    yield
    for kept in (text_of, tree_of, all_imports, imports):
        kept.cache_clear()
    gc.enable()


def name_of(path):
    """The dotted path below the root: compiler/graph.py -> compiler.graph; a package's __init__.py is the package."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in FILES}


def words_of(expression):
    """Names and attributes: their text would take twenty times as long to make."""
    return {getattr(node, "id", getattr(node, "attr", None)) for node in ast.walk(expression)}


def statements(tree):
    """All statements of a tree, and what of it has statements: a tenth of the nodes that `ast.walk` goes to."""
    found = [tree]
    for node in found:
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            found.extend(getattr(node, part, ()))
    return found


def type_checking_only(tree):
    """The nodes below `if TYPE_CHECKING:`, which no running program executes."""
    guards = [n for n in statements(tree) if isinstance(n, ast.If) and "TYPE_CHECKING" in words_of(n.test)]
    return {id(inner) for guard in guards for statement in guard.body for inner in ast.walk(statement)}


@cache
def all_imports(path):
    """The import statements of a file, those for type checkers among them."""
    return [node for node in statements(tree_of(path)) if isinstance(node, ast.Import | ast.ImportFrom)]


@cache
def imports(path):
    """The import statements of a file that are executed."""
    found = all_imports(path)
    skipped = type_checking_only(tree_of(path)) if found else ()
    return [node for node in found if id(node) not in skipped]


def imported_names(path, node):
    """Dotted names that a statement may import, absolute ones as they stand, our own ones as `tracegrad...`."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    base = node.module or ""
    if node.level:
        package = path.parent.relative_to(ROOT).parts
        kept = package[: len(package) - (node.level - 1)]
        base = ".".join(["tracegrad", *kept, *([node.module] if node.module else [])])
    return [f"{base}.{alias.name}" for alias in node.names]


def own_module(dotted):
    """The module of this package that a dotted name leads to, as a key of MODULES, or None for another library."""
    first, *parts = dotted.split(".")
    if first != "tracegrad":
        return None
    while ".".join(parts) not in MODULES and parts:
        parts.pop()
    return ".".join(parts)


def late_imports(path):
    """(line, dotted name) for each ``late("name")`` and ``late(".name", __package__)``: an import that is put off."""
    package = ".".join(["tracegrad", *path.parent.relative_to(ROOT).parts])
    for node in ast.walk(tree_of(path)) if "late(" in text_of(path) else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "late":
            name = ast.literal_eval(node.args[0])
            assert [ast.unparse(of) for of in node.args[1:]] == ["__package__"] * name.startswith("."), name
            yield node.lineno, f"{package}{name}" if name.startswith(".") else name


def edges(path, statements=imports):
    """(line, module) for each module of this package that the file imports, at once or late, by these `statements`."""
    names = [(node.lineno, dotted) for node in statements(path) for dotted in imported_names(path, node)]
    for line, dotted in [*names, *late_imports(path)]:
        target = own_module(dotted)
        if target is not None and MODULES.get(target) != path:
            yield line, target


def functions(tree):
    return [n for n in statements(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def length(function):
    """Lines from `def` to the end, without the docstring."""
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function, clean=False) is None:
        return lines
    doc = function.body[0]
    return lines - (doc.end_lineno - doc.lineno + 1)


def where(path, line):
    return f"{path.relative_to(ROOT)}:{line}"


def test_every_folder_has_its_place_in_the_order():
    folders = {path.relative_to(ROOT).parts[0] for path in FILES if path.parent != ROOT}
    assert folders <= set(MAY_IMPORT)


def test_imports_go_one_way():
    wrong = []
    for path in FILES:
        if path.parent == ROOT:
            continue
        folder = path.relative_to(ROOT).parts[0]
        for line, target in edges(path):
            if target.split(".")[0] not in MAY_IMPORT[folder] | {folder}:
                wrong.append(f"{where(path, line)}: {folder} must not import {target or 'the root'}")
    assert not wrong, "\n".join(wrong)


def test_chapters_of_compiled_import_one_way():
    wrong = []
    for path in FILES:
        parts = path.relative_to(ROOT).parts
        if parts[0] != "compiled" or len(parts) == 2:
            continue
        chapter = parts[1]
        for line, target in edges(path):
            to = target.split(".")
            if to[0] == "compiled" and to[1] not in COMPILED_MAY_IMPORT[chapter] | {chapter}:
                wrong.append(f"{where(path, line)}: {chapter} must not import {target}")
    assert not wrong, "\n".join(wrong)


def test_folders_are_small():
    sizes = Counter(path.parent.relative_to(ROOT) for path in FILES)
    assert {str(folder): n for folder, n in sizes.items() if n > LARGEST_FOLDER} == {}


def test_ops_need_numpy_and_its_types_only():
    wrong = []
    for path in FILES:
        if path.relative_to(ROOT).parts[0] != "ops":
            continue
        for node in imports(path):
            for dotted in imported_names(path, node):
                library = dotted.split(".")[0]
                if library not in OPS_LIBRARIES | set(sys.stdlib_module_names) | {"tracegrad"}:
                    wrong.append(f"{where(path, node.lineno)}: {library}")
    assert not wrong, "\n".join(wrong)


def test_the_package_imports_itself_relatively():
    absolute = [
        where(path, node.lineno)
        for path in FILES
        for node in imports(path)
        if any(dotted.split(".")[0] == "tracegrad" for dotted in imported_names(path, node))
        and not getattr(node, "level", 0)
    ]
    assert not absolute, "\n".join(absolute)


def find_cycle(graph):
    """One cycle of the graph as a list of its nodes, or an empty list. Depth first, without recursion."""
    done = set()
    for root in graph:
        trail, waiting = [], [(root, False)]
        while waiting:
            node, leaving = waiting.pop()
            if leaving:
                done.add(trail.pop())
            elif node in trail:
                return trail[trail.index(node) :] + [node]
            elif node not in done:
                trail.append(node)
                waiting.append((node, True))
                waiting.extend((successor, False) for successor in sorted(graph[node]))
    return []


def test_cycles_are_found():
    assert find_cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert find_cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_no_import_cycles():
    graph = {name: {target for _, target in edges(path)} for name, path in MODULES.items()}
    assert " -> ".join(find_cycle(graph)) == ""


def test_compiled_has_no_circle_of_types():
    """What is imported for a type checker alone ties two files together as well."""
    inside = {name: path for name, path in MODULES.items() if name.partition(".")[0] == "compiled"}
    graph = {name: {to for _, to in edges(path, all_imports) if to in inside} for name, path in inside.items()}
    assert " -> ".join(find_cycle(graph)) == ""


def test_no_imports_inside_functions():
    hidden = []
    for path in FILES:
        indented = [node for node in imports(path) if node.col_offset]
        inside = {id(inner) for f in functions(tree_of(path)) for inner in statements(f)} if indented else ()
        for node in indented:
            libraries = {dotted.split(".")[0] for dotted in imported_names(path, node)}
            if id(node) in inside and not libraries <= LAZY:
                hidden.append(f"{where(path, node.lineno)}: {ast.unparse(node)}")
    assert not hidden, "\n".join(hidden)


def test_late_imports_stand_where_imports_do():
    late = {where(path, line): dotted for path in FILES for line, dotted in late_imports(path)}
    own = {"tracegrad.compiler.stages", "tracegrad.compiler.sizes.planning"}
    assert set(late.values()) == {*own, "difflib", "statistics"}
    inside = [
        where(path, node.lineno)
        for path in FILES
        if "late(" in text_of(path)
        for function in functions(tree_of(path))
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "late"
    ]
    assert inside == []


def test_functions_are_short():
    lengths = {where(p, f.lineno) + " " + f.name: length(f) for p in FILES for f in functions(tree_of(p))}
    too_long = [f"{name}: {lines} lines" for name, lines in lengths.items() if lines > LONGEST_FUNCTION]
    assert not too_long, "\n".join(too_long)
    sizes = sorted(lengths.values())
    assert sizes[int(0.9 * (len(sizes) - 1))] <= P90_FUNCTION


# Files of programs in examples of messages, and a file of any name.
FOR_EXAMPLE = {"model.py", "commandline/NAME.py"}


def test_files_that_texts_name_are_there():
    """``(`reachability.py`)``: a file that has been given another name has it in comments and docstrings, too."""
    there = {"/" + path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py")}
    gone = [
        f"{where(path, number)}: {named}"
        for path in [*FILES, ROOT / "ARCHITECTURE.md"]
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for named in re.findall(r"`([\w/]+\.py)", line)
        if named not in FOR_EXAMPLE and not any(each.endswith("/" + named) for each in there)
    ]
    assert gone == []


def texts_raised(tree):
    """(line, text) for each exception with a text of its own, as it stands in the code."""
    for node in statements(tree):
        call = node.exc if isinstance(node, ast.Raise) else None
        if not isinstance(call, ast.Call) or not call.args or is_refusal(call):
            continue
        if isinstance(call.args[0], ast.Constant | ast.JoinedStr):
            parts = getattr(call.args[0], "values", [call.args[0]])
            yield node.lineno, "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))


def is_refusal(call):
    """True for `refusal(what, where, advice)` and the like, which make the three parts of them."""
    return "refus" in ast.unparse(call.func) or "side_effect" in ast.unparse(call.func)


def test_errors_of_compiled_functions_have_three_parts():
    """What, where and what to do; calls of helpers that make them of their arguments are as good."""
    short = [
        where(path, line)
        for path in FILES
        if path.relative_to(ROOT).parts[0] == "compiled"
        for line, text in texts_raised(tree_of(path))
        if text.count("\n  ") < 2
    ]
    assert short == []


@pytest.mark.parametrize("folder", ["examples", "benchmarks"])
def test_programs_around_the_package_have_short_functions_too(folder):
    too_long = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        for function in functions(ast.parse(path.read_text(encoding="utf-8"))):
            if length(function) > LONGEST_FUNCTION:
                too_long.append(where(path, function.lineno))
    assert not too_long, "\n".join(too_long)


def own_lines(path):
    """Without the imports: a package's public face is a long list of them."""
    text = path.read_text(encoding="utf-8")
    imports = [node for node in tree_of(path).body if isinstance(node, (ast.Import, ast.ImportFrom))]
    listed = sum(node.end_lineno - node.lineno + 1 for node in imports) if path.name == "__init__.py" else 0
    return len(text.splitlines()) - listed


def test_files_are_short():
    lines = {path: own_lines(path) for path in FILES}
    too_long = [f"{path.relative_to(ROOT)}: {n} lines" for path, n in lines.items() if n > LONGEST_FILE]
    assert not too_long, "\n".join(too_long)


def template_faults(text):
    """Calls of anything but a macro, arithmetic, and filters and tests outside the allowed few."""
    tree = ENVIRONMENT.parse(text)
    macros = {macro.name for macro in tree.find_all(nodes.Macro)} | {"caller"}
    for statement in tree.find_all(nodes.FromImport):
        macros |= {name if isinstance(name, str) else name[1] for name in statement.names}
    for call in tree.find_all(nodes.Call):
        if not (isinstance(call.node, nodes.Name) and call.node.name in macros):
            yield f"line {call.lineno}: a call"
    for node in tree.find_all(ARITHMETIC):
        yield f"line {node.lineno}: arithmetic ({type(node).__name__})"
    for node in tree.find_all(nodes.Filter):
        if node.name not in TEMPLATE_FILTERS:
            yield f"line {node.lineno}: filter {node.name}"
    for node in tree.find_all(nodes.Test):
        if node.name not in TEMPLATE_TESTS:
            yield f"line {node.lineno}: test {node.name}"


@pytest.mark.parametrize(
    "text",
    [
        "{{ x.upper() }}",
        "{{ range(3) }}",
        "{{ x | length }}",
        "{% if x is odd %}{% endif %}",
        "{{ a * 2 }}",
        "//% if f(x)\n//% endif",
    ],
)
def test_template_faults_are_found(text):
    assert list(template_faults(text))


def test_macros_and_formatting_are_no_template_faults():
    assert not list(template_faults("{% macro f(a) %}{{ a | join(', ') }}{% endmacro %}{{ f('x(1) * 2') }}{# g() #}"))


@pytest.mark.parametrize("path", sorted((ROOT / "templates").rglob("*.j2")), ids=lambda path: path.name)
def test_templates_compute_nothing(path):
    assert not list(template_faults(path.read_text(encoding="utf-8")))
