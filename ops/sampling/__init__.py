"""Random numbers made by rejection, and how they depend on their distribution's parameters."""
