"""Which functions of Python's library and of numpy only compute, or read what is compared besides: a closed list.

What else a function's code calls there (`threading.get_ident`, `sys.getrefcount`, `np.geterr`) may answer otherwise at
the next call, or do something, so calls of the function are not replayed.
"""

from __future__ import annotations

import array
import contextvars
import datetime
import decimal
import functools
import io
import operator
import re
import struct
import sys
import types
from collections import OrderedDict, defaultdict, deque
from typing import Any

import numpy as np

from ..common.classes import is_a

_BUILTINS = frozenset(
    "__build_class__ abs aiter all anext any ascii bin callable chr compile delattr dir divmod eval exec format "
    "getattr globals hasattr hex isinstance issubclass iter len locals max min next oct ord pow repr round setattr "
    "sorted sum vars".split()
)  # ``globals``, ``vars``, ``eval`` and their like lead to places that are compared
_C_MODULES = frozenset(
    "math cmath _operator itertools _functools _bisect _heapq _struct _json _statistics binascii zlib _sre _abc "
    "_string unicodedata _codecs _collections _datetime _hashlib _md5 _sha1 _sha2 _sha3 _blake2".split()
)
_NUMPYS = frozenset(
    "array asarray asanyarray ascontiguousarray asfortranarray zeros empty empty_like arange concatenate dot vdot "
    "inner where lexsort bincount can_cast result_type promote_types min_scalar_type frombuffer fromiter fromstring "
    "copyto count_nonzero correlate ravel_multi_index unravel_index interp digitize packbits unpackbits c_einsum "
    "putmask may_share_memory shares_memory normalize_axis_index".split()
)
_FUNCTIONS = {
    "builtins": _BUILTINS,
    "sys": frozenset({"intern", "exc_info", "exception", "getdefaultencoding"}),
    "posix": frozenset({"fspath"}),
    "nt": frozenset({"fspath"}),
    "_decimal": frozenset({"getcontext"}),  # which is guarded: library_sources.DecimalContext
    "decimal": frozenset({"getcontext"}),
}
# Classes whose methods only work on the object; what becomes of objects that outlive the call is compared.
_CLASSES = frozenset({
    object, type, str, bytes, bytearray, memoryview, int, float, complex, bool, tuple, list, dict, set, frozenset,
    range, slice, property, classmethod, staticmethod, super, deque, OrderedDict, defaultdict, array.array,
    type({}.keys()), type({}.values()), type({}.items()), types.GeneratorType, types.CoroutineType,
    types.MappingProxyType, types.CodeType, types.FunctionType, types.MethodType, types.SimpleNamespace,
    types.GenericAlias, BaseException, re.Pattern, re.Match, decimal.Decimal, datetime.date, datetime.datetime,
    datetime.time, datetime.timedelta, datetime.timezone, datetime.tzinfo, struct.Struct, functools.partial,
    operator.attrgetter, operator.itemgetter, operator.methodcaller, contextvars.ContextVar, *io.StringIO.__mro__,
    *io.BytesIO.__mro__, np.ndarray, np.generic, np.dtype, np.ufunc, np.flatiter, np.random.Generator,
    np.random.RandomState,
})  # fmt: skip
_EXCEPT = frozenset({"__subclasses__"})
# Modules written in Python: what they call in turn is looked at by `external_effects.py`.
_MODULES = frozenset(
    "_collections_abc _py_abc _pydecimal _pydatetime _strptime _weakrefset abc bisect calendar codecs collections "
    "colorsys contextlib copy copyreg dataclasses datetime decimal difflib encodings enum fnmatch fractions functools "
    "genericpath graphlib hashlib heapq html importlib inspect io json keyword logging ntpath numbers operator os "
    "pathlib posixpath pprint random re reprlib sre_compile sre_constants sre_parse statistics string textwrap types "
    "typing uuid weakref".split()
)
_NUMPYS_MODULES = frozenset(
    "numpy multiarray overrides fromnumeric numeric numerictypes shape_base function_base index_tricks twodim_base "
    "stride_tricks type_check ufunclike arraysetops nanfunctions polynomial einsumfunc arraypad histograms linalg "
    "getlimits _methods _dtype _internal _type_aliases".split()
)


def is_pure(called: types.BuiltinFunctionType) -> bool:
    """True for a function or method written in C that is on the list."""
    owner, name = called.__self__, called.__name__
    if owner is None or is_a(owner, types.ModuleType):
        module = called.__module__ or getattr(owner, "__name__", "")
        if module.partition(".")[0] == "numpy":
            return name in _NUMPYS
        return module in _C_MODULES or name in _FUNCTIONS.get(module, ())
    kinds = type(owner).__mro__
    if is_a(owner, type):
        kinds = (*owner.__mro__, *kinds)
    defining = next((kind for kind in kinds if name in vars(kind)), None)
    return (defining in _CLASSES or _is_of_pure_module(defining)) and name not in _EXCEPT


def _is_of_pure_module(kind: Any) -> bool:
    """True for what such a module makes, and for iterators: those that a function finds outside are not replayed."""
    module = getattr(kind, "__module__", None)
    return module in _C_MODULES or (hasattr(kind, "__next__") and module in ("builtins", "collections"))


def is_pure_module(name: str) -> bool:
    """True unless `name` is a module, of Python's library or numpy, whose functions may do other than compute."""
    top, *rest = name.split(".")
    if top == "numpy":
        last = (rest or [top])[-1]
        return last in _NUMPYS_MODULES or last.removeprefix("_").removesuffix("_impl") in _NUMPYS_MODULES
    return top in _MODULES or top not in sys.stdlib_module_names
