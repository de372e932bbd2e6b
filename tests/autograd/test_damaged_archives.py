"""Damaged files in PyTorch's formats: an error or what they still say, no code, no memory beyond their size."""

import io
import os
import pickle
import random
import struct
import zipfile
import zlib

import numpy as np
import pytest
from attacked_files import OF_ARCHIVES, outcomes
from expected.compare import STORE

import tracegrad as tg

FILES = {name: data.tobytes() for name, data in np.load(STORE / "files.npz").items()}
CORPUS = sorted(FILES)

#: What stands in pickles as numbers of sizes, strides, offsets and lengths: larger and other ones.
NUMBERS = [
    b"K\x00",
    b"K\x07",
    b"K\xff",
    b"M\xff\xff",
    b"J\xff\xff\xff\x7f",
    b"J\xff\xff\xff\xff",
    b"N",
    b"\x88",
    b"G" + b"\x7f" * 8,
]
NUMBERS += [b"\x8a\x08" + struct.pack("<q", n) for n in (2**62, 2**61, -1, -(2**63))] + [
    b"\x8a\x09" + b"\xff" * 8 + b"\x00"
]
NAMES = [
    b"cos\nsystem\n", b"cposix\nsystem\n", b"cbuiltins\neval\n", b"ctorch.nn.modules.linear\nLinear\n",
    b"ctorch\nload\n", b"ctorch._utils\n_rebuild_tensor_v2\n", b"ctorch._utils\n_rebuild_parameter\n",
    b"ctorch._tensor\n_rebuild_from_type_v2\n", b"ctorch\nFloatStorage\n", b"ctorch\nByteStorage\n",
    b"ctorch\nfloat64\n", b"ctorch\nTensor\n", b"ctorch\nSize\n", b"ctorch._C\nGenerator\n",
    b"ccollections\nOrderedDict\n",
    b"ctorch.storage\nUntypedStorage\n", b"ctracegrad.serialization.saved\nstorage\n", b"cbuiltins\ngetattr\n",
]  # fmt: skip
OPERATIONS = [bytes([code]) for code in b"().0QRNbeqsttu}]\x81\x85\x86\x87\x88\x89R"] + [
    b"h\x01",
    b"h\x05",
    b"q\x05",
    b"R0h\x02",
]


