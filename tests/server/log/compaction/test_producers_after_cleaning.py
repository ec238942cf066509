"""What a log knows of a producer after compaction removed the records of its last batch."""

from __future__ import annotations

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.wire.batch import Record, encode_batch
from tests.server.log.batches import NOW
from tests.server.log.files.lossy_disk import LossyDisk

from .compacted_log import DAY, cleaned, write

CONFIG = LogConfig.of({"cleanup.policy": "compact"})


def opened(disk: LossyDisk, *, clean: bool = True) -> PartitionLog:
    return open_log(disk, "t-0", "t", 0, CONFIG, clean=clean, recovery_point=0, log_start_offset=0, now=NOW)


def of_producer(sequence: int) -> bytearray:
    records = [Record(at, NOW, b"a", b"v") for at in range(2)]
    return encode_batch(records, producer_id=7, producer_epoch=0, base_sequence=sequence)


def test_a_retry_is_recognized_after_a_kill_and_a_check_for_expired_producers() -> None:
    disk = LossyDisk()
    log = opened(disk)
    for sequence in (0, 2):
        log.append_as_leader(of_producer(sequence), 0, NOW)
    write(log, (b"a", b"of another producer"))
    log.roll()
    write(log, (b"filler", b"x"))
    cleaned(log)
    again = opened(disk.copy(), clean=False)
    assert again.producers.expire(NOW + DAY - 1, DAY) == []
    result = again.append_as_leader(of_producer(2), 0, NOW)
    assert (result.base_offset, result.duplicate) == (2, True)
    assert again.producers.expire(NOW + DAY, DAY) == [7]
