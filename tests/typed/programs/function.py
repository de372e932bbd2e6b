from typing import Any
import tracegrad as torch
from tracegrad import Tensor
from tracegrad.autograd import Function


class Exp(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: float) -> Tensor:
        y = x.exp() * scale
        ctx.save_for_backward(y)
        ctx.scale = scale
        return y

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, None]:
        (y,) = ctx.saved_tensors
        return grads[0] * y, None


class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, *grad_output: Tensor) -> Tensor:
        (x,) = ctx.saved_tensors
        grad = grad_output[0].clone()
        grad[x < 0] = 0
        return grad


x = torch.randn(3, dtype=torch.double, requires_grad=True)
y: Tensor = Exp.apply(x, 2.0)
z = Clamp.apply(y)
assert torch.autograd.gradcheck(Clamp.apply, (x.abs() + 1,))
h = torch.autograd.functional.hessian(lambda v: v.pow(3).sum(), x)
j = torch.autograd.functional.jacobian(torch.exp, x)
handle = x.register_hook(lambda g: g * 2)
handle.remove()
with torch.enable_grad(), torch.set_grad_enabled(True):
    z.sum().backward(retain_graph=True)
with torch.autograd.detect_anomaly():
    pass


@torch.no_grad()
def evaluate(v: Tensor) -> float:
    return v.sum().item()


@torch.inference_mode()
def infer(v: Tensor, k: int = 1) -> Tensor:
    return v * k


value: float = evaluate(x)
infer(x, k=2)
g = torch.func.grad(lambda v: v.sin().sum())(x)
v = torch.vmap(torch.dot)(torch.ones(2, 3), torch.ones(2, 3))
jac = torch.func.jacrev(torch.sin)(x)
