import atexit as _atexit
import os as _os
import random as _random

import numpy as _numpy
import torch as _torch

_random.seed(0)
_numpy.random.seed(0)
_torch.manual_seed(0)

if "PROGRAM_RECORD" in _os.environ:
    _losses = []
    _backward = _torch.Tensor.backward

    def _noting_backward(self, *args, **kwargs):
        if self.numel() == 1:
            _losses.append(self.detach())
        return _backward(self, *args, **kwargs)

    def _write_losses():
        with open(_os.environ["PROGRAM_RECORD"], "w") as file:
            file.write("\n".join(repr(loss.item()) for loss in _losses))

    _torch.Tensor.backward = _noting_backward
    _atexit.register(_write_losses)
