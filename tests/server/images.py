"""The image of a metadata log, replayed from its start."""

from __future__ import annotations

from collections.abc import Iterable

from kafkadouble.messages.framed import decode_record
from kafkadouble.server.metadata.image import EMPTY, Image
from kafkadouble.server.metadata.image_records import encoded_records_of
from kafkadouble.server.metadata.metadata_log import decode_batches
from kafkadouble.server.metadata.replay import MetadataDelta
from kafkadouble.wire.checksum import Buffer


def image_of_log(chunks: Iterable[Buffer]) -> Image:
    """Replays a log from its start, given as ranges of whole batches."""
    delta, end = MetadataDelta(), EMPTY.end
    for chunk in chunks:
        for records, reached in decode_batches(chunk):
            for record in records:
                delta.replay(record)
            end = reached
    return delta.image._replace(end=end)


def image_of_snapshot(image: Image) -> Image:
    """Replays the records of a snapshot of the image, to the same end."""
    delta = MetadataDelta()
    for value in encoded_records_of(image):
        delta.replay(decode_record(value)[0])
    return delta.image._replace(end=image.end)
