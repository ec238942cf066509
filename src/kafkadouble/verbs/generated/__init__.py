"""The class with the members of a double. Made by `python -m codegen`."""
