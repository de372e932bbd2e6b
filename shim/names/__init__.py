"""What PyTorch has besides, under names of its own: versions, tuples, the face of its compiler."""
