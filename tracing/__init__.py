"""Who listens to tensors, and counters of what changed: what a recording hears of eager mode."""
