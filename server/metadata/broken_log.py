"""The error of a metadata log that contradicts itself."""


class BrokenLog(Exception):
    """A metadata record that contradicts the records before it."""
