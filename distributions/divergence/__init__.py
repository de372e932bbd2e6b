"""Kullback-Leibler divergences, registered by pairs of classes."""

from __future__ import annotations

from . import exponential_families, mixed_families, normal_vectors, same_family
from .registry import kl_divergence, register_kl

__all__ = ["kl_divergence", "register_kl"]
del exponential_families, mixed_families, normal_vectors, same_family
