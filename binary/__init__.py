"""One binary of the program, for machines without Python: `make binary`."""
