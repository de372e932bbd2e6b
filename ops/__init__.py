"""What can be computed: every primitive, defined once with its type, its numpy evaluation, its derivative and its C."""
