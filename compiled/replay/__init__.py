"""Replaying a specialisation: inputs, the generated fast path, results and gradients."""
