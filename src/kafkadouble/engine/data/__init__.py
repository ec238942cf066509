"""The data of nodes: directories on disk, and saved logs."""
