import random
from typing import Any, Optional, Union
import numpy as np
import tracegrad as torch
from tracegrad import nn
from tracegrad.utils.checkpoint import checkpoint
from tracegrad.nn.modules.module import Module
from tracegrad.optim.swa_utils import AveragedModel


def seed_everything(seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(1)
    torch.set_printoptions(precision=3, sci_mode=False)
    torch.set_default_dtype(torch.float32)


def get_device(name: Optional[str] = None) -> torch.device:
    if name is None:
        name = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    return torch.device(name)


class Lin(nn.Module):
    __constants__ = ["i"]
    i: int

    def __init__(
        self, i: int, o: int, device: Optional[torch.device] = None, dtype: Optional[torch.dtype] = None
    ) -> None:
        kw: dict[str, Any] = {"device": device, "dtype": dtype}
        super().__init__()
        self.w = nn.Parameter(torch.empty((o, i), **kw))
        self.register_parameter("b", None)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.linear(x, self.w, self.b)


dev = get_device()
lin = Lin(2, 3, device=dev, dtype=torch.float32).to(dev)
nn.init.zeros_(lin.w)
y = checkpoint(lin, torch.ones(1, 2), use_reentrant=False)
avg = AveragedModel(lin)
avg.update_parameters(lin)
script = torch.jit.script(lin)
c = torch.complex(torch.ones(2), torch.ones(2)).abs()
info = torch.finfo(torch.float32).eps + torch.iinfo(torch.int64).max
torch.testing.assert_close(torch.ones(2), torch.ones(2), rtol=1e-5, atol=1e-8)
st = torch.get_rng_state()
torch.set_rng_state(st)
b: bool = torch.is_tensor(y) and torch.equal(y, y) and isinstance(y, torch.FloatTensor)
dt = torch.promote_types(torch.int32, torch.float32)
mesh_x, mesh_y = torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
