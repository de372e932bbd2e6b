"""The capsules of DLPack: which objects are some, and the element type that they name.

numpy makes and reads capsules, but knows no bfloat16. What it is shown has uint16 as its element type instead, which
stands in one field of the C struct and nowhere else.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

_CAPSULE = type(np.empty(0).__dlpack__())


def _python_function(name: str, result: Any) -> Any:
    function = ctypes.PYFUNCTYPE(result, ctypes.py_object, ctypes.c_char_p)
    return function((name, ctypes.pythonapi))


_is_valid = _python_function("PyCapsule_IsValid", ctypes.c_int)
_pointer = _python_function("PyCapsule_GetPointer", ctypes.c_void_p)


class ElementType(ctypes.Structure):
    """DLDataType: kind of number, bits, and how many numbers make one element."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Described(ctypes.Structure):
    """DLTensor."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", ElementType),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    )


class _Versioned(ctypes.Structure):
    """DLManagedTensorVersioned; the unversioned struct begins with its DLTensor."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("dl_tensor", _Described),
    )


_UNVERSIONED_NAME, _VERSIONED_NAME = b"dltensor", b"dltensor_versioned"  # of capsules that have not been read
_UINT16, _BFLOAT16 = (1, 16, 1), (4, 16, 1)  # code, bits, lanes


def is_unread(given: Any) -> bool:
    """True for a DLPack capsule that nobody has read."""
    return isinstance(given, _CAPSULE) and (is_versioned(given) or bool(_is_valid(given, _UNVERSIONED_NAME)))


def is_versioned(capsule: Any) -> bool:
    """True if the capsule is unread and can say that its memory is read-only."""
    return bool(_is_valid(capsule, _VERSIONED_NAME))


def call_bfloat16(capsule: Any) -> Any:
    """The unread capsule of uint16, which names bfloat16 from now on."""
    _put(_element_type(capsule), _BFLOAT16)
    return capsule


class Bfloat16AsUint16:
    """Whether an unread capsule names bfloat16; within the block it names uint16 then.

    Outside it the field is as its library wrote it: the struct is the library's, whose deleter may look at it.
    """

    def __init__(self, capsule: Any) -> None:
        self._field = _element_type(capsule)
        self._names_bfloat16 = (self._field.code, self._field.bits, self._field.lanes) == _BFLOAT16

    def __enter__(self) -> bool:
        if self._names_bfloat16:
            _put(self._field, _UINT16)
        return self._names_bfloat16

    def __exit__(self, *exception: object) -> None:
        if self._names_bfloat16:
            _put(self._field, _BFLOAT16)


def _element_type(capsule: Any) -> ElementType:
    """The field in the struct itself, which lives as long as nobody has read the capsule and let go of the array."""
    if is_versioned(capsule):
        return _Versioned.from_address(_pointer(capsule, _VERSIONED_NAME)).dl_tensor.dtype
    return _Described.from_address(_pointer(capsule, _UNVERSIONED_NAME)).dtype


def _put(field: ElementType, value: tuple[int, int, int]) -> None:
    field.code, field.bits, field.lanes = value
