"""What draws are made of: numpy code in plain eager mode, and integers."""
