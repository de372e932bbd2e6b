"""PyTorch's recurrent layers and cells with 16-bit numbers: outputs and gradients."""

import json
from pathlib import Path

import torch

DTYPES = ("float16", "bfloat16")
LAYERS = ("LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell")


def computed(tg, layer: str, dtype: str) -> dict[str, list]:
    """What a layer gives for fixed numbers."""
    tg.manual_seed(0)
    module = getattr(tg.nn, layer)(3, 4).to(getattr(tg, dtype))
    x = tg.randn(5, 7, 3).to(getattr(tg, dtype))
    out = module(x[0] if layer.endswith("Cell") else x)
    out = out[0] if isinstance(out, tuple) else out
    out.float().sum().backward()
    gradients = {name: p.grad.float().tolist() for name, p in module.named_parameters()}
    return {"out": out.float().tolist(), **gradients}


if __name__ == "__main__":
    found = {f"{layer} {dtype}": computed(torch, layer, dtype) for layer in LAYERS for dtype in DTYPES}
    Path(__file__).with_suffix(".json").write_text(json.dumps(found) + "\n", encoding="utf-8")
