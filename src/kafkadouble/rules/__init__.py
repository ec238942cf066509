"""Fault rules of a double, as values that a test holds."""
