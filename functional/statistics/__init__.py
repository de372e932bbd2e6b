"""What is told of many numbers by a few."""
