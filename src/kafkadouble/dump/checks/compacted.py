"""Finds the topics that are, or ever were, compacted, in the metadata log of the same directory.
Their offsets may have gaps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from kafkadouble.dump.contents.file import FileBytes
from kafkadouble.dump.contents.kinds import METADATA_TOPIC
from kafkadouble.messages import ConfigRecord
from kafkadouble.messages.framed import decode_record
from kafkadouble.server.log.formats import names
from kafkadouble.server.log.formats.scan import ScannedBatch, scan
from kafkadouble.wire.batch import records_of
from kafkadouble.wire.errors import WireError

# The type of the topic resource in ConfigRecord.
_TOPIC = 2
_POLICY = "cleanup.policy"


def compacted_topics(directory: Path) -> set[str]:
    """The topics whose `cleanup.policy` contains `compact`. Unreadable parts are skipped; other
    checks report them."""
    folder = directory / names.partition_folder(METADATA_TOPIC, 0)
    if not folder.is_dir():
        return set()
    logs = (path for path in sorted(folder.iterdir()) if path.suffix in (names.LOG, names.CHECKPOINT))
    return {topic for path in logs for topic in _topics(path)}


def _topics(path: Path) -> Iterator[str]:
    with FileBytes(path) as data:
        for found in scan(data):
            if isinstance(found, ScannedBatch) and not found.header.is_control:
                yield from _in_batch(found)


def _in_batch(batch: ScannedBatch) -> Iterator[str]:
    try:
        for record in records_of(batch.data, 0, batch.header):
            message = decode_record(record.value or b"")[0]
            if isinstance(message, ConfigRecord) and (
                message.resource_type == _TOPIC and message.name == _POLICY and "compact" in (message.value or "")
            ):
                yield message.resource_name
    except WireError:
        return
