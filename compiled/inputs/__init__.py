"""What a specialisation is called with: arguments, captured tensors, numbers."""
