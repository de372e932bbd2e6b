"""What functions refuse, before anything is computed."""