def unpacked(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def packed(records, compression=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in records:
            archive.writestr(name, data)
    return file.getvalue()


def changed_pickle(rng, data):
    """A pickle with a number, a name or an operation changed or added."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(7)
        if kind == 0:
            places = [i for i in range(len(data) - 1) if data[i : i + 1] == b"K"] or [at]
            at = rng.choice(places)
            data[at : at + 2] = rng.choice(NUMBERS)
        elif kind == 1:
            begins = [i for i in range(len(data)) if data[i : i + 1] == b"c"] or [at]
            at = rng.choice(begins)
            end = data.find(b"\n", data.find(b"\n", at) + 1) + 1
            data[at : max(end, at)] = rng.choice(NAMES)
        elif kind == 2:
            data[at:at] = rng.choice(OPERATIONS)
        elif kind == 3:
            data[at : at + 1] = rng.choice(OPERATIONS)
        elif kind == 4:
            del data[at : at + rng.randrange(1, 9)]
        elif kind == 5 and data:
            data[min(at, len(data) - 1)] ^= 1 << rng.randrange(8)
        else:
            part = bytes(data[rng.randrange(at + 1) : at][-100:])
            data[at:at] = part * rng.choice((1, 1, 30))
    return bytes(data)


def changed_records(rng, records):
    """Records that are missing, doubled, swapped, cut, longer, or whose pickle is changed."""
    records = list(records)
    at = rng.randrange(len(records))
    name, data = records[at]
    kind = rng.randrange(9)
    if kind <= 4:
        return [(n, changed_pickle(rng, d) if n.endswith("data.pkl") else d) for n, d in records]
    if kind == 5:
        del records[at]
    elif kind == 6:
        records[at] = name, data[: rng.randrange(len(data) + 1)] + bytes(rng.choice((0, 0, 1, 4, 5000)))
    elif kind == 7:
        records[at] = name, rng.choice(records)[1]
    else:
        records[at] = (
            rng.choice((name.upper(), name + "x", "../" + name, "/etc/passwd", "archive/x", rng.choice(records)[0])),
            data,
        )
    return records


def changed_bytes(rng, data):
    """A file with bits flipped, cut off, with numbers of its headers changed, or with parts of another one."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(7)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            other = FILES[rng.choice(CORPUS)]
            data[at:] = other[rng.randrange(len(other)) :]
        elif kind == 3:
            data[at : at + 4] = rng.choice(
                (b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\x01\0\0\0", b"PK\x01\x02")
            )
        elif kind == 4:
            headers = [i for i in range(len(data) - 3) if data[i : i + 2] == b"PK"]
            if headers:
                place = rng.choice(headers) + rng.randrange(46)
                data[place : place + 1] = bytes([rng.randrange(256)])
        elif kind == 5:
            del data[at : at + rng.randrange(1, 100)]
        else:
            data[at:at] = bytes(rng.randrange(1, 100))
    return bytes(data)


def mutations(count, seed):
    rng = random.Random(seed)
    archives = {name: unpacked(data) for name, data in FILES.items() if not name.startswith("legacy")}
    for _ in range(count):
        name = rng.choice(CORPUS)
        if name not in archives:
            yield changed_pickle(rng, FILES[name]) if rng.random() < 0.7 else changed_bytes(rng, FILES[name])
        elif rng.random() < 0.7:
            yield packed(changed_records(rng, archives[name]))
        else:
            yield changed_bytes(rng, FILES[name])


def attacked(files):
    return outcomes(files, OF_ARCHIVES, list(FILES.values()))


def check(count, seed):
    came = attacked(mutations(count, seed))
    assert len(came) == count and count // 50 < sum(came) < count - count // 50  # both ends are reached


@pytest.mark.parametrize("count", [250, pytest.param(700, marks=pytest.mark.long)])
def test_damaged_archives(count):
    check(count, 1)


@pytest.mark.long(every=25)
@pytest.mark.parametrize("seed", range(50))
def test_many_damaged_archives(seed):
    check(2_000, 500 + seed)


def test_every_truncation():
    files = [data[:end] for data in (FILES["flags"], FILES["legacy flags"]) for end in range(0, len(data), 7)]
    assert not any(attacked(files)) and len(files) > 300


# --------------------------------------------------------------------------------------------------------------- bombs


def archive_of(body, **storages):
    """An archive with this pickle between its protocol and its end."""
    records = [("archive/data.pkl", b"\x80\x02" + body + b".")]
    records += [(f"archive/data/{key[1:]}", data) for key, data in storages.items()]
    return packed([*records, ("archive/byteorder", b"little"), ("archive/version", b"3\n")])


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def storage(key="0", count=4, kind="FloatStorage", place="cpu"):
    number = b"\x8a\x08" + struct.pack("<q", count)
    return b"(" + text("storage") + f"ctorch\n{kind}\n".encode() + text(key) + text(place) + number + b"tQ"


def tensor(of, offset=0, size=(4,), stride=(1,), flag=b"\x89", more=b""):
    def number(n):
        return b"\x8a\x09" + n.to_bytes(9, "little", signed=True)

    numbers = [b"(" + b"".join(map(number, part)) + b"t" for part in (size, stride)]
    hooks = b"ccollections\nOrderedDict\n)R"
    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n(" + of + number(offset) + b"".join(numbers) + flag + hooks + more + b"tR"
    )


SIXTEEN = bytes(16)
REFUSED = {
    "beyond the storage": tensor(storage(), 1),
    "a stride beyond it": tensor(storage(), 0, (2,), (4,)),
    "a negative offset": tensor(storage(), -1, (1,), (1,)),
    "a negative stride": tensor(storage(), 3, (4,), (-1,)),
    "a negative size": tensor(storage(), 0, (-1,), (1,)),
    "sizes without strides": tensor(storage(), 0, (4,), ()),
    "more elements than numbers": tensor(storage(), 0, (2**40, 2**40), (0, 0)),
    "an offset that overflows": tensor(storage(), 2**64, (1,), (1,)),
    "a stride that overflows": tensor(storage(), 0, (3,), (2**63,)),
    "many axes": tensor(storage(), 0, (1,) * 100, (1,) * 100),
    "a longer storage": tensor(storage(count=5)),
    "a shorter storage": tensor(storage(count=3)),
    "a huge storage": tensor(storage(count=2**61)),
    "a storage of a negative length": tensor(storage(count=-4)),
    "a storage that is not there": tensor(storage("1")),
    "a storage outside": tensor(storage("../version")),
    "another type the second time": b"(" + tensor(storage()) + tensor(storage(kind="IntStorage")) + b"t",
    "a flag of an integer": tensor(storage(kind="IntStorage"), flag=b"\x88"),
    "a flag that is none": tensor(storage(), flag=b"K\x01"),
    "hooks": tensor(storage(), more=b"").replace(b")R", b"]\x85R"),
    "other metadata": tensor(storage(), more=b"}" + text("x") + b"\x88s"),
    "a number as a storage": tensor(b"K\x05"),
    "a class": b"ctorch\nFloatStorage\n",
    "a device": tensor(storage(place="cuda:0")),
    "generators": b"](" + b"ctorch._C\nGenerator\nq\x01" + text("cpu") + b"\x85q\x02R" + b"h\x01h\x02R" * 200 + b"e",
    "an attribute of tensors": b"ctorch._tensor\n_rebuild_from_type_v2\n("
                               + tensor(storage()).replace(b"tR", b"tctorch\nTensor\n").replace(b"_v2\n(", b"_v2\n(", 1)
                               + b"}tR",
}  # fmt: skip


def test_what_archives_may_not_claim():
    files = {name: archive_of(body, _0=SIXTEEN) for name, body in REFUSED.items()}
    came = dict(zip(files, attacked(files.values()), strict=True))
    assert [name for name, loads in came.items() if loads] == []


def test_what_they_may():
    """The pieces of the files above, where nothing is wrong with them; shared elements take no memory."""
    usual = tensor(storage())
    bodies = [
        usual,
        tensor(storage(), 0, (2**40,), (0,)),
        tensor(storage(), 4, (0, 7), (1, 1)),
        tensor(storage(), 3, (), ()),
    ]
    loaded = [tg.load(io.BytesIO(archive_of(body, _0=SIXTEEN))) for body in bodies]
    assert [tuple(x.shape) for x in loaded] == [(4,), (2**40,), (0, 7), ()]


def huge(count):
    """One storage under many names: a directory of many records that are one."""
    body = b"](" + b"".join(tensor(storage(str(i), 2**18)) for i in range(count)) + b"e"
    data = archive_of(body, _0=bytes(2**20), **{f"_{i}": b"" for i in range(1, count)})
    file = bytearray(data)
    first = file.find(b"archive/data/0") - 30
    entries = [i for i in range(len(file)) if file[i : i + 4] == b"PK\x01\x02"]
    for at in entries:
        if b"archive/data/" in file[at + 46 : at + 60]:
            file[at + 16 : at + 28] = struct.pack("<III", zlib.crc32(bytes(2**20)), 2**20, 2**20)
            file[at + 42 : at + 46] = struct.pack("<I", first)
    return bytes(file)


def test_bombs():
    body = tensor(storage(count=2**22))
    compressed = [
        ("archive/data.pkl", b"\x80\x02" + body + b"."),
        ("archive/data/0", bytes(2**24)),
        ("archive/version", b"3"),
    ]
    zip_bomb = packed(compressed, zipfile.ZIP_DEFLATED)
    conj = storage(kind="ComplexFloatStorage", count=2**17)
    conjugated = tensor(conj, more=b"}" + text("conj") + b"\x88s")
    many = archive_of(b"](" + conjugated * 100 + b"e", _0=bytes(2**20))
    assert attacked([zip_bomb, huge(20), many]) == [False, False, True]
    with pytest.raises(RuntimeError, match="it is compressed or encrypted"):
        tg.load(io.BytesIO(zip_bomb))


def test_trusted_pickles_of_archives_run():
    """The files above are read by a restricted reader only where that is asked for, which is the default."""
    body = b"cposix\nsystem\n" + text("true") + b"\x85R" if os.name == "posix" else b"cbuiltins\nlen\n]\x85R"
    data = archive_of(body)
    with pytest.raises(pickle.UnpicklingError, match="whose module posix is blocked"):
        tg.load(io.BytesIO(data))
    assert tg.load(io.BytesIO(data), weights_only=False) == 0
