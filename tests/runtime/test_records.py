"""Records beside the programs of the cache: what was written, whole, or nothing; and which compiler this is."""

import gc
import os
import random
import shutil
import time
import weakref

import pytest

from tracegrad.runtime import cache, eviction, own_source, records
from tracegrad.runtime.build import Unit, build

RECORD = {"numbers": [1, 2**70, -3], "text": 'a "word"\nand another ∂', "none": None, "deep": [[[]], {"a": [True]}]}
KEYS = [letter * 64 for letter in "ab"]


@pytest.fixture
def entry(cache_dir):
    """The file of a record; there is another record beside it."""
    records.keep(KEYS[1], ["other"])
    records.keep(KEYS[0], RECORD)
    return cache_dir / KEYS[0] / cache.MANIFEST


def test_what_was_kept_is_found(entry):
    assert records.find(KEYS[0]) == RECORD and records.find(KEYS[1]) == ["other"]
    assert records.find("c" * 64) is None
    assert entry.stat().st_mode & 0o777 == 0o600 and entry.parent.stat().st_mode & 0o777 == 0o700
    assert list(entry.parent.parent.glob("tmp-*")) == []
    records.keep(KEYS[0], "anew")
    assert records.find(KEYS[0]) == "anew"


def truncated(path, rng):
    os.truncate(path, rng.randrange(path.stat().st_size))


def flipped(path, rng):
    content = bytearray(path.read_bytes())
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def longer(path, rng):
    path.write_bytes(path.read_bytes() + rng.choice((b" ", b"\n", b"{}", rng.randbytes(9))))


def cut_out(path, rng):
    content = path.read_bytes()
    first = rng.randrange(len(content))
    path.write_bytes(content[:first] + content[first + rng.randrange(1, 9) :])


def deep(path, rng):
    path.write_text(rng.choice(("[", '{"a":')) * 100_000)


def random_bytes(path, rng):
    path.write_bytes(rng.randbytes(rng.choice((0, 10, path.stat().st_size))))


def of_another_key(path, rng):
    shutil.copy(path.parent.parent / KEYS[1] / path.name, path)


def of_another_format(path, rng):
    path.write_text(path.read_text().replace('"format": "1"', '"format": "2"'))


def writable_by_others(path, rng):
    rng.choice((path, path.parent)).chmod(rng.choice((0o770, 0o707, 0o722)))


def a_link(path, rng):
    target = path.parent.parent / "elsewhere"
    os.replace(path, target)
    path.symlink_to(target)


def a_folder(path, rng):
    path.unlink()
    path.mkdir()


def a_pipe(path, rng):
    path.unlink()
    os.mkfifo(path)


def removed(path, rng):
    path.unlink()


def without_folder(path, rng):
    shutil.rmtree(path.parent)
    path.parent.touch()


DAMAGES = (
    truncated, flipped, longer, cut_out, deep, random_bytes, of_another_key, of_another_format, writable_by_others,
    a_link, a_folder, a_pipe, removed, without_folder,
)  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_nothing_and_heals(damage, entry):
    rng = random.Random(damage.__name__)
    for _ in range(40):
        damage(entry, rng)
        assert records.find(KEYS[0]) is None
        assert records.find(KEYS[1]) == ["other"]
        records.keep(KEYS[0], RECORD)
        assert records.find(KEYS[0]) == RECORD


def test_records_of_others_are_nothing(entry, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: entry.stat().st_uid + 1)
    assert records.find(KEYS[0]) is None
    records.keep(KEYS[0], "theirs")
    monkeypatch.undo()
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(entry.parent.parent))
    assert records.find(KEYS[0]) == RECORD


@pytest.mark.parametrize("mode", [0o770, 0o707])
def test_a_cache_that_others_may_write_to_holds_none(mode, entry):
    entry.parent.parent.chmod(mode)
    assert records.find(KEYS[0]) is None
    records.keep(KEYS[0], "theirs")
    entry.parent.parent.chmod(0o700)
    assert records.find(KEYS[0]) == RECORD


