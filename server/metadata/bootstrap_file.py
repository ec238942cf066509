"""`bootstrap.checkpoint`: the records that the metadata of a new cluster begins with, as `format` leaves them for the first start.

It has the form of a snapshot (KIP-630): a control batch with the SnapshotHeader, one batch of records, a control batch with the SnapshotFooter,
the offsets following one another from 0. Kafka writes it, and reads it, at the root of a log directory.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkadouble.messages.generated.snapshot_footer_record import SnapshotFooterRecord
from kafkadouble.messages.generated.snapshot_header_record import SnapshotHeaderRecord
from kafkadouble.messages.message import Message
from kafkadouble.wire.batch import SNAPSHOT_FOOTER, SNAPSHOT_HEADER, encode_control_batch, seal, stamp
from kafkadouble.wire.errors import WireError

from ..log.formats.errors import BadFile, bad_from
from .broken_log import BrokenLog
from .metadata_log import batch_of, decoded


def write(records: Sequence[Message], now: int) -> bytes:
    """A whole file."""
    header = SnapshotHeaderRecord(last_contained_log_timestamp=now).encode(version=0)
    body = batch_of(records, 1, now)
    footer = SnapshotFooterRecord().encode(version=0)
    _at_epoch_zero(body)
    return b"".join(
        (
            encode_control_batch(SNAPSHOT_HEADER, header, timestamp=now, partition_leader_epoch=0),
            body,
            encode_control_batch(
                SNAPSHOT_FOOTER, footer, base_offset=len(records) + 1, timestamp=now, partition_leader_epoch=0
            ),
        )
    )


def _at_epoch_zero(batch: bytearray) -> None:
    stamp(batch, 1, 0)
    seal(batch)


def read(data: bytes, file: str = "") -> list[Message]:
    """The records. BadFile when they are not all there."""
    try:
        return [record for batch in decoded(data) for record in batch.records]
    except WireError as problem:
        raise bad_from(problem, file) from problem
    except BrokenLog as problem:
        raise BadFile(str(problem), file=file) from problem
