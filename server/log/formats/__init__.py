"""Kafka's files as bytes and values: segments and their indexes, checkpoints, producer snapshots,
and the small files of a log directory.

Each module is one kind of file: bytes in, values out, and back. No module opens a file, has a
clock, or keeps state; the caller passes the file's name, which error messages contain. Wrong bytes
raise `BadFile`, and no other exception.
"""

from .errors import BadFile, TornTail

__all__ = ["BadFile", "TornTail"]
