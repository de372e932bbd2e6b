"""Graphs and kernels written in another way, so that better code comes out; every value stays what it is."""
