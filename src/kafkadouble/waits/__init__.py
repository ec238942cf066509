"""Waits until a double has a state, and defines these states."""