def test_no_cache_no_records(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for place in (str(tmp_path / "file"), "~nobody-of-this-name/cache"):
        monkeypatch.setenv("TRACEGRAD_CACHE_DIR", place)
        records.keep(KEYS[0], RECORD)
        assert records.find(KEYS[0]) is None


def test_records_are_evicted_as_programs_are(entry, cache_dir):
    for key, age in zip(KEYS, (1000, 5000), strict=True):
        then = time.time() - age
        os.utime(cache_dir / key / cache.MANIFEST, (then, then))
    assert records.find(KEYS[1]) == ["other"]  # used now
    with cache.open_directory(cache_dir) as root:
        eviction.evict(root, entry.stat().st_size + 10)
    assert records.find(KEYS[0]) is None and records.find(KEYS[1]) == ["other"]


def test_records_with_many_bytes_are_noticed(cache_dir, monkeypatch):
    monkeypatch.setenv("TRACEGRAD_CACHE_SIZE", "20K")
    for number in range(40):
        records.keep(f"{number:064x}", "x" * 1000)
    assert sum(path.stat().st_size for path in cache_dir.glob("*/entry.json")) <= 20 << 10
    assert records.find(f"{39:064x}") == "x" * 1000


# ------------------------------------------------------------------------------------------- texts of programs


def test_texts_are_read_as_they_were_built(cache_dir, tmp_path, add_source):
    built = build([Unit("step", add_source)])
    (text,) = records.texts_of(built)
    assert text.read() == add_source
    built.sources[0].write_text(add_source.replace("+", "-"))
    assert text.read() is None
    elsewhere = build([Unit("step", add_source)], cache_dir=tmp_path / "elsewhere")
    assert records.texts_of(elsewhere) is None  # nobody will find it there


# ------------------------------------------------------------------------------------------- which compiler it is


@pytest.fixture
def source(tmp_path, monkeypatch, cache_dir):
    """A package's source that is older than this process."""
    for folder in own_source.FOLDERS:
        (tmp_path / "package" / folder / "inner").mkdir(parents=True)
    for name in ("compiler/a.py", "compiler/inner/b.py", "ops/c.py", "runtime/inner/d.h", "templates/e.c.j2"):
        (tmp_path / "package" / name).write_text(name)
    monkeypatch.setattr(own_source, "ROOT", tmp_path / "package")
    monkeypatch.setattr(own_source, "_started", time.time() + 60)
    return tmp_path / "package"


def test_every_file_of_source_counts(source):
    hashes = [own_source.source_hash()]
    for path in sorted(path for path in source.rglob("*") if path.is_file()):
        path.write_text(f"{path.name}, changed")
        hashes.append(own_source.source_hash())
        path.rename(path.with_stem("other"))
        hashes.append(own_source.source_hash())
    (source / "ops" / "more.py").write_text("")
    hashes.append(own_source.source_hash())
    assert None not in hashes and len(set(hashes)) == len(hashes) == 12


def test_other_files_and_their_age_do_not_count(source):
    usual = own_source.source_hash()
    (source / "ops" / "__pycache__").mkdir()
    (source / "ops" / "__pycache__" / "c.py").write_text("")
    (source / "ops" / "notes.txt").write_text("")
    os.utime(source / "ops" / "c.py", (1, 1))
    assert own_source.source_hash() == usual


def test_the_files_are_read_once(source, cache_dir, monkeypatch):
    usual = own_source.source_hash()
    own_source._hash_of.cache_clear()  # as in another process
    for path in source.rglob("*.py"):
        monkeypatch.setattr(type(path), "read_bytes", None)
    assert own_source.source_hash() == usual


def test_source_that_may_have_changed_since_it_was_loaded_has_no_hash(source, monkeypatch):
    monkeypatch.setattr(own_source, "_started", time.time() - 60)
    assert own_source.source_hash() is None


def test_no_source_has_no_hash(source, monkeypatch):
    shutil.rmtree(source / "ops")
    assert own_source.source_hash() is None


def test_this_process_began_before_now():
    assert time.time() - 24 * 3600 < own_source._start_of_process() < time.time()
    assert own_source.source_hash() is None or len(own_source.source_hash()) == 64


def asked_by_who_holds_an_object(key):
    held = Tracked()
    found = records.find(key)
    return found, weakref.ref(held)


class Tracked:
    """An object whose end can be seen."""


@pytest.mark.parametrize("key", [KEYS[0], "c" * 64], ids=["there", "not there"])
def test_who_asks_keeps_nothing(entry, key):
    """From Python 3.12 on, frames stayed in a cycle: with them what the user's functions hold, until a collection."""
    gc.collect()
    gc.disable()
    try:
        found, held = asked_by_who_holds_an_object(key)
        assert (found is None) == (key not in KEYS) and held() is None
    finally:
        gc.enable()
