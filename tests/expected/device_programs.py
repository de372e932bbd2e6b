"""Whole little programs that talk to devices in the usual ways, and PyTorch's losses:
python tests/expected/device_programs.py

From the root of the repository; needs PyTorch. A program takes the package and a decorator of its training step.
"""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

STORED = Path(__file__).with_suffix(".json")
PROGRAMS: dict[str, Callable[..., list[float]]] = {}


def program(function: Callable[..., list[float]]) -> Callable[..., list[float]]:
    """Enter a program under its name."""
    PROGRAMS[function.__name__] = function
    return function


def _mlp(torch: Any, sizes: tuple[int, ...] = (6, 8, 3)) -> Any:
    nn = torch.nn
    layers: list[Any] = []
    for i, j in zip(sizes, sizes[1:], strict=False):
        layers += [nn.Linear(i, j), nn.Tanh()]
    return nn.Sequential(*layers[:-1])


def _data(torch: Any, count: int = 6) -> list[tuple[Any, Any]]:
    return [(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(count)]


@program
def chosen_device(torch, wrap):
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(1)
    torch.cuda.manual_seed_all(1)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    model = _mlp(torch).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loss_of = torch.nn.CrossEntropyLoss().to(device)

    @wrap
    def step(x, y):
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return [step(x.to(device, non_blocking=True), y.to(device, non_blocking=True)).item() for x, y in _data(torch)]


@program
def moved_inside_the_step(torch, wrap):
    device = "cuda:0" if torch.cuda.device_count() > 0 else "cpu"
    torch.manual_seed(2)
    model = _mlp(torch).to(device=device, dtype=torch.float32)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

    @wrap
    def step(x, y):
        x, y = x.to(device), y.to(device=device, dtype=torch.long)
        target = torch.zeros(8, 3, device=device).scatter_(1, y.unsqueeze(1), 1.0)
        mask = torch.ones_like(target, device=x.device)
        if x.is_cuda:
            mask = mask.cuda()
        loss = ((model(x) - target) * mask).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach().cpu()

    return [float(step(x, y)) for x, y in _data(torch)]


@program
def data_parallel(torch, wrap):
    torch.manual_seed(3)
    torch.backends.cudnn.benchmark = True
    model = torch.nn.DataParallel(_mlp(torch))
    if torch.cuda.is_available():
        model.cuda()
    optimizer = torch.optim.SGD(model.module.parameters(), lr=0.1, momentum=0.9)

    @wrap
    def step(x, y):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    losses = [step(x, y).item() for x, y in _data(torch)]
    return [*losses, sum(name.startswith("module.") for name in model.state_dict())]


@program
def distributed_guarded(torch, wrap):
    torch.manual_seed(4)
    dist = torch.distributed
    model = _mlp(torch)
    if dist.is_available() and dist.is_initialized():
        model = torch.nn.parallel.DistributedDataParallel(model)
    rank = dist.get_rank() if dist.is_initialized() else 0
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)

    @wrap
    def step(x, y):
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return [step(x, y).item() for x, y in _data(torch)] if rank == 0 else []


@program
def group_of_one(torch, wrap):
    torch.manual_seed(5)
    dist = torch.distributed
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:29517", world_size=1, rank=0)
    try:
        model = torch.nn.parallel.DistributedDataParallel(_mlp(torch))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        @wrap
        def step(x, y):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        losses = []
        for x, y in _data(torch):
            loss = step(x, y).detach().clone()
            dist.all_reduce(loss, op=dist.ReduceOp.SUM)
            losses.append((loss / dist.get_world_size()).item())
        dist.barrier()
    finally:
        dist.destroy_process_group()
    return losses


def _amp(torch, wrap, dtype, scaler, seed, clip=None, optimizer_of="SGD"):
    torch.manual_seed(seed)
    model = _mlp(torch)
    optimizer = getattr(torch.optim, optimizer_of)(model.parameters(), lr=0.05)

    @wrap
    def step(x, y):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=dtype):
            loss = torch.nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        if clip is not None:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        scaler.step(optimizer)
        scaler.update()
        return loss

    return [step(x, y).item() for x, y in _data(torch)]


