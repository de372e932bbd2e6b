"""The bound of the cache: least recently used first, nothing that is in use; and what else lies in it."""

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from tracegrad.runtime import cache, eviction
from tracegrad.runtime.build import Unit, build
from tracegrad.runtime.errors import CacheUnusable
from tracegrad.runtime.program import SlotTable, load

COUNT = 6
# Another process builds and loads its programs again and again, and says so at each wrong number.
USER = """
import sys
from tracegrad.runtime.build import Unit, build
from tracegrad.runtime.program import SlotTable, load
def one(code):
    source = f"int tracegrad_step(void *const *slots) {{ return slots ? {code} : 0; }}"
    built = build([Unit("step", source)], {"own.h": ""}, load=load)
    return built.program.call(SlotTable(1).pointer)
print("ready", flush=True)
for number in range(int(sys.argv[1])):
    code = number % 3 + 1
    if one(code) != code:
        print("wrong", code)
print("done")
"""


def step(code):
    return Unit("step", f"int tracegrad_step(void *const *slots) {{ return slots ? {code} : 0; }}\n")


def start(code, *arguments, folder):
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True, cwd=folder, start_new_session=True
    )


def entries(folder):
    return sorted(path.parent.name for path in folder.glob("*/entry.json"))


def size_of(built):
    return sum(path.stat().st_size for path in built.path.parent.iterdir() if path.stat().st_nlink == 1)


def used(built, seconds_ago):
    then = time.time() - seconds_ago
    os.utime(built.path.parent / cache.MANIFEST, (then, then))


def test_least_recently_used_goes_first(cache_dir):
    built = [build([step(i)]) for i in range(COUNT)]
    order = random.Random(0).sample(range(COUNT), COUNT)
    for age, i in enumerate(order):
        used(built[i], 1000 - age)
    with cache.open_directory(cache_dir) as root:
        eviction.evict(root, 3 * size_of(built[0]) + 100)
    kept = {one.path.parent.name for one in (built[i] for i in order[-2:])}
    assert set(entries(cache_dir)) == kept  # 0.9 of three is two


def test_a_use_is_noted(cache_dir):
    built = [build([step(i)]) for i in range(3)]
    for one in built:
        used(one, 10_000)
    assert build([step(0)]).from_cache
    with cache.open_directory(cache_dir) as root:
        eviction.evict(root, int(1.5 * size_of(built[0])))
    assert entries(cache_dir) == [built[0].path.parent.name]


def test_a_build_keeps_the_bound_and_itself(cache_dir):
    nbytes = size_of(build([step(0)]))
    for i in range(1, COUNT):
        newest = build([step(i)], cache_bytes=int(2.5 * nbytes))
    assert len(entries(cache_dir)) <= 2
    assert newest.path.parent.name in entries(cache_dir)
    build([step(COUNT)], cache_bytes=0)
    assert len(entries(cache_dir)) == 1


def test_an_entry_in_use_is_kept(cache_dir):
    built = build([step(1)])
    with cache.open_directory(cache_dir) as root:
        with root.folder(built.path.parent.name, use=True):
            eviction.evict(root, 0)
            assert entries(cache_dir) == [built.path.parent.name]
        eviction.evict(root, 0)
    assert entries(cache_dir) == []


def test_headers_are_there_once_and_go_with_the_last_entry(cache_dir):
    built = [build([step(i)]) for i in range(3)]
    headers = list((cache_dir / "headers").iterdir())
    for one in built:
        for header in one.path.parent.glob("*.h"):
            assert header.stat().st_nlink == 4
    with cache.open_directory(cache_dir) as root:
        eviction.evict(root, 0)
        assert sorted((cache_dir / "headers").iterdir()) == sorted(headers)  # young: an entry may be about to link
        for header in headers:
            os.utime(header, (0, 0))
        build([step(0)])
        eviction.evict(root, 0)
    assert list((cache_dir / "headers").iterdir()) == []


@pytest.mark.parametrize(
    ("text", "nbytes"), [("", 1 << 30), ("5000", 5000), ("2k", 2048), ("3M", 3 << 20), ("1GB", 1 << 30)]
)
def test_the_bound_is_read(text, nbytes, monkeypatch):
    monkeypatch.setenv("TRACEGRAD_CACHE_SIZE", text)
    assert eviction.bound() == nbytes


@pytest.mark.parametrize("text", ["-1", "1.5G", "large", "1 T", "9" * 30])
def test_what_is_no_size_is_refused(text, monkeypatch):
    monkeypatch.setenv("TRACEGRAD_CACHE_SIZE", text)
    with pytest.raises(CacheUnusable, match="cannot be read") as error:
        eviction.bound()
    assert "TRACEGRAD_CACHE_SIZE" in str(error.value) and "500M" in str(error.value)


def evict_while_used(cache_dir, tmp_path, rounds):
    user = start(USER, str(rounds), folder=tmp_path)
    assert user.stdout.readline() == "ready\n"
    evicted = 0
    with cache.open_directory(cache_dir) as root:
        while user.poll() is None:
            before = len(entries(cache_dir))
            eviction.evict(root, 0)
            evicted += before > len(entries(cache_dir))
    assert user.communicate()[0] == "done\n"
    assert user.returncode == 0
    assert evicted


@pytest.mark.long
def test_eviction_while_another_process_loads(cache_dir, tmp_path):
    evict_while_used(cache_dir, tmp_path, 12)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("times", [250, 1500])
def test_eviction_while_another_process_loads_for_long(cache_dir, tmp_path, times):
    evict_while_used(cache_dir, tmp_path, times)


def kill_at(seconds, cache_dir, tmp_path):
    """A process that builds is killed after some time; then this one builds the same programs and gets the numbers."""
    builder = start(USER, "3", folder=tmp_path)
    assert builder.stdout.readline() == "ready\n"
    time.sleep(seconds)
    os.killpg(builder.pid, signal.SIGKILL)
    builder.communicate()
    for code in (1, 2, 3):
        built = build([Unit("step", step(code).source.rstrip("\n"))], {"own.h": ""}, load=load)
        assert built.program.call(SlotTable(1).pointer) == code


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("seed", range(2))
def test_a_build_killed_at_a_random_moment_blocks_nothing(seed, cache_dir, tmp_path):
    kill_at(random.Random(seed).random() * 0.15, cache_dir, tmp_path)


@pytest.mark.long(every=6)
@pytest.mark.parametrize("first", range(0, 102, 17))
def test_builds_killed_at_many_moments_block_nothing(first, cache_dir, tmp_path):
    for seed in range(first, first + 17):
        kill_at(random.Random(seed).random() * 0.15, cache_dir, tmp_path)


def test_a_young_folder_of_a_build_under_way_is_left_alone(cache_dir):
    build([step(1)])
    young, old, ahead = (cache_dir / f"tmp-{name}" for name in ("young", "old", "ahead"))
    for folder, seconds in ((young, 0), (old, -2 * cache.STALE_AFTER), (ahead, 2 * cache.STALE_AFTER)):
        folder.mkdir()
        (folder / "program.so").touch()
        os.utime(folder, (time.time() + seconds,) * 2)
    build([step(2)])
    assert [path.name for path in cache_dir.glob("tmp-*")] == ["tmp-young"]
