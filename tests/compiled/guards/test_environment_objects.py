"""Objects of Python's library that programs put others in the place of: streams, handlers, generators."""

import io
import itertools
import logging
import random
import sys
import warnings

import pytest

OTHER = io.StringIO()
PLACES = {
    "sys.stdout": sys, "sys.stderr": sys, "sys.stdin": sys, "sys.excepthook": sys, "sys.flags": sys,
    "logging.lastResort": logging, "logging.root": logging, "random._inst": random,
    "warnings.showwarning": warnings,
}  # fmt: skip
QUESTIONS = {
    "identity": "{} is OTHER",
    "class": "isinstance({}, io.StringIO)",
    "type": "type({}) is io.StringIO",
    "attribute": "hasattr({}, 'getvalue')",
    "what it says": "getattr({}, 'line_buffering', None) is False",
}


@pytest.mark.parametrize(("place", "question"), list(itertools.product(PLACES, QUESTIONS)))
def test_another_object_is_noticed(tg, monkeypatch, place, question):
    space = {"OTHER": OTHER, "io": io, **{module.__name__: module for module in PLACES.values()}}
    exec(f"def step(x):\n    return x * (2 if {QUESTIONS[question].format(place)} else 3)", space)
    compiled, name = tg.compile(space["step"]), place.partition(".")[2]
    for call in range(8):
        with monkeypatch.context() as patches:
            if call % 3 == 2:
                patches.setattr(PLACES[place], name, OTHER)
            outcomes = space["step"](tg.ones(2)).tolist(), compiled(tg.ones(2)).tolist()
        assert outcomes[0] == outcomes[1], call