@program
def amp_bfloat16(torch, wrap):
    return _amp(torch, wrap, torch.bfloat16, torch.amp.GradScaler("cpu", enabled=False), 6)


@program
def amp_float16_scaled_and_clipped(torch, wrap):
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10, growth_interval=2)
    return [*_amp(torch, wrap, torch.float16, scaler, 7, clip=0.5), scaler.get_scale()]


@program
def amp_that_overflows(torch, wrap):
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24, growth_interval=3)
    return [*_amp(torch, wrap, torch.float16, scaler, 8), scaler.get_scale()]


@program
def amp_of_cuda(torch, wrap):
    torch.manual_seed(9)
    model = _mlp(torch)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler()

    @wrap
    def step(x, y):
        optimizer.zero_grad()
        with torch.cuda.amp.autocast():
            loss = torch.nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        return loss

    return [step(x, y).item() for x, y in _data(torch)]


@program
def context_by_device(torch, wrap):
    torch.manual_seed(10)
    device_type = "cuda" if torch.cuda.is_available() else "cpu"
    dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}["bfloat16"]
    context = contextlib.nullcontext() if device_type == "cpu" else torch.amp.autocast(device_type, dtype=dtype)
    model = _mlp(torch)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.set_float32_matmul_precision("high")

    @wrap
    def step(x, y):
        with context:
            loss = torch.nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss

    losses = [step(x, y).item() for x, y in _data(torch)]
    torch.set_float32_matmul_precision("highest")
    torch.backends.cuda.matmul.allow_tf32 = False
    return losses


@program
def pinned_loader(torch, wrap):
    torch.manual_seed(11)
    device = torch.accelerator.current_accelerator() or torch.device("cpu")
    features, classes = torch.randn(24, 6), torch.randint(0, 3, (24,))
    data = torch.utils.data.TensorDataset(features, classes)
    loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True, pin_memory=torch.cuda.is_available())
    model = _mlp(torch).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @wrap
    def step(x, y):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    losses = []
    for _ in range(2):
        for x, y in loader:
            x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
            losses.append(step(x, y).item())
        torch.cuda.empty_cache()
    return [*losses, torch.cuda.max_memory_allocated()]


@program
def convolutions_with_normalisation(torch, wrap):
    torch.manual_seed(12)
    nn = torch.nn
    model = nn.Sequential(
        nn.Conv2d(1, 4, 3),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(64, 5),
        nn.LayerNorm(5),
        nn.Linear(5, 3),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    inputs = [(torch.randn(8, 1, 6, 6), torch.randint(0, 3, (8,))) for _ in range(5)]

    @wrap
    def step(x, y):
        optimizer.zero_grad()
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
            out = model(x)
            assert out.dtype is torch.bfloat16
            loss = nn.functional.cross_entropy(out, y)
        loss.backward()
        optimizer.step()
        return loss

    return [step(x, y).item() for x, y in inputs]


@program
def autocast_around_calls(torch, wrap):
    torch.manual_seed(13)
    model = _mlp(torch)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @wrap
    def step(x, y):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    losses = []
    for i, (x, y) in enumerate(_data(torch, 9)):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=i % 3 != 0):
            losses.append(step(x, y).item())
    return losses


@program
def default_device(torch, wrap):
    torch.manual_seed(14)
    torch.set_default_device("cpu")
    with torch.device("cpu"):
        model = _mlp(torch)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    torch.use_deterministic_algorithms(True)

    @wrap
    def step(x, y):
        device = next(model.parameters()).device
        noise = torch.zeros(x.shape, device=device, dtype=x.dtype)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x + noise), y)
        loss.backward()
        optimizer.step()
        return loss

    losses = [step(x, y).item() for x, y in _data(torch)]
    torch.use_deterministic_algorithms(False)
    torch.set_default_device(None)
    return losses


def losses_of(name: str, package: Any, wrap: Callable[..., Any] = lambda step: step) -> list[float]:
    """What a program gives, whatever it warns of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PROGRAMS[name](package, wrap)


if __name__ == "__main__":
    import torch

    lines = [f"{json.dumps(name)}: {json.dumps(losses_of(name, torch))}" for name in PROGRAMS]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
