"""What the two sparse indexes of a segment have in common: entries of one size, and room behind them.

Kafka sets the room for an index aside when it begins a segment (`segment.index.bytes`), and cuts it off when it closes the segment. The index
of a segment that is written to, or was when the node died, therefore ends in zeros: they are no entries.
"""

from __future__ import annotations

from kafkadouble.wire.checksum import Buffer

from .errors import BadFile

_CHUNK = 1 << 16
_ZEROS = bytes(_CHUNK)


def used(data: Buffer, size: int) -> int:
    """How many bytes of `data` are entries of `size` bytes each, and perhaps a piece of one: all up to the zeros at the end."""
    with memoryview(data) as view:
        end = len(view)
        while end > 0 and view[max(end - _CHUNK, 0) : end] == _ZEROS[: min(end, _CHUNK)]:
            end = max(end - _CHUNK, 0)
        written = max(end - _CHUNK, 0) + len(bytes(view[max(end - _CHUNK, 0) : end]).rstrip(b"\0"))
        return min(-(-written // size) * size, len(view))


def check_size(data: Buffer, size: int, file: str) -> None:
    """BadFile unless `data` is whole entries."""
    if len(data) % size:
        problem = f"{len(data)} bytes, which is no multiple of the {size} bytes of an entry"
        raise BadFile(problem, file=file, offset=len(data) // size * size)
