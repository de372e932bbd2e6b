"""save as a writer of files: whole or not at all, under the mode, the link and the kind of file that were there."""

import builtins
import io
import os
import stat
import subprocess
import sys
import threading

import pytest

import tracegrad as tg

OLD = b"what was there"


class Fails:
    """Raises in the middle of pickling, after much was written."""

    def __init__(self, error):
        self.error = error

    def __reduce__(self):
        raise self.error


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def value(path):
    return tg.load(path).tolist()


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), MemoryError(), OSError(28, "No space left")])
@pytest.mark.parametrize("exists", [True, False])
def test_a_failure_leaves_what_was_there(tmp_path, exists, error):
    path = tmp_path / "x.pt"
    if exists:
        path.write_bytes(OLD)
    with pytest.raises(type(error)):
        tg.save([tg.zeros(100_000), Fails(error)], path)
    assert names(tmp_path) == (["x.pt"] if exists else []) and (not exists or path.read_bytes() == OLD)


@pytest.mark.parametrize("call", ["fsync", "replace", "chmod"])
def test_a_failure_of_the_system_leaves_what_was_there(tmp_path, monkeypatch, call):
    path = tmp_path / "x.pt"
    path.write_bytes(OLD)

    def fail(*arguments):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OSError):
        tg.save(tg.zeros(3), path)
    assert names(tmp_path) == ["x.pt"] and path.read_bytes() == OLD


def test_the_name_shows_the_old_file_until_the_new_one_is_whole(tmp_path):
    path, seen = tmp_path / "x.pt", []
    path.write_bytes(OLD)

    class Looks:
        def __reduce__(self):
            seen.append((path.read_bytes(), len(names(tmp_path))))
            return tuple, ()

    tg.save([tg.zeros(100_000), Looks()], path)
    assert seen == [(OLD, 2)] and names(tmp_path) == ["x.pt"]


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o000, 0o027])
def test_modes(tmp_path, mask):
    before = os.umask(mask)
    try:
        new, old = tmp_path / "new.pt", tmp_path / "old.pt"
        tg.save(tg.ones(1), new)
        assert stat.S_IMODE(new.stat().st_mode) == 0o666 & ~mask
        for mode in (0o600, 0o640, 0o666, 0o755):
            old.write_bytes(OLD)
            old.chmod(mode)
            tg.save(tg.ones(1), old)
            assert stat.S_IMODE(old.stat().st_mode) == mode and value(old) == [1.0]
    finally:
        os.umask(before)


def test_nobody_reads_it_before_it_has_the_mode_of_the_old_file(tmp_path):
    path, seen = tmp_path / "x.pt", []
    path.write_bytes(OLD)

    class Looks:
        def __reduce__(self):
            seen.extend(stat.S_IMODE(other.stat().st_mode) for other in tmp_path.iterdir() if other != path)
            return tuple, ()

    for mode in (0o600, 0o400, 0o666):
        path.chmod(mode)
        tg.save(Looks(), path)
        assert stat.S_IMODE(path.stat().st_mode) == mode
    assert seen == [0o600] * 3


@pytest.mark.parametrize("dangling", [False, True])
@pytest.mark.parametrize("relative", [False, True])
def test_links_stay(tmp_path, relative, dangling):
    folder = tmp_path / "real"
    folder.mkdir()
    target, middle, link = folder / "target.pt", folder / "middle", tmp_path / "link.pt"
    if not dangling:
        target.write_bytes(OLD)
        target.chmod(0o640)
    middle.symlink_to("target.pt")
    link.symlink_to(os.path.join("real", "middle") if relative else middle)
    tg.save(tg.ones(1), link)
    assert link.is_symlink() and middle.is_symlink() and not target.is_symlink() and value(target) == [1.0]
    assert names(tmp_path) == ["link.pt", "real"] and names(folder) == ["middle", "target.pt"]
    assert dangling or stat.S_IMODE(target.stat().st_mode) == 0o640
    with pytest.raises(ValueError):
        tg.save(Fails(ValueError()), link)
    assert link.is_symlink() and value(link) == [1.0]


def test_links_that_go_round(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(RuntimeError, match="cannot be opened"):
        tg.save(1, tmp_path / "a")
    assert names(tmp_path) == ["a", "b"]


def test_places_that_cannot_be_written(tmp_path, monkeypatch):
    with pytest.raises(RuntimeError, match="Parent directory .*none does not exist"):
        tg.save(1, tmp_path / "none" / "x.pt")
    with pytest.raises(RuntimeError, match="cannot be opened for writing .*directory"):
        tg.save(1, tmp_path)
    path, opened = tmp_path / "x.pt", builtins.open
    path.write_bytes(OLD)

    def guarded(file, mode="r", *more, **options):  # the tests may run as root, who may write anything
        if os.fspath(file) == str(path) and mode != "rb":
            raise PermissionError(13, "Permission denied")
        return opened(file, mode, *more, **options)

    monkeypatch.setattr(builtins, "open", guarded)
    with pytest.raises(RuntimeError, match="cannot be opened for writing .Permission denied"):
        tg.save(1, path)
    assert names(tmp_path) == ["x.pt"] and path.read_bytes() == OLD


def test_special_files_are_written_directly(tmp_path):
    tg.save(tg.ones(1), os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    tg.save(tg.ones(3), pipe)
    reader.join()
    assert tg.load(io.BytesIO(read[0])).tolist() == [1.0] * 3 and stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe"]


@pytest.mark.parametrize("to_file", [False, True])
@pytest.mark.parametrize("name", ["/dev/fd/{}", "/proc/self/fd/{}", "link"])
def test_open_files_by_their_number(tmp_path, name, to_file):
    if not os.path.exists(name.format(1)) and name != "link":
        pytest.skip(f"no {name} here")
    path = tmp_path / "out"
    path.write_bytes(OLD)
    read, write = (os.open(path, os.O_RDONLY), os.open(path, os.O_WRONLY)) if to_file else os.pipe()
    if name == "link":  # as /dev/stdout is one
        name = str(tmp_path / "link")
        os.symlink(f"/proc/self/fd/{write}", name)
    tg.save(tg.ones(2), name.format(write))
    os.close(write)
    with open(read, "rb") as file:
        assert tg.load(io.BytesIO(file.read())).tolist() == [1.0, 1.0]
    assert [each for each in names(tmp_path) if each != "link"] == ["out"]


def test_paths_of_any_kind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    long = "x" * 255
    for path in ("plain.pt", tmp_path / "path.pt", os.path.join(".", "dotted.pt"), long):
        tg.save(tg.ones(1), path)
        assert value(path) == [1.0]
    assert names(tmp_path) == sorted(["plain.pt", "path.pt", "dotted.pt", long])


@pytest.mark.slow
def test_a_killed_program_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.pt"
    path.write_bytes(OLD)
    code = f"""
import os, tracegrad as tg
class Kills:
    def __reduce__(self):
        os.kill(os.getpid(), 9)
tg.save([tg.zeros(100_000), Kills()], {str(path)!r})
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    assert path.read_bytes() == OLD
