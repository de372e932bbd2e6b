"""The store of compiled programs: private, whole or absent, and shared without locks."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tracegrad.runtime import cache
from tracegrad.runtime.build import Unit, build
from tracegrad.runtime.errors import CacheUnusable
from tracegrad.runtime.program import SlotTable, load

BUILDERS = 4
# Another process builds the program once the file `go` is there, calls it, and prints what it got.
BUILDER = """
import os, sys, time
from tracegrad.runtime.build import Unit, build
from tracegrad.runtime.program import SlotTable, load
source, go = open(sys.argv[1]).read(), sys.argv[2]
print("ready", flush=True)
while not os.path.exists(go):
    time.sleep(0.0005)
built = build([Unit("step", source)])
print(load(built.path).call(SlotTable(1).pointer), built.path)
"""
SEVEN = "int tracegrad_step(void *const *slots) { return slots ? 7 : 0; }\n"


def call_add(path):
    arrays = [np.arange(4, dtype=np.float32), np.full(4, 10, np.float32), np.empty(4, np.float32)]
    slots = SlotTable(3)
    for index, array in enumerate(arrays):
        slots.set_array(index, array)
    assert load(path).call(slots.pointer) == 0
    return arrays[2].tolist()


def leftovers(folder):
    return sorted(folder.glob("tmp-*"))


def start_builder(tmp_path, source):
    (tmp_path / "source.c").write_text(source)
    command = [sys.executable, "-c", BUILDER, str(tmp_path / "source.c"), str(tmp_path / "go")]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True, cwd=tmp_path)


def test_the_directory_is_private_and_nothing_else_is_left(cache_dir, add_source):
    built = build([Unit("step", add_source)])
    assert cache_dir.stat().st_mode & 0o777 == 0o700
    assert [path.parent for path in built.path.parent.parent.glob("*/entry.json")] == [built.path.parent]
    assert leftovers(cache_dir) == []


def truncate(built):
    built.path.write_bytes(built.path.read_bytes()[:1000])


def flip_one_bit(built):
    content = bytearray(built.path.read_bytes())
    content[len(content) // 2] ^= 1
    built.path.write_bytes(content)


def remove_library(built):
    built.path.unlink()


def break_manifest(built):
    (built.path.parent / cache.MANIFEST).write_text('{"library": "prog')


def empty_manifest(built):
    (built.path.parent / cache.MANIFEST).write_text("[]")


@pytest.mark.parametrize("damage", [truncate, flip_one_bit, remove_library, break_manifest, empty_manifest])
def test_a_damaged_entry_is_built_again(damage, add_source):
    units = [Unit("step", add_source)]
    damage(build(units))
    repaired = build(units)
    assert not repaired.from_cache
    assert build(units).from_cache
    assert call_add(repaired.path) == [10, 11, 12, 13]


def test_a_path_below_a_file_cannot_be_written(tmp_path, add_source):
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(CacheUnusable, match="cannot be written") as error:
            build([Unit("step", add_source)], cache_dir=folder)
        assert str(tmp_path / "file") in str(error.value)
        assert "set TRACEGRAD_CACHE_DIR" in str(error.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_directory_cannot_be_written(cache_dir, add_source):
    cache_dir.mkdir(mode=0o500)
    with pytest.raises(CacheUnusable, match="cannot be written"):
        build([Unit("step", add_source)])


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_directory_that_others_may_write_to_is_refused(mode, cache_dir, add_source, compilations):
    cache_dir.mkdir()
    cache_dir.chmod(mode)
    with pytest.raises(CacheUnusable, match="others may write") as error:
        build([Unit("step", add_source)])
    assert f"{mode:04o}" in str(error.value)
    assert "chmod 700" in str(error.value)
    assert compilations() == []


def test_a_directory_of_someone_else_is_refused(cache_dir, add_source, monkeypatch):
    cache_dir.mkdir(mode=0o700)
    monkeypatch.setattr(os, "geteuid", lambda: cache_dir.stat().st_uid + 1)
    with pytest.raises(CacheUnusable, match="belongs to user"):
        build([Unit("step", add_source)])


def test_where_the_directory_is(monkeypatch, tmp_path):
    monkeypatch.setenv("TRACEGRAD_CACHE_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache.default_directory() == tmp_path / "own"
    monkeypatch.delenv("TRACEGRAD_CACHE_DIR")
    assert cache.default_directory() == tmp_path / "xdg" / "tracegrad"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache.default_directory() == tmp_path / "home" / ".cache" / "tracegrad"


def test_threads_may_build_the_same_program_at_once(cache_dir, add_source):
    together = threading.Barrier(BUILDERS)

    def one(_):
        together.wait()
        return call_add(build([Unit("step", add_source)]).path)

    with ThreadPoolExecutor(BUILDERS) as pool:
        assert list(pool.map(one, range(BUILDERS))) == [[10, 11, 12, 13]] * BUILDERS
    assert leftovers(cache_dir) == []
    assert build([Unit("step", add_source)]).from_cache


@pytest.mark.long
def test_processes_may_build_the_same_program_at_once(cache_dir, tmp_path):
    builders = [start_builder(tmp_path, SEVEN) for _ in range(BUILDERS)]
    for builder in builders:
        assert builder.stdout.readline() == "ready\n"
    (tmp_path / "go").touch()
    answers = {builder.communicate()[0] for builder in builders}
    built = build([Unit("step", SEVEN)])
    assert built.from_cache
    assert answers == {f"7 {built.path}\n"}
    assert leftovers(cache_dir) == []


def test_a_killed_build_blocks_nothing_and_is_swept_after_a_day(
    script, tmp_path, monkeypatch, real_compiler, cache_dir
):
    held, reached = tmp_path / "held", tmp_path / "reached"
    held.touch()
    waiting = f"echo $$ > {reached}.new; mv {reached}.new {reached}; while [ -e {held} ]; do sleep 0.01; done"
    body = f'case "$*" in *" -o "*) {waiting};; esac\nexec {real_compiler} "$@"'
    monkeypatch.setenv("CC", str(script("waiting-cc", body)))
    (tmp_path / "go").touch()
    builder = start_builder(tmp_path, SEVEN)
    while not reached.exists() and builder.poll() is None:
        time.sleep(0.001)
    os.killpg(builder.pid, signal.SIGKILL)
    os.kill(int(reached.read_text()), signal.SIGKILL)  # the compiler: it has a session of its own
    builder.communicate()
    held.unlink()

    assert not build([Unit("step", SEVEN)]).from_cache
    assert build([Unit("step", SEVEN)]).from_cache
    (leftover,) = leftovers(cache_dir)  # younger than a day: it might belong to a build under way
    yesterday = time.time() - cache.STALE_AFTER - 1
    os.utime(leftover, (yesterday, yesterday))
    build([Unit("another", SEVEN)])
    assert leftovers(cache_dir) == []


def test_a_library_in_use_survives_the_repair_of_its_entry(add_source):
    units = [Unit("step", add_source)]
    built = build(units)
    assert call_add(built.path) == [10, 11, 12, 13]
    (built.path.parent / cache.MANIFEST).unlink()
    assert not build(units).from_cache  # replaces the file that is loaded
    assert call_add(built.path) == [10, 11, 12, 13]


def test_a_private_cache_can_be_given_for_one_build(tmp_path, cache_dir, add_source):
    built = build([Unit("step", add_source)], cache_dir=tmp_path / "private")
    assert Path(tmp_path / "private") in built.path.parents
    assert not cache_dir.exists()
