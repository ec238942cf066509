"""What a follower demands of the batches that its leader sent: that they are whole, undamaged, and go on where its log ends.

Everything else the leader has checked. Batches of an epoch later than the one that was asked in are left for the next fetch (KAFKA-18723), and
so is a last batch that was cut off.
"""

from kafkadouble.messages import error_codes
from kafkadouble.wire.batch import BatchHeader, check_crc, iter_batches
from kafkadouble.wire.checksum import Buffer
from kafkadouble.wire.errors import WireError

from .refusals import AppendRefused


def checked_batches(batches: Buffer, leader_epoch: int | None, log_end_offset: int) -> list[tuple[int, BatchHeader]]:
    """Position and header of each batch that may be appended. CORRUPT_MESSAGE; UNKNOWN_SERVER_ERROR for offsets that do not go on."""
    found: list[tuple[int, BatchHeader]] = []
    due = log_end_offset
    try:
        for position, header in iter_batches(batches, partial=True):
            if leader_epoch is not None and header.partition_leader_epoch > leader_epoch:
                break
            if header.magic != 2:
                raise AppendRefused(
                    error_codes.INVALID_RECORD, f"a record batch of magic {header.magic}, where only 2 is taken"
                )
            if header.base_offset < due or header.last_offset < header.base_offset:
                raise AppendRefused(
                    error_codes.UNKNOWN_SERVER_ERROR,
                    f"a batch of offsets {header.base_offset} to {header.last_offset}, where {due} is due",
                )
            check_crc(batches, position, header)
            due = header.next_offset
            found.append((position, header))
    except WireError as problem:
        raise AppendRefused(error_codes.CORRUPT_MESSAGE, str(problem)) from problem
    return found
