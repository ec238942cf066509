"""The checks of a follower on the batches that its leader sent: they are whole, undamaged, and
follow the end of its log.

The leader has checked the rest. The follower also refuses what its log could not hold or would fail
on later: epochs that fall, more records than offsets, a transaction marker that does not say how
the transaction ended. Batches of a later epoch than that of the fetch are left for the next fetch
(KAFKA-18723), and so is an incomplete last batch.
"""

from kafkadouble.messages import error_codes
from kafkadouble.wire.batch import BatchHeader, check_crc, iter_batches
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.compression import CODECS
from kafkadouble.wire.errors import WireError

from .marker import read_marker
from .refusals import AppendRefused

LAST_OFFSET = 2**63 - 2
"""The largest offset of a record: there must be an offset after it."""
NO_EPOCH = -1


def checked_batches(
    batches: Buffer, leader_epoch: int | None, log_end_offset: int, last_epoch: int = NO_EPOCH
) -> list[tuple[int, BatchHeader]]:
    """The position and header of each batch that may be appended. `last_epoch` is the epoch of the
    log's last record. CORRUPT_MESSAGE, INVALID_RECORD; UNKNOWN_SERVER_ERROR for offsets and epochs
    that do not follow the log's."""
    found: list[tuple[int, BatchHeader]] = []
    due = log_end_offset
    try:
        for position, header in iter_batches(batches, partial=True):
            if leader_epoch is not None and header.partition_leader_epoch > leader_epoch:
                break
            _check_place(header, due, last_epoch)
            _check_sense(header)
            check_crc(batches, position, header)
            if header.is_control and header.producer_id >= 0:
                _check_marker(header, memoryview(batches)[position : position + header.size])
            due, last_epoch = header.next_offset, header.partition_leader_epoch
            found.append((position, header))
    except WireError as problem:
        raise AppendRefused(error_codes.CORRUPT_MESSAGE, str(problem)) from problem
    return found


def _check_place(header: BatchHeader, due: int, last_epoch: int) -> None:
    if header.magic != 2:
        raise AppendRefused(
            error_codes.INVALID_RECORD, f"a record batch of magic {header.magic}, where only 2 is taken"
        )
    if not due <= header.base_offset <= header.last_offset <= LAST_OFFSET:
        raise AppendRefused(
            error_codes.UNKNOWN_SERVER_ERROR,
            f"a batch of offsets {header.base_offset} to {header.last_offset}, where {due} is due",
        )
    if header.partition_leader_epoch < last_epoch:
        raise AppendRefused(
            error_codes.UNKNOWN_SERVER_ERROR, f"epoch {header.partition_leader_epoch} after epoch {last_epoch}"
        )


def _check_sense(header: BatchHeader) -> None:
    if not 0 <= header.count <= header.last_offset_delta + 1:
        raise AppendRefused(
            error_codes.INVALID_RECORD, f"{header.count} records over {header.last_offset_delta + 1} offsets"
        )
    if header.compression not in CODECS:
        raise AppendRefused(error_codes.INVALID_RECORD, f"an unknown compression, {header.compression}")


def _check_marker(header: BatchHeader, batch: memoryview) -> None:
    """Checks a transaction marker: it is alone in its batch, and never compressed. Compaction may
    have removed it."""
    if header.count > 1 or header.compression:
        raise AppendRefused(
            error_codes.INVALID_RECORD,
            f"a producer's control batch of {header.count} records with compression {header.compression}",
        )
    read_marker(batch)
