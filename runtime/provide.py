"""C in, loaded program out: the one policy for everything that may go wrong in between.

Programs are built when a call is done, so its result must not be lost whatever happens here. Where the cache cannot
serve (read-only, full, unsafe, not executable), a private folder of this process does, which goes away with it. What
then still fails is said in one warning, and raised as RuntimeFault for the caller to go on eagerly.

`require` asks the same of an empty program: whether programs can be built at all, before anything is done.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from . import threads
from .build import Built, Load, Unit, build
from .cache import default_directory, reported_as_unusable
from .errors import CacheUnusable, LoadFailed, RuntimeFault
from .eviction import bound
from .float_environment import FloatEnvironmentChanged
from .listener import FLAGS, SOURCE, Listener, is_possible, load_listener
from .program import ffi, load, load_pool, require_cffi

PACKAGE = __name__.partition(".")[0]
POOL = Path(__file__).with_name("pool.c")
POOL_FLAGS = ("-std=gnu17", "-O2", "-fPIC", "-fvisibility=hidden", "-pthread")
EMPTY = """__attribute__((visibility("default"))) int tracegrad_step(void *const *slots);
int tracegrad_step(void *const *slots) { return slots == 0; }
"""

_said: set[str] = set()  # first lines of warnings
_not_loaded_from: dict[Path, str] = {}  # directories whose new libraries do not load, and why
_private: dict[int, Path] = {}  # the private folder, by process: a fork has its own


def provide(name: str, units: Sequence[Unit]) -> Built:
    """The loaded program of `units`. RuntimeFault if there is none; why has been said in a warning then."""
    try:
        built = _somewhere(units, lambda: load)
    except RuntimeFault as fault:
        say(f"{name} runs eagerly: {fault}", str(fault))
        raise
    if threads.is_wanted():
        provide_pool()
    return built


def provide_pool() -> None:
    """Load the worker pool of this process; after a warning, there is one thread if that cannot be done."""
    try:
        _somewhere([Unit("pool", POOL.read_text(encoding="utf-8"), POOL_FLAGS)], lambda: load_pool)
    except RuntimeFault as fault:
        say(f"compiled programs run on one thread: {fault}", str(fault))
        threads.set_number(1, ffi)


@cache
def provide_listener() -> Listener | None:
    """That of this process; None where it cannot be had: Python then does what it would have done."""
    if not is_possible():
        return None
    try:
        unit = Unit("listener", SOURCE.read_text(encoding="utf-8"), FLAGS)
        return _somewhere([unit], lambda: load_listener).program
    except RuntimeFault:
        return None


def require(flags: Sequence[str]) -> None:
    """RuntimeFault unless programs can be built with these flags, and loaded."""
    _somewhere([Unit("empty", EMPTY, tuple(flags))], lambda: load)


def say(text: str, cause: str) -> None:
    """Warn once in this process of one cause, at the user's line."""
    first = cause.partition("\n")[0]
    if first not in _said:
        warnings.warn(text, RuntimeWarning, stacklevel=_depth_of_user())
        _said.add(first)  # now: where warnings are errors, every failure is one


def _somewhere(units: Sequence[Unit], loader: Callable[[], Load]) -> Built:
    require_cffi()
    try:
        return _in_cache(units, loader())
    except FloatEnvironmentChanged:  # which is the compiler's doing, not the folder's
        raise
    except (CacheUnusable, LoadFailed) as fault:
        try:
            built = build(units, cache_dir=_private_folder(), load=loader())
        except (CacheUnusable, LoadFailed) as as_well:
            raise fault from as_well
        say(f"compiled programs are kept for this process only, in a temporary folder: {fault}", str(fault))
        return built


def _in_cache(units: Sequence[Unit], load: Load) -> Built:
    directory = default_directory()
    if directory in _not_loaded_from:
        raise LoadFailed(_not_loaded_from[directory])
    try:
        return build(units, load=load, cache_bytes=bound())
    except FloatEnvironmentChanged:
        raise
    except LoadFailed as fault:
        _not_loaded_from[directory] = str(fault)
        raise


def _private_folder() -> Path:
    """A new folder for this process, or the one that it has; it goes away when the process ends."""
    process = os.getpid()
    if process not in _private or not _private[process].is_dir():
        with reported_as_unusable(Path(tempfile.tempdir or "the folder for temporary files")):
            folder = Path(tempfile.mkdtemp(prefix="tracegrad-"))
        atexit.register(_remove, process, folder)
        _private[process] = folder
    return _private[process]


def remove_private_folder() -> None:
    """Remove that of this process, if it has one: for a process that ends without exit handlers."""
    if os.getpid() in _private:
        _remove(os.getpid(), _private[os.getpid()])


def _remove(process: int, folder: Path) -> None:
    if os.getpid() == process:  # a fork that ends leaves it to its parent
        shutil.rmtree(folder, ignore_errors=True)


def _depth_of_user() -> int:
    """The `stacklevel`, seen from `say`, of the first frame that is not this package's."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        frame, depth = frame.f_back, depth + 1
    return depth
