"""Who calls: whose code a file is, and where the program is."""
