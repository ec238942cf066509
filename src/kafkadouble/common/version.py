"""The version of the program, which pyproject.toml has, too."""

__version__ = "0.1.0"
