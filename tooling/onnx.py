"""``tracegrad.onnx``: not there; what exports refuses."""

from __future__ import annotations

from ..devices.answers import answering, refusing

_MESSAGE = "exporting to ONNX is not there: save the state_dict(), load it with PyTorch, and export it there"

is_in_onnx_export = answering("is_in_onnx_export", False, "False.")
export = refusing("export", NotImplementedError, f"torch.onnx.export: {_MESSAGE}")
dynamo_export = refusing("dynamo_export", NotImplementedError, f"torch.onnx.dynamo_export: {_MESSAGE}")
register_custom_op_symbolic = refusing(
    "register_custom_op_symbolic", NotImplementedError, f"torch.onnx.register_custom_op_symbolic: {_MESSAGE}"
)


class OnnxExporterError(RuntimeError):
    """What an export that fails raises; nothing raises it here."""
