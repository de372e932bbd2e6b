"""What load and save take besides a file: devices, trust, mapping, byte order, pickle modules, safetensors."""

import collections
import copy
import io
import itertools
import mmap
import os
import pickle
import sys
import warnings
import zipfile
from dataclasses import dataclass

import numpy as np
import pytest
from expected.compare import STORE

import tracegrad as tg
from tracegrad import nn
from tracegrad.serialization import safetensors

FILES = np.load(STORE / "files.npz")
CUDA = "Attempting to deserialize object on a CUDA device but torch.cuda.is_available\\(\\) is False"


def written(value, **options):
    file = io.BytesIO()
    tg.save(value, file, **options)
    return file.getvalue()


def read(data, **options):
    return tg.load(io.BytesIO(data), **options)


def with_records(data, change):
    """The archive with its records' bytes changed, or left out for None."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            content = change(name.partition("/")[2], old.read(name))
            if content is not None:
                new.writestr(name, content)
    return file.getvalue()


def on(place, value=None):
    """A file whose storages were on another device."""
    old, new = (b"X" + len(text).to_bytes(4, "little") + text.encode() for text in ("cpu", place))
    data = written({"a": tg.ones(2), "b": tg.zeros(1)} if value is None else value)
    return with_records(data, lambda name, content: content.replace(old, new) if name == "data.pkl" else content)


# ------------------------------------------------------------------------------------------------------- map_location


@pytest.mark.parametrize("restricted", [True, False])
def test_storages_of_other_devices(restricted):
    for place in ("cuda:0", "cuda:3"):
        data = on(place)
        with pytest.raises(RuntimeError, match=CUDA):
            read(data, weights_only=restricted)
        for where in ("cpu", b"cpu", tg.device("cpu"), {place: "cpu"}, lambda storage, location: storage):
            assert read(data, map_location=where, weights_only=restricted)["a"].tolist() == [1.0, 1.0]
        with pytest.raises(RuntimeError, match=CUDA):
            read(data, map_location={"cuda:9": "cpu"})
        with pytest.raises(RuntimeError, match=CUDA):
            read(data, map_location=lambda storage, location: None)
    for where, words in {
        "cuda": CUDA,
        "cuda:1": CUDA,
        "mps": "Storage device not recognized: mps",
        "hpu": "The HPU device module is not registered",
        "foo": r"don't know how to restore data location of torch.storage.UntypedStorage \(tagged with foo\)",
    }.items():
        with pytest.raises(RuntimeError, match=words):
            read(on("cpu"), map_location=where, weights_only=restricted)
        legacy = written(tg.ones(1), _use_new_zipfile_serialization=False)
        with pytest.raises(RuntimeError, match=words):
            read(legacy, map_location=where, weights_only=restricted)
    assert read(written([1]), map_location="cuda") == [1]  # no storage, nothing to place


LAYOUTS = {
    "rows": tg.arange(24.0).view(4, 6),
    "columns": tg.arange(24.0).view(4, 6).T,
    "a part": tg.arange(24.0).view(4, 6)[1:, ::2],
    "repeated": tg.ones(3, 1).expand(3, 5),
    "empty": tg.empty(0, 3),
    "a number": tg.tensor(1.5),
    "a parameter": nn.Parameter(tg.ones(3)[1:]),
    "conjugated": tg.ones(2, dtype=tg.complex64).conj(),
    "short": tg.ones(2, dtype=tg.bfloat16),
    "bool": tg.ones(2) > 0,
    "channels last": tg.ones(1, 2, 3, 3).to(memory_format=tg.channels_last),
}
TO_META = [
    "meta",
    tg.device("meta"),
    {"cpu": "meta"},
    lambda storage, where: tg.serialization.default_restore_location(storage, "meta"),
]


@pytest.mark.parametrize("restricted", [True, False])
@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("where", TO_META)
def test_to_the_device_meta(where, zipped, restricted):
    data = written(LAYOUTS, _use_new_zipfile_serialization=zipped)
    loaded = read(data, map_location=where, weights_only=restricted)
    for name, x in LAYOUTS.items():
        found = loaded[name]
        assert found.is_meta and isinstance(found, type(x)), name
        assert (found.shape, found.stride(), found.dtype) == (x.shape, x.stride(), x.dtype), name
        assert found.requires_grad == x.requires_grad, name
        assert (found * 2).shape == x.shape, name


def test_a_skeleton_loads_from_the_device_meta():
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4)).eval()
    whole = read(written(model), map_location="meta", weights_only=False)
    assert all(x.is_meta for x in (*whole.parameters(), *whole.buffers()))
    whole.load_state_dict(read(written(model.state_dict())), assign=True)
    assert tg.equal(whole(tg.ones(2, 3)), model(tg.ones(2, 3)))


def test_storages_on_the_device_meta():
    storage = tg.serialization.default_restore_location(tg.ones(3).untyped_storage(), "meta")
    assert (storage.nbytes(), storage.device, storage.data_ptr()) == (12, tg.device("meta"), 0)
    assert storage[4:].nbytes() == 8 and storage.clone().nbytes() == 12
    assert repr(storage) == "...\n[torch.storage.UntypedStorage(device=meta) of size 12]"
    for look in (lambda: storage[0], storage.tolist, storage.cpu, lambda: storage.bytes):
        with pytest.raises(NotImplementedError, match="Not available for 'meta' device type"):
            look()


def test_a_function_of_storage_and_location():
    seen = []

    def where(storage, location):
        seen.append((type(storage), storage.nbytes(), location))
        return storage.cpu()

    w = tg.ones(3)
    assert read(on("cuda:1", [w, w[1:], tg.zeros(1)]), map_location=where)[1].tolist() == [1.0, 1.0]
    assert seen == [(tg.UntypedStorage, 12, "cuda:1"), (tg.UntypedStorage, 4, "cuda:1")]
    with pytest.raises(TypeError, match="Argument 'wrap_storage' must be UntypedStorage, but got"):
        read(on("cpu"), map_location=lambda storage, location: tg.ones(1))
    with pytest.raises(ZeroDivisionError):  # the caller's error is the caller's
        read(on("cpu"), map_location=lambda storage, location: 1 / 0)
    with pytest.raises(KeyError):
        read(on("cpu"), map_location=lambda storage, location: {}["x"])
    with pytest.raises(AssertionError, match="CUDA"):
        read(on("cpu"), map_location=lambda storage, location: storage.cuda())
    with pytest.raises(TypeError, match="'int' object is not callable"):
        read(on("cpu"), map_location=3)


def test_a_registered_device():
    restore = lambda storage, location: storage if location == "ipu" else None  # noqa: E731
    with pytest.raises(RuntimeError, match="don't know how to restore"):
        read(on("ipu"))
    tg.serialization.register_package(5, lambda storage: None, restore)
    assert read(on("ipu"))["b"].tolist() == [0.0]


# --------------------------------------------------------------------------------------------------------------- trust


@dataclass
class Point:
    x: int
    where: object = None


class Slotted:
    __slots__ = ("value",)


class Counting:
    def __init__(self, value=0):
        self.value = value

    def __setstate__(self, state):
        self.value = state["value"] + 1


def made(value):
    return ["made", value]


class Made:
    def __reduce__(self):
        return made, (5,)


def test_what_is_trusted_is_made():
    slotted = Slotted()
    slotted.value = tg.ones(1)
    value = {"p": Point(1, [tg.ones(2)]), "s": slotted, "c": Counting(3), "m": Made(), "d": collections.deque([1])}
    data = written(value)
    trusted = [Point, Slotted, Counting, made]
    unknown = tg.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data))
    here = __name__
    names = {f"{here}.Point", f"{here}.Slotted", f"{here}.Counting", f"{here}.made", "collections.deque"}
    assert set(unknown) == names
    with pytest.raises(pickle.UnpicklingError, match=f"Unsupported global: GLOBAL {here}.Point was not an allowed"):
        read(data)
    with tg.serialization.safe_globals(trusted):
        assert tg.serialization.get_safe_globals() == trusted
        assert tg.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data)) == ["collections.deque"]
        with pytest.raises(pickle.UnpicklingError, match=r"add_safe_globals\(\[collections.deque\]\)"):
            read(data)
        with tg.serialization.safe_globals([collections.deque]):
            data = written({name: held for name, held in value.items() if name != "d"})
            back = read(data)
    assert back["p"].where[0].tolist() == [1.0, 1.0] and back["s"].value.tolist() == [1.0]
    assert back["c"].value == 4 and back["m"] == ["made", 5]
    assert tg.serialization.get_safe_globals() == []
    with pytest.raises(pickle.UnpicklingError):
        read(data)


def test_trust_under_another_name_and_of_modules():
    data = written(Point(1)).replace(b"Point\n", b"Pxint\n")
    data = with_records(written(Point(1)), lambda name, content: content.replace(b"\nPoint\n", b"\nEarlier\n"))
    with tg.serialization.safe_globals([(Point, f"{__name__}.Earlier")]):
        assert read(data) == Point(1)
    model = tg.nn.Sequential(tg.nn.Linear(2, 3), tg.nn.BatchNorm1d(3))
    tg.serialization.add_safe_globals([tg.nn.Linear, tg.nn.BatchNorm1d, tg.nn.Sequential])
    try:
        back = read(written(model))
    finally:
        tg.serialization.clear_safe_globals()
    assert tg.equal(back[0].weight, model[0].weight) and back[1].running_var.tolist() == [1.0] * 3
    for wrong, error in (((Point, "a", "b"), ValueError), ((Point, 3), TypeError)):
        with tg.serialization.safe_globals([wrong]), pytest.raises(error, match="Expected"):
            read(written(Point(1)))
    with tg.serialization.safe_globals([os.system]), pytest.raises(pickle.UnpicklingError, match="is blocked"):
        read(pickle.dumps(os.system, 2))
    with pytest.raises(ValueError, match="Expected input to be a checkpoint returned by torch.save"):
        tg.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(pickle.dumps(1)))


def test_numpy_when_it_is_trusted():
    data = written([np.arange(3), np.float64(2)])
    with pytest.raises(pickle.UnpicklingError, match="numpy"):
        read(data)
    multiarray = sys.modules.get("numpy._core.multiarray") or sys.modules["numpy.core.multiarray"]
    trusted = [
        np.ndarray,
        np.dtype,
        type(np.dtype("i8")),
        (multiarray._reconstruct, "numpy._core.multiarray._reconstruct"),
    ]
    with tg.serialization.safe_globals(trusted):
        assert read(written([np.arange(3)]))[0].tolist() == [0, 1, 2]


def test_the_environment_decides(monkeypatch):
    data = written(Point(1))
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(pickle.UnpicklingError):
        read(data, weights_only=False)
    with pytest.raises(RuntimeError, match="Can not safely load weights when explicit pickle_module"):
        read(data, pickle_module=pickle)
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "yes")
    with pytest.raises(RuntimeError, match="Only one of `TORCH_FORCE_WEIGHTS_ONLY_LOAD`"):
        read(data)
    monkeypatch.delenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD")
    with pytest.warns(UserWarning, match="forcing weights_only=False"):
        assert read(data) == Point(1)
    with pytest.raises(pickle.UnpicklingError):
        read(data, weights_only=True)


# -------------------------------------------------------------------------------------------------- mapping and layout


def test_files_are_mapped(tmp_path):
    path = tmp_path / "x.pt"
    tg.save({"w": tg.arange(1000.0), "b": tg.tensor([True, False])}, path)
    before = path.read_bytes()
    back = tg.load(path, mmap=True)
    storage = back["w"].untyped_storage()
    assert tg.load(str(path), mmap=True)["w"].sum().item() == 499500.0
    assert isinstance(back["w"].numpy().base, (np.memmap, np.ndarray)) and storage.filename == str(path)
    back["w"][0] = 5
    back["b"][0] = False
    assert back["w"][0].item() == 5.0 and path.read_bytes() == before  # private
    with tg.serialization.set_default_mmap_options(mmap.MAP_SHARED):
        shared = tg.load(path, mmap=True)
        shared["w"][0] = 7
        del shared
    with pytest.raises(RuntimeError, match="CRC-32"):
        tg.load(path)
    tg.serialization.set_crc32_options(False)
    try:
        assert tg.load(path)["w"][0].item() == 7.0
    finally:
        tg.serialization.set_crc32_options(True)
    assert tg.serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    with pytest.raises(ValueError, match="f must be a file path in order to use the mmap argument"):
        tg.load(io.BytesIO(before), mmap=True)
    tg.save(tg.ones(1), path, _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="mmap can only be used with files saved with"):
        tg.load(path, mmap=True)
    with pytest.raises(ValueError, match=r"expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, but got 99"):
        tg.serialization.set_default_mmap_options(99)


def test_a_mapped_file_of_half_a_gigabyte_is_not_read(tmp_path):
    path = tmp_path / "large.pt"
    with tg.serialization.skip_data():
        tg.save(tg.empty(2**20), path)
    back = tg.load(path, mmap=True)
    assert back.shape == (2**20,) and back.untyped_storage().nbytes() == 2**22


def test_byte_orders():
    values = {
        "f": tg.arange(3.0),
        "i": tg.arange(3),
        "c": tg.tensor([1 + 2j]),
        "b": tg.tensor([True]),
        "h": tg.ones(2).half(),
    }
    data = written(values)

    def swapped(name, content):
        if name == "byteorder":
            return b"big"
        if not name.startswith("data/"):
            return content
        dtype = {"0": ">f4", "1": ">i8", "2": ">c8", "3": "?", "4": ">f2"}[name[5:]]
        return np.frombuffer(content, np.dtype(dtype).newbyteorder("<")).astype(dtype).tobytes()

    big = with_records(data, swapped)
    unsaid = with_records(big, lambda name, content: None if name == "byteorder" else content)
    for restricted in (True, False):
        for name, value in read(big, weights_only=restricted).items():
            assert value.tolist() == values[name].tolist(), name
    assert read(unsaid)["i"].tolist() != [0, 1, 2]
    order = tg.serialization.LoadEndianness
    tg.serialization.set_default_load_endianness(order.BIG)
    try:
        assert read(unsaid)["i"].tolist() == [0, 1, 2] and tg.serialization.get_default_load_endianness() is order.BIG
        assert read(data)["i"].tolist() == [0, 1, 2]
    finally:
        tg.serialization.set_default_load_endianness(None)
    with pytest.raises(TypeError, match="Invalid argument type in function set_default_load_endianness"):
        tg.serialization.set_default_load_endianness("big")
    with pytest.raises(RuntimeError, match="Unknown endianness type"):
        read(with_records(data, lambda name, content: b"middle" if name == "byteorder" else content))
    silent = written(values, _disable_byteorder_record=True)
    assert "archive/byteorder" not in zipfile.ZipFile(io.BytesIO(silent)).namelist() and read(silent)["i"][2] == 2


def test_records_that_are_missing_or_of_the_future():
    data = written(tg.ones(2))
    for record in ("data.pkl", "data/0", "version"):
        gone = with_records(data, lambda name, content, record=record: None if name == record else content)
        for restricted in (True, False):
            with pytest.raises(
                RuntimeError, match=f"PytorchStreamReader failed locating file .*{record}: file not found"
            ):
                read(gone, weights_only=restricted)
    for record in (".format_version", ".storage_alignment", ".data/serialization_id"):
        gone = with_records(data, lambda name, content, record=record: None if name == record else content)
        assert read(gone).tolist() == [1.0, 1.0]
    future = with_records(data, lambda name, content: b"11\n" if name == "version" else content)
    with pytest.raises(RuntimeError, match="version 11, but the maximum supported version for reading is 10"):
        read(future)
    script = with_records(data, lambda name, content: content)
    with zipfile.ZipFile(file := io.BytesIO(script), "a") as archive:
        archive.writestr("archive/constants.pkl", b"")
    with pytest.raises(RuntimeError, match="TorchScript archives"):
        read(file.getvalue())
    flipped = bytearray(data)
    flipped[data.index(np.ones(2, np.float32).tobytes())] ^= 1
    with pytest.raises(RuntimeError, match="CRC-32"):
        read(bytes(flipped))
    tar = bytes(257) + b"ustar" + bytes(250)
    with pytest.raises(RuntimeError, match=r"legacy .tar format"):
        read(tar)


def test_names_of_archives(tmp_path):
    for name, folder in (("model.pt", "model"), ("a.b.c", "a.b"), ("plain", "plain"), (".hidden", ".hidden")):
        tg.save(tg.ones(1), tmp_path / name)
        assert zipfile.ZipFile(tmp_path / name).namelist()[0] == f"{folder}/data.pkl"
        assert tg.load(tmp_path / name).tolist() == [1.0]
    assert sorted(os.listdir(tmp_path)) == [".hidden", "a.b.c", "model.pt", "plain"]


def test_a_save_that_fails_leaves_the_file(tmp_path):
    path = tmp_path / "x.pt"
    tg.save(tg.ones(1), path)
    for options in ({}, {"_use_new_zipfile_serialization": False}):
        with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
            tg.save([tg.ones(5), lambda: 0], path, **options)
        assert tg.load(path).tolist() == [1.0] and os.listdir(tmp_path) == ["x.pt"]


def test_archives_behind_other_bytes_and_in_streams():
    file = io.BytesIO()
    file.write(b"before")
    tg.save([tg.arange(3)], file)
    file.seek(6)
    assert tg.load(file)[0].tolist() == [0, 1, 2]
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        tg.load(file)

    class Sink:
        def __init__(self):
            self.data = b""

        def write(self, part):
            self.data += bytes(part)

    sink = Sink()
    tg.save({"x": tg.ones(3)}, sink)
    assert read(sink.data)["x"].tolist() == [1.0] * 3
    two = written(tg.ones(1)) + written(tg.zeros(1))
    with pytest.raises(RuntimeError, match="does not begin where the file was read"):
        read(two)


def test_data_may_be_skipped():
    with tg.serialization.skip_data():
        data = written([tg.arange(1, 5), tg.nn.Parameter(tg.ones(2))])
        with pytest.raises(RuntimeError, match="Cannot use skip_data=True with _use_new_zipfile_serialization=False"):
            written(1, _use_new_zipfile_serialization=False)
    assert [x.tolist() for x in read(data)] == [[0] * 4, [0.0, 0.0]]
    full = written(tg.ones(2))
    with tg.serialization.skip_data():
        assert read(full).tolist() == [0.0, 0.0]
    assert read(full).tolist() == [1.0, 1.0]


def test_checksums_may_be_left_out():
    tg.serialization.set_crc32_options(False)
    try:
        data = written(tg.ones(2))
        assert not tg.serialization.get_crc32_options()
    finally:
        tg.serialization.set_crc32_options(True)
    assert all(entry.CRC == 0 for entry in zipfile.ZipFile(io.BytesIO(data)).infolist())
    assert read(data).tolist() == [1.0, 1.0]


# ---------------------------------------------------------------------------------------------------- storages, pickles


def test_storages():
    w = tg.arange(6.0).view(2, 3)
    whole = w[1].untyped_storage()
    assert (whole.nbytes(), len(whole), whole.size(), whole.element_size()) == (24, 24, 24, 1)
    assert whole.data_ptr() == w.data_ptr() and whole.device == tg.device("cpu") and not whole.is_cuda
    typed = w.storage()
    assert typed.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0] and typed.dtype is tg.float32 and typed[2] == 2.0
    typed[2] = 9.0
    assert w[0, 2].item() == 9.0 and typed.pickle_storage_type() == "FloatStorage"
    assert tg.FloatStorage([1.0, 2.0]).tolist() == [1.0, 2.0] and tg.LongStorage(2).tolist() == [0, 0]
    assert tg.is_storage(typed) and tg.is_storage(whole) and not tg.is_storage(w)
    assert [repr(tg.ByteStorage(1)), repr(tg.UntypedStorage(2))] == [
        " 0\n[torch.storage.TypedStorage(dtype=torch.uint8, device=cpu) of size 1]",
        " 0\n 0\n[torch.storage.UntypedStorage(device=cpu) of size 2]",
    ]
    for copied in (copy.deepcopy(typed), pickle.loads(pickle.dumps(typed)), typed.clone()):
        assert copied.tolist() == typed.tolist() and copied.data_ptr() != typed.data_ptr()
    for back in (read(written({"t": typed, "u": tg.UntypedStorage([1, 2]), "w": w})),):
        assert back["t"].tolist() == typed.tolist() and back["w"].tolist() == w.tolist()
        assert back["t"].data_ptr() == back["w"].data_ptr()
    with pytest.raises(RuntimeError, match="view the same data as different types"):
        written([w, w.view(tg.int32)])
    assert read(written([w.view(tg.int32)]))[0].tolist() == w.view(tg.int32).tolist()


def test_memory_that_has_gaps_or_another_order():
    base = np.arange(24.0, dtype=np.float32).reshape(4, 6)
    arrays = [base[:, ::2], base.T, base[::2, 1:3], np.asfortranarray(base), base[1:2], base[:, :0], base[2, 3:]]
    for array in arrays:
        tensor = tg.from_numpy(array)
        back = read(written({"x": tensor, "y": tensor.detach()}))
        assert back["x"].tolist() == array.tolist() and back["x"].stride() == tensor.stride()
        assert not array.size or back["x"].data_ptr() == back["y"].data_ptr()


class Tagged(tg.Tensor):
    pass


class Net(tg.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = tg.nn.Sequential(tg.nn.Linear(2, 2), tg.nn.ReLU())
        self.lstm = tg.nn.LSTM(2, 2)
        self.act = tg.nn.functional.relu
        self.register_buffer("seen", tg.zeros(1), persistent=False)

    def forward(self, x):
        return self.act(self.lstm(self.body(x))[0])


@pytest.mark.parametrize(
    "again",
    [
        lambda x: read(written(x), weights_only=False),
        copy.deepcopy,
        lambda x: pickle.loads(pickle.dumps(x)),
        lambda x: read(written(x, _use_new_zipfile_serialization=False), weights_only=False),
    ],
)
def test_modules_come_back_as_they_were(again):
    net = Net()
    net.eval()
    x = tg.ones(3, 2)
    back = again(net)
    assert type(back) is Net and back(x).tolist() == net(x).tolist() and not back.training
    assert list(back.state_dict()) == list(net.state_dict()) and "seen" in dict(back.named_buffers())
    back.body[0] = tg.nn.Linear(2, 2, bias=False)  # the registries are watched ones again
    back.register_forward_hook(lambda module, args, output: output * 0)
    assert back(x).abs().sum().item() == 0.0 and type(back._parameters) is type(net._parameters)
    step = tg.compile(lambda x: back(x).sum())
    assert [step(x * i).item() for i in range(4)] == [0.0] * 4


def test_tensors_of_other_classes_and_with_attributes():
    tagged = tg.ones(2).as_subclass(Tagged)
    tagged.note = "n"
    named = tg.zeros(1)
    named.names_of = {"a": [tg.ones(1)]}
    back = read(written([tagged, named]), weights_only=False)
    assert type(back[0]) is Tagged and back[0].note == "n" and back[1].names_of["a"][0].tolist() == [1.0]
    with pytest.raises(pickle.UnpicklingError, match="Tagged"):
        read(written(tagged))
    with tg.serialization.safe_globals([Tagged]):
        assert type(read(written(tagged))) is Tagged


@pytest.mark.parametrize("name", ["cloudpickle", "dill"])
def test_other_pickle_modules(name):
    module = pytest.importorskip(name)
    data = written({"f": lambda x: x + 1, "w": tg.ones(2), "m": tg.nn.Linear(1, 1)}, pickle_module=module)
    for options in ({"pickle_module": module}, {"weights_only": False}):
        back = read(data, **options)
        assert back["f"](1) == 2 and back["w"].tolist() == [1.0, 1.0] and type(back["m"]) is tg.nn.Linear


# ------------------------------------------------------------------------------------------------- values of elsewhere


def test_state_dicts_of_numpy_arrays():
    model = tg.nn.Sequential(tg.nn.Linear(2, 3), tg.nn.BatchNorm1d(3))
    state = {name: value.numpy() * 2 for name, value in model.state_dict().items()}
    state["1.num_batches_tracked"] = np.int64(7)
    other = tg.nn.Sequential(tg.nn.Linear(2, 3), tg.nn.BatchNorm1d(3))
    assert str(other.load_state_dict(state)) == "<All keys matched successfully>"
    assert other[0].weight.tolist() == (model[0].weight * 2).tolist() and other[1].num_batches_tracked.item() == 7
    other.load_state_dict(state, assign=True)
    assert other[0].weight.data_ptr() == state["0.weight"].ctypes.data and isinstance(other[0].weight, tg.nn.Parameter)
    with pytest.raises(RuntimeError, match="size mismatch for 0.bias: copying a param with shape"):
        other.load_state_dict({**state, "0.bias": np.zeros(4, np.float32)})
    with pytest.raises(RuntimeError, match="expected torch.Tensor or Tensor-like object from checkpoint but received"):
        other.load_state_dict({**state, "0.bias": np.array(["a"])})
    optimizer = tg.optim.Adam(model.parameters())
    model(tg.ones(2, 2)).sum().backward()
    optimizer.step()
    kept = optimizer.state_dict()
    kept["state"] = {i: {key: value.numpy() for key, value in entry.items()} for i, entry in kept["state"].items()}
    fresh = tg.optim.Adam(model.parameters())
    fresh.load_state_dict(kept)
    assert fresh.state_dict()["state"][0]["exp_avg"].tolist() == kept["state"][0]["exp_avg"].tolist()
    assert fresh.state_dict()["state"][0]["exp_avg"].data_ptr() != kept["state"][0]["exp_avg"].ctypes.data


def test_safetensors(tmp_path, monkeypatch):
    pytest.importorskip("safetensors")
    path = tmp_path / "x.safetensors"
    types = (tg.float32, tg.bfloat16, tg.float16, tg.int64, tg.bool, tg.uint8, tg.float64)
    state = {dtype.name: tg.arange(6).view(2, 3).to(dtype) for dtype in types}
    state |= {"t": tg.arange(6.0).view(2, 3).t(), "0-d": tg.tensor(3.0), "empty": tg.zeros(0, 2)}
    safetensors.save_file(state, path, {"format": "pt"})
    for back in (safetensors.load_file(path), safetensors.load(path.read_bytes()), tg.load(path, "cpu"), tg.load(path)):
        facts = {name: (value.dtype, value.tolist(), tuple(value.shape)) for name, value in back.items()}
        assert facts == {name: (value.dtype, value.tolist(), tuple(value.shape)) for name, value in state.items()}
        back["float32"].add_(1)
    assert safetensors.save({"a": tg.ones(1)})[8:9] == b"{"
    with pytest.raises(RuntimeError, match="Some tensors share memory"):
        safetensors.save({"a": state["t"], "b": state["t"][1:]})
    for wrong in ([tg.ones(1)], {"a": 3}):
        with pytest.raises(ValueError, match="received"):
            safetensors.save(wrong)
    with pytest.raises(RuntimeError, match="with dict map_location is not supported"):
        tg.load(path, map_location={"cuda": "cpu"})
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(ImportError, match="pip install safetensors"):
        safetensors.load_file(path)


def test_files_of_python_2_hold_short_strings():
    data = b"\x80\x02U\x03abc."
    assert read(data) == "abc"


def test_random_states_come_back():
    tg.manual_seed(3)
    tg.randn(3)  # leaves a number over
    data = written({"rng": tg.get_rng_state(), "generator": tg.default_generator})
    after = [tg.randn(5).tolist(), tg.rand(2).tolist()]
    tg.set_rng_state(read(data)["rng"])
    assert [tg.randn(5).tolist(), tg.rand(2).tolist()] == after and tg.get_rng_state().dtype is tg.uint8
    generator = read(data)["generator"]
    assert tg.randn(5, generator=generator).tolist() == after[0]


def test_no_warning_and_no_torch():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in itertools.islice(FILES.files, 0, None, 7):
            read(FILES[name].tobytes(), weights_only=False)
