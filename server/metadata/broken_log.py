"""The error of a metadata log that contradicts itself."""


class BrokenLog(Exception):
    """A metadata record that cannot follow those before it."""
