"""Calls that run in Python while their operations are deferred and joined in programs."""
