"""What is known to be wrong: question and defect. Each is a strict xfail: whoever mends it takes its line out."""

KNOWN: dict[str, str] = {}
