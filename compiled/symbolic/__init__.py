"""Numbers that a recording traces: symbolic numbers and the tape of what was computed of them."""
