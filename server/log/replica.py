"""What a follower demands of the batches that its leader sent: that they are whole, undamaged, and go on where its log ends.

Everything else the leader has checked; but nothing is taken over that this log could not hold, or would break over when it learns of it: the
epochs go on, there are no more records than offsets, a marker of a transaction says how that ended. Batches of an epoch later than the one
that was asked in are left for the next fetch (KAFKA-18723), and so is a last batch that was cut off.
"""

from kafkadouble.messages import error_codes
from kafkadouble.wire.batch import BatchHeader, check_crc, iter_batches
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.compression import CODECS
from kafkadouble.wire.errors import WireError

from .marker import read_marker
from .refusals import AppendRefused

LAST_OFFSET = 2**63 - 2
"""There must be an offset after it."""
NO_EPOCH = -1


def checked_batches(
    batches: Buffer, leader_epoch: int | None, log_end_offset: int, last_epoch: int = NO_EPOCH
) -> list[tuple[int, BatchHeader]]:
    """Position and header of each batch that may be appended. `last_epoch` is that of the log's last record. CORRUPT_MESSAGE, INVALID_RECORD;
    UNKNOWN_SERVER_ERROR for offsets and epochs that do not go on."""
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
    """A marker stands alone in its batch, and is never compressed; compaction may have taken it out."""
    if header.count > 1 or header.compression:
        raise AppendRefused(
            error_codes.INVALID_RECORD,
            f"a producer's control batch of {header.count} records with compression {header.compression}",
        )
    read_marker(batch)
