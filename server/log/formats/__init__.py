"""Kafka's files as bytes and values: segments and their indexes, checkpoints, producer snapshots, and the small files of a log directory.

Each module is one kind of file: bytes in, values out, and back. Nothing here opens a file, knows a clock, or keeps state; the caller hands in
the file's name, for what it is told of it. Bytes that are not what they should be raise `BadFile`, and nothing else.
"""

from .errors import BadFile, TornTail

__all__ = ["BadFile", "TornTail"]
