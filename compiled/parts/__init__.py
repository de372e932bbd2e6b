"""Library work within re-recorded calls as programs of its own: models, losses, steps of optimizers; calls of them."""
