"""Tensors taken apart, put together and broadcast, and copies where other functions give views."""
