"""Waits for a state of a double, and the states."""
