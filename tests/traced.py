"""Calls under a trace function that may interrupt them."""

import sys


def is_interrupted(call, trace):
    """True if ``call()``, traced by `trace`, ends with a KeyboardInterrupt."""
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False
