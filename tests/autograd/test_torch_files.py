"""Files that PyTorch wrote are read, and what is written is what PyTorch would have written."""

import io
import json
import pickletools
import zipfile

import numpy as np
import pytest
from expected import files
from expected.compare import STORE

import tracegrad as tg

FILES = np.load(STORE / "files.npz")
CONTENTS = json.loads((STORE / "files.json").read_text(encoding="utf-8"))


def read(name, **options):
    return tg.load(io.BytesIO(FILES[name].tobytes()), **options)


def comparable(tree):
    """PyTorch's class of attention's last layer stands for Linear."""
    return json.loads(json.dumps(tree).replace("NonDynamicallyQuantizableLinear", "Linear"))


@pytest.mark.parametrize("name", FILES.files)
def test_files_of_torch_are_read(name):
    said = name.removeprefix("legacy ")
    for restricted in (True, False) if said in files.WEIGHTS else (False,):
        back = read(name, weights_only=restricted)
        assert comparable(files.described(tg, back)) == comparable(CONTENTS[said])


def operations(data):
    """What a pickle does: its operations without the memo, whose numbers depend on what is kept."""
    kept, previous = {}, None
    for opcode, argument, _ in pickletools.genops(data):
        if opcode.name in ("BINPUT", "LONG_BINPUT"):
            kept[argument] = previous
        else:
            previous = kept[argument] if opcode.name in ("BINGET", "LONG_BINGET") else (opcode.name, argument)
            yield previous


def records(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(value, **options):
    file = io.BytesIO()
    tg.save(value, file, **options)
    return file.getvalue()


@pytest.mark.parametrize("name", sorted(files.WEIGHTS.keys() - {"conjugated", "negated"}))
def test_what_is_written_is_what_torch_writes(name):
    """Byte for byte in the storages, operation for operation in the pickle, for what was read from PyTorch's file."""
    ours, theirs = records(written(read(name))), records(FILES[name].tobytes())
    assert list(ours) == list(theirs)
    assert list(operations(ours.pop("archive/data.pkl"))) == list(operations(theirs.pop("archive/data.pkl")))
    assert ours.pop("archive/.data/serialization_id").isdigit() and theirs.pop("archive/.data/serialization_id")
    assert ours == theirs


def test_records_are_aligned():
    data = written([tg.arange(n) for n in range(1, 5)])
    archive = zipfile.ZipFile(io.BytesIO(data))
    for entry in archive.infolist():
        lengths = np.frombuffer(data, "<u2", 2, entry.header_offset + 26)
        begin = entry.header_offset + 30 + int(lengths.sum())
        assert begin % 64 == 0 and entry.compress_type == zipfile.ZIP_STORED
        assert data[begin : begin + entry.file_size] == archive.read(entry)
