"""One peer's process, which has imported its library and forks for each workload that it is asked for.

A forked process starts as a fresh one does, without the seconds of the import; what exceeds its time is ended alone.

    python -m benchmarks.tables.worker --peer torch-fused --threads 1 --cache DIR

reads one request of JSON a line, {"workload": "T3", "seconds": 0.5, "patience": 4, "timeout": 60}, and answers with
one line of figures.
"""

import argparse
import importlib
import json
import os
import select
import signal
import sys
import time

from .. import environment, one, peers


def arguments():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tables.worker")
    parser.add_argument("--peer", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--cache", required=True)
    return parser.parse_args()


def everything_from(pipe, seconds):
    """What a process writes before it closes the pipe; None if it does not within that time."""
    parts, end = [], time.monotonic() + seconds
    while True:
        if not select.select([pipe], [], [], max(0.0, end - time.monotonic()))[0]:
            return None
        part = os.read(pipe, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)


def answer_in_child(peer, request, pipe):
    os.setsid()  # compilers that it starts end with it
    os.dup2(2, 1)
    request = argparse.Namespace(**request)
    figures = one.outcome(peer, request)
    os.write(pipe, json.dumps(figures).encode())
    os._exit(0)


def answered(peer, request):
    """The figures of one workload in a process of its own, or why there are none."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        answer_in_child(peer, request, write)
    os.close(write)
    found = everything_from(read, request["timeout"])
    os.close(read)
    if found is None:
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if found is None:
        return dict(error=f"over {request['timeout']:g} s")
    return json.loads(found) if found else dict(error="the process ended without figures")


def main():
    args = arguments()
    environment.set_up(args.peer, args.threads, args.cache)
    importlib.import_module(peers.library(args.peer))
    for line in sys.stdin:
        request = dict(json.loads(line), threads=args.threads)
        print(json.dumps(answered(args.peer, request)), flush=True)


if __name__ == "__main__":
    main()
