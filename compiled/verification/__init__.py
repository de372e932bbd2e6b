"""TRACEGRAD_VERIFY=1: each replay compared with an eager run on copies."""
