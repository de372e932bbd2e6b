"""Generated C under the address and undefined-behaviour sanitizers, driven by a C program of its own.

Every buffer, those that would share the arena too, is a separate allocation of exactly its size filled with ones, so
that a read or write beside it stops the program, and a read of memory that nothing has written makes NaN. Each graph
runs with buffers as malloc places them and with buffers that are aligned to their elements only, which the slices of a
user's array may be.
"""

import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from tracegrad.compiler.codegen.render import render
from tracegrad.compiler.evaluate import evaluate_graph
from tracegrad.compiler.graph import Builder, Graph, Result
from tracegrad.compiler.pipeline import FLAGS
from tracegrad.compiler.schedule.plan import make_schedule
from tracegrad.compiler.schedule.schedule import Schedule
from tracegrad.ops.arithmetic import maximum, minimum, neg
from tracegrad.ops.arithmetic import sign as sign_of
from tracegrad.ops.comparison import where
from tracegrad.ops.core import REGISTRY, bind, interpreting
from tracegrad.ops.indexing import gather, index_add, put, scatter, scatter_add, take
from tracegrad.ops.movement import broadcast, concatenate, flip, pad, reshape, slice, transpose, update_slice
from tracegrad.ops.pointwise import cast
from tracegrad.ops.products import dot
from tracegrad.ops.random import permutation, random_seed, random_words
from tracegrad.ops.reductions import amax, amin, argmax, argmin, prod, sum
from tracegrad.ops.scans import argsort, cumsum
from tracegrad.ops.types import ALL_DTYPES, Type, bool_, float32, float64, int32, int64

sys.path.insert(0, str(Path(__file__).parent / "compiler"))
from sample_graphs import CASES, sample_inputs  # noqa: E402
from sample_steps import classifier_step, moons_step, step_inputs  # noqa: E402
