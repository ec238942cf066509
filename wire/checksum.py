"""CRC-32C (Castagnoli), the checksum of record batches since magic 2.

The first checksum imports the library: the import costs more than everything else that a node needs
to start.
"""

from collections.abc import Callable
from importlib import import_module

Buffer = bytes | bytearray | memoryview
"""The types of bytes that the readers of records accept. (`collections.abc.Buffer` comes with
Python 3.12.)"""


def _load() -> Callable[[Buffer, int], int]:
    try:
        crc: Callable[[Buffer, int], int] = import_module("crc32c").crc32c
    except ImportError:
        # This library is as fast, but it accepts only bytes, so every slice is copied.
        extend: Callable[[int, bytes], int] = import_module("google_crc32c").extend
        return lambda data, value: extend(value, bytes(data))
    return crc


_crc32c: Callable[[Buffer, int], int] | None = None


def crc32c(data: Buffer, value: int = 0) -> int:
    """The CRC-32C of `data`; `value` is the checksum of the bytes before `data`."""
    global _crc32c
    if _crc32c is None:
        _crc32c = _load()
    return _crc32c(data, value)
