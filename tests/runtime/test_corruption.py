"""An entry of the cache, damaged in every way that a generator can think of: it heals, and no wrong library is taken.

Each round damages one or more things in a cache with two programs, by a seed, and then builds both again. What they
give must be the very library of a clean build, in files that nobody else can write to, and found the next time.
"""

import os
import random
import shutil
import socket
import stat
import subprocess
from pathlib import Path

import pytest

from tracegrad.runtime import cache
from tracegrad.runtime.build import Unit, build
from tracegrad.runtime.program import SlotTable, load

SOURCES = [f"int tracegrad_step(void *const *slots) {{ return slots ? {code} : 0; }}\n" for code in (7, 8)]
HEADERS = {"own.h": "#define OWN 1\n"}
SAMPLE, ALL, CHUNK = 36, 4000, 200
ROOT = os.geteuid() == 0


def make(folder, code):
    return build([Unit("step", SOURCES[code - 7])], HEADERS, cache_dir=folder)


def contents(folder):
    """Each file below a folder, with what it holds."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


# ------------------------------------------------------------------------------- damages: to a file, or to anything


def truncated(path, rng):
    path.chmod(0o600)
    os.truncate(path, rng.randrange(path.stat().st_size + 1))


def flipped(path, rng):
    content = bytearray(path.read_bytes())
    for _ in range(rng.choice((1, 1, 8))):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    path.write_bytes(content)


def longer(path, rng):
    path.write_bytes(path.read_bytes() + rng.randbytes(rng.choice((1, 4096))))


def random_bytes(path, rng):
    path.write_bytes(rng.randbytes(rng.choice((0, 10, path.stat().st_size))))


def deep(path, rng):
    path.write_text(rng.choice(("[", '{"library":')) * 100_000)


def another_file(path, rng):
    files = [p for p in path.parent.iterdir() if p.is_file() and not p.is_symlink()]
    shutil.copy(rng.choice(files), path.with_suffix(".new"))
    os.replace(path.with_suffix(".new"), path)


def of_another_key(path, rng):
    """The file of the same role from the other program."""
    others = [p for p in path.parent.parent.glob(f"*/*{path.suffix}") if p.parent != path.parent]
    others = [p for p in others if p.is_file() and not p.is_symlink()]
    if others:
        content = rng.choice(others).read_bytes()
        path.unlink()
        path.write_bytes(content)


def removed(path, rng):
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def directory(path, rng):
    removed(path, rng)
    path.mkdir(0o700)
    if rng.random() < 0.5:
        (path / "inside").write_text("kept by nobody")


def fifo(path, rng):
    removed(path, rng)
    os.mkfifo(path, 0o600)


def bound_socket(path, rng):
    removed(path, rng)
    before = os.getcwd()
    os.chdir(path.parent)  # its path has a largest length
    try:
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(path.name)
    finally:
        os.chdir(before)


def symbolic_link(path, rng):
    """To the thing itself somewhere else, to nothing, or to itself."""
    away = path.parent / f"away-{rng.randrange(10**9)}"
    os.rename(path, away)
    path.symlink_to(rng.choice((away, Path("nothing"), path)))


def others_may_write(path, rng):
    path.chmod(rng.choice((0o777, 0o666, 0o720, 0o602)))


def of_another_user(path, rng):
    if ROOT:
        os.chown(path, 12345, -1)


def unreadable(path, rng):
    path.chmod(0)


def swapped_entries(path, rng):
    """The two programs' folders under each other's name."""
    one, other = [p for p in entry_of(path).parent.iterdir() if len(p.name) == 64][:2]
    aside = one.with_name("aside")
    os.rename(one, aside)
    os.rename(other, one)
    os.rename(aside, other)


def copied_entry(path, rng):
    """The other program's folder under this one's name."""
    entry = entry_of(path)
    (other,) = [p for p in entry.parent.iterdir() if len(p.name) == 64 and p != entry]
    shutil.rmtree(entry)
    subprocess.run(["cp", "-a", other, entry], check=True)  # links as links


def entry_of(path):
    return path if len(path.name) == 64 else path.parent


TO_FILES = [truncated, flipped, flipped, longer, random_bytes, deep, another_file, of_another_key]
TO_ANYTHING = [
    removed, directory, fifo, bound_socket, symbolic_link, others_may_write, of_another_user, unreadable,
]  # fmt: skip
TO_ENTRIES = [swapped_entries, copied_entry]


KINDS = (*TO_FILES, *TO_ANYTHING, *TO_ENTRIES)


def damage(folder, entry, rng, kind):
    """Damage one thing in this way; what was done, for the message of a failure."""
    targets = [entry, *sorted(entry.iterdir())]
    if kind not in TO_ENTRIES:
        targets += [folder / "headers", *sorted((folder / "headers").iterdir())]
    if kind in TO_FILES:
        targets = [path for path in targets if path.is_file() and not path.is_symlink() and path.stat().st_size]
    else:
        targets = [path for path in targets if not path.is_symlink()]  # what a link leads to is none of ours
    path = rng.choice(targets)
    kind(path, rng)
    return f"{kind.__name__} {path.relative_to(folder)}"


# -------------------------------------------------------------------------------------------------------- the rounds


@pytest.fixture
def clean(tmp_path):
    """A cache with the two programs, and what its entries hold."""
    folder = tmp_path / "clean"
    built = [make(folder, code) for code in (7, 8)]
    return (
        folder,
        [one.path.parent.name for one in built],
        {one.path.parent.name: contents(one.path.parent) for one in built},
    )


def check_round(clean, seed, folder):
    template, keys, expected = clean
    rng = random.Random(seed)
    subprocess.run(["cp", "-a", template, folder], check=True)  # headers stay links
    done = []
    for _ in range(rng.choice((1, 1, 1, 2))):
        entry = folder / rng.choice(keys)
        if (
            entry.is_dir()
            and not entry.is_symlink()
            and os.access(entry, os.R_OK | os.X_OK)
            and (folder / "headers").is_dir()
        ):
            done.append(damage(folder, entry, rng, rng.choice(KINDS) if done else KINDS[seed % len(KINDS)]))
    what = f"seed {seed}: {', '.join(done)}"
    for code, key in zip((7, 8), keys, strict=True):
        built = make(folder, code)
        entry = folder / key
        assert built.path.parent == entry, what
        for name, content in expected[key].items():
            file = entry / name
            status = file.lstat()
            assert stat.S_ISREG(status.st_mode) and not status.st_mode & 0o022, what
            assert status.st_uid == os.geteuid() and file.read_bytes() == content, what
        assert not entry.is_symlink() and not entry.stat().st_mode & 0o022, what
    for code in (7, 8):
        assert make(folder, code).from_cache, what
    shutil.rmtree(folder)
    return what


def test_a_sample_of_damages_heals(clean, tmp_path):
    seen = " ".join(check_round(clean, seed, tmp_path / f"round-{seed}") for seed in range(SAMPLE))
    assert all(kind.__name__ in seen for kind in KINDS)


@pytest.mark.long(every=23)
@pytest.mark.parametrize("first", range(SAMPLE, ALL, CHUNK))
def test_damages_heal(first, clean, tmp_path):
    for seed in range(first, min(first + CHUNK, ALL)):
        check_round(clean, seed, tmp_path / f"round-{seed}")


@pytest.mark.parametrize("kind", [swapped_entries, copied_entry])
def test_an_entry_under_another_key_gives_the_right_numbers(kind, cache_dir):
    built = [make(cache_dir, code) for code in (7, 8)]
    kind(built[0].path.parent, random.Random(0))
    again = [make(cache_dir, code) for code in (7, 8)]
    assert not again[0].from_cache
    assert [load(one.path).call(SlotTable(1).pointer) for one in again] == [7, 8]


def test_a_folder_behind_a_link_is_not_written_to(cache_dir, tmp_path):
    entry = make(cache_dir, 7).path.parent
    elsewhere = tmp_path / "elsewhere"
    os.rename(entry, elsewhere)
    (elsewhere / cache.MANIFEST).unlink()
    before = contents(elsewhere)
    entry.symlink_to(elsewhere)
    assert not make(cache_dir, 7).from_cache
    assert contents(elsewhere) == before
    assert not entry.is_symlink()


def test_files_that_others_made_are_replaced_and_theirs_are_left(cache_dir, tmp_path):
    built = make(cache_dir, 7)
    theirs = tmp_path / "theirs.so"
    shutil.copy(built.path, theirs)
    built.path.unlink()
    built.path.symlink_to(theirs)
    assert not make(cache_dir, 7).from_cache
    assert theirs.is_file() and not built.path.is_symlink()
