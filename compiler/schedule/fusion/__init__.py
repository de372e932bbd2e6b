"""Which nodes share a loop nest: what may be joined, and groups that are joined while their loops fit together."""
