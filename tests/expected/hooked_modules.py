"""A file of PyTorch's with whole modules that have hooks, and lazy ones before their first call."""

from pathlib import Path

import torch

if __name__ == "__main__":
    hooked = torch.nn.ReLU()
    hooked.register_forward_pre_hook(torch.nn.Identity.forward)  # called with the module and its arguments
    lazy = torch.nn.Sequential(torch.nn.LazyConv2d(3, 3), torch.nn.LazyBatchNorm2d(), hooked)
    torch.save(lazy, Path(__file__).with_suffix(".pt"))
