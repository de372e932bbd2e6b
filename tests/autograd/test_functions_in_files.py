"""Functions that a model keeps (``self.act = torch.relu``): files name them as PyTorch does, and are read both ways."""

import io
import json
import pickle
import re
import zipfile

import pytest
from expected.function_names import STORED

NAMES = json.loads(STORED.read_text(encoding="utf-8"))
#: What is no function of its own here: methods, context managers, parts of PyTorch's inside.
NOT_WRITTEN: set[str] = {
    "torch.detach", "torch.is_inference", "torch.is_vulkan_available", "torch.nn.functional.handle_torch_function",
    "torch.nn.utils.parametrize.cached", "torch.nn.utils.parametrize.get_swap_module_params_on_conversion",
    "torch.autograd.handle_torch_function", "torch.autograd.is_tensor_like", "torch.utils.checkpoint.tree_map",
    "torch.random.fork_rng",
}  # fmt: skip
#: Parts of PyTorch's inside that its files may name, and that are elsewhere here.
NOT_READ = {
    "torch.while_loop", "torch.nn.functional.has_torch_function", "torch.autograd.has_torch_function",
}  # fmt: skip


def found(tg, path):
    for part in path.split(".")[1:]:
        tg = getattr(tg, part)
    return tg


def has(tg, path):
    try:
        return callable(found(tg, path))
    except AttributeError:
        return False


def file_of_pytorch(module, name, *attribute):
    """As `torch.save` writes a function alone."""
    what = b"c%b\n%b\n" % (module.encode(), name.encode())
    for of in attribute:
        what = b"c__builtin__\ngetattr\n%bX%b%b\x86R" % (what, len(of).to_bytes(4, "little"), of.encode())
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a/data.pkl", b"\x80\x02" + what + b".")
        archive.writestr("a/byteorder", "little")
        archive.writestr("a/version", "3\n")
    file.seek(0)
    return file


def test_files_of_pytorch_are_read(tg):
    wrong, known = [], [path for path in NAMES if has(tg, path) and path not in NOT_READ]
    for path in known:
        module, name, *attribute = NAMES[path]
        read = tg.load(file_of_pytorch(module, name, *attribute), weights_only=False)
        same = {found(tg, path), found(tg, f"torch.{path.rpartition('.')[2]}") if attribute else None}
        if read not in same:  # ``torch.conv2d`` and ``F.conv2d`` are one function in PyTorch
            wrong.append(path)
    assert wrong == [] and len(known) > 900


def test_what_is_written_is_a_path_of_pytorchs(tg):
    wrong, known = [], [path for path in NAMES if has(tg, path) and path not in NOT_WRITTEN | NOT_READ]
    for path in known:
        file = io.BytesIO()
        tg.save(found(tg, path), file)
        with zipfile.ZipFile(file) as archive:
            (inside,) = (name for name in archive.namelist() if name.endswith("data.pkl"))
            named = re.match(rb"\x80\x02c([^\n]*)\n([^\n]*)\n", archive.read(inside))
        if named is None or b".".join(named.groups()).decode() not in NAMES:
            wrong.append(path)
        file.seek(0)
        assert tg.load(file, weights_only=False) is found(tg, path), path
    assert wrong == [] and len(known) > 900


@pytest.mark.parametrize("path", ["torch.relu", "torch.linalg.norm", "torch.nn.functional.logsigmoid"])
def test_they_are_code_and_no_weights(tg, path):
    with pytest.raises(pickle.UnpicklingError):
        tg.load(file_of_pytorch(*NAMES[path]))
    file = io.BytesIO()
    tg.save(found(tg, path), file)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        tg.load(file)
