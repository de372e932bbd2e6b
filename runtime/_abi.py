# auto-generated file
import _cffi_backend

ffi = _cffi_backend.FFI(
    "_abi",
    _version=0x2601,
    _types=b"\x00\x00\x03\x0d\x00\x00\x04\x03\x00\x00\x00\x0f\x00\x00\x07\x01\x00\x00\x05\x03\x00\x00\x00\x01",
    _globals=(
        b"\x00\x00\x00\x23tracegrad_step",
        0,
    ),
)
