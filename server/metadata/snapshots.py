"""A snapshot of the metadata log and the image that it stands for: one from the other (KIP-630).

An image may only be written as of an offset at which no metadata transaction is open (KIP-868), and where a batch ends: what follows in the log
must go on from it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from kafkadouble.messages import framed
from kafkadouble.wire.errors import WireError

from ..log.formats.errors import BadFile, bad_from
from ..raft.snapshots.reading import SnapshotReader
from .broken_log import BrokenLog
from .image import Image
from .image_records import values_of
from .replay import Fold

__all__ = ["image_of", "loading", "values_of"]


def loading(reader: SnapshotReader) -> Iterator[Image]:
    """The image so far, after each batch; the last one is the whole. BadFile when the snapshot cannot be read, or contradicts itself."""
    fold = Fold()
    for values in reader.values():
        for value in values:
            _apply(fold, value, reader.file)
        yield fold.image
    yield fold.image._replace(end=reader.id)


def image_of(reader: SnapshotReader) -> Image:
    """The whole image. BadFile as above."""
    return deque(loading(reader), maxlen=1).pop()


def _apply(fold: Fold, value: bytes, file: str) -> None:
    try:
        fold.apply(framed.decode_record(value)[0])
    except WireError as problem:
        raise bad_from(problem, file) from problem
    except BrokenLog as problem:
        raise BadFile(str(problem), file=file) from problem
