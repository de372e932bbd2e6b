from typing import List, Sequence, Tuple, Union
import numpy as np
import tracegrad as torch
from tracegrad import Tensor

a = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float32, requires_grad=True)
b: Tensor = torch.zeros(2, 2) + torch.ones((2, 2)) * torch.full((2, 2), 3.0)
c = a @ b
d = c.reshape(-1).view(2, 2).permute(1, 0).transpose(0, 1).unsqueeze(0).squeeze(0)
e: float = d.sum().item()
f: int = int(d.argmax())
g: List[float] = d.flatten().tolist()
shape: Tuple[int, ...] = tuple(d.shape)
rows, cols = d.shape
n: int = d.size(0) * d.numel() * d.dim() * d.ndim * d.shape[0]
values, indices = d.max(dim=1)
m = d.max()
top = torch.topk(d, 1)
top.values.sum()
mask = d > 1.0
d2 = d[mask]
d3 = d[0, 1:, None]
d4 = d[..., ::2]
d5 = d[torch.tensor([0, 1])]
d = d.detach().clone()
d[0] = 1.0
d[mask] = 0
d += 1
d *= b.detach()
for row in d:
    row.sum()
if (d == 3).all() or torch.any(d < 0) or bool(torch.allclose(d, b)):
    pass
h = 2 - d / 3 + 1 // d.abs() ** 2 - (-d) % 3
arr: np.ndarray = d.numpy()
back = torch.from_numpy(arr).float().double().long().bool().to(torch.float64).to("cpu")
t = torch.as_tensor(np.zeros(3)).to(device="cpu", dtype=torch.float32, non_blocking=True)
dev: torch.device = t.device
dt: torch.dtype = t.dtype
chunks: Sequence[Tensor] = torch.chunk(d, 2)
x, y = torch.split(d, 1)
s = torch.stack([d, d]).mean(dim=(0, 1), keepdim=True)
std, mean = torch.std_mean(d)
u, inv = torch.unique(d, return_inverse=True)
q: Union[int, float, bool] = d[0, 0].item()
srt, order = torch.sort(d, descending=True)
z = torch.where(d > 0, d, torch.zeros_like(d))
z2 = torch.where(d > 0, d, 0.0)
torch.manual_seed(3)
r = torch.rand(3, generator=torch.Generator().manual_seed(1))
eye = torch.eye(3, device=dev)
lin = torch.linspace(0, 1, 5)
ein = torch.einsum("ij,jk->ik", a, b)
g2 = a.grad
if g2 is not None:
    g2.zero_()
a.sum().backward()
assert a.grad is not None
norm: float = a.grad.norm().item()
(gr,) = torch.autograd.grad(a.pow(2).sum(), a, create_graph=True)
w = torch.clamp(d, min=0, max=1).clamp_(0.0).add_(1).mul_(2.0)
idx = d.argsort(dim=-1)[:, :1]
gath = d.gather(1, idx)
sc = torch.zeros(2, 2).scatter_(1, idx, 1.0)
sc2 = torch.zeros(2, 2).scatter_(1, idx, src=d)
k = d.new_zeros(3), d.new_tensor([1.0]), d.type(torch.int32), d.type_as(a)
o = torch.nn.functional.one_hot(torch.tensor([1, 2]), num_classes=4).float()
svd = torch.linalg.svd(d)
U, S, Vh = svd
det: Tensor = torch.linalg.det(d)
lst = [int(v) for v in torch.arange(3)]
total = sum([d.sum(), d.mean()])
print(f"{d.mean():.3f} {e:.2f}", len(d), hash(d))
