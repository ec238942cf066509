"""The aborted transactions that a log lists after cleanings: as many as have their markers, and
those alone.
"""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.files.segment import FileSegment
from kafkadouble.server.log.formats import txn_index
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.transactions import AbortedTransaction
from kafkadouble.wire.batch import Record, encode_batch, read_header
from tests.server.log.batches import NOW, marker
from tests.server.log.files.lossy_disk import LossyDisk

from .compacted_log import cleaned, compacted, records, write

SETTINGS = {"delete.retention.ms": 0, "cleanup.policy": "compact"}


def opened(disk: LossyDisk, *, clean: bool = True, recovery_point: int = 0) -> PartitionLog:
    return open_log(
        disk, "t-0", "t", 0, LogConfig.of(SETTINGS), clean=clean, recovery_point=recovery_point, log_start_offset=0,
        now=NOW,
    )  # fmt: skip


def produce(log: PartitionLog, sequence: int, **values: str) -> None:
    """One transactional batch of producer 7."""
    made = [Record(at, NOW, key.encode(), value.encode()) for at, (key, value) in enumerate(values.items())]
    batch = encode_batch(made, producer_id=7, producer_epoch=0, base_sequence=sequence, is_transactional=True)
    log.append_as_leader(batch, 0, NOW)


def end(log: PartitionLog, *, commit: bool) -> None:
    log.append_own(marker(commit=commit), leader_epoch=0, now=NOW)
    log.commit_all()


def clean(log: PartitionLog, times: int) -> None:
    for _ in range(times):
        log.roll()
        write(log, (b"filler", b"x"))
        cleaned(log)


def table(log: PartitionLog) -> dict[bytes | None, bytes | None]:
    return {record.key: record.value for record in records(log) if record.key in (b"a", b"b")}


@pytest.mark.parametrize("storage", ["memory", "files"], indirect=True)
def test_records_after_an_aborted_transaction_of_the_producer_stay(storage: str) -> None:
    log = compacted(**{name.replace(".", "_"): value for name, value in SETTINGS.items()})
    produce(log, 0, a="1")
    end(log, commit=False)
    produce(log, 1, a="2", b="3")
    end(log, commit=True)
    listed = []
    for _ in range(5):
        listed.append(log.aborted_in(0, log.log_end_offset))
        clean(log, 1)
    assert (table(log)[b"a"], table(log)[b"b"]) == (b"2", b"3")
    assert listed == [[AbortedTransaction(7, 0, 1, 2)], [AbortedTransaction(7, 0, 1, 2)], [], [], []]


def test_a_list_without_its_marker_is_not_believed(caplog: pytest.LogCaptureFixture) -> None:
    """Earlier versions left such lists: a log of theirs must lose nothing more."""
    disk = LossyDisk()
    log = opened(disk)
    produce(log, 0, a="1")
    end(log, commit=False)
    produce(log, 1, a="2", b="3")
    end(log, commit=True)
    clean(log, 4)
    log.close()
    disk.open(f"t-0/{0:020d}.txnindex").append([txn_index.pack(AbortedTransaction(7, 0, 1, 2))])
    again = opened(disk, recovery_point=log.recovery_point)
    assert again.transactions.aborted == []
    assert "lists transactions without their markers: 1 are removed" in caplog.text
    assert disk.open(f"t-0/{0:020d}.txnindex").size == 0
    again.commit_all()
    clean(again, 3)
    assert (table(again)[b"a"], table(again)[b"b"]) == (b"2", b"3")


def test_a_removed_marker_leaves_no_transaction_open_after_a_kill() -> None:
    """The snapshot of the producers at the roll has the transaction open."""
    disk = LossyDisk()
    log = opened(disk)
    write(log, (b"a", b"1"))
    produce(log, 0, b="1")
    log.roll()
    start = log.log_end_offset
    write(log, (b"c", b"1"))
    flush: Any = log.unflushed()
    flush.run()
    log.flushed(flush.offset)
    end(log, commit=False)
    other = encode_batch([Record(0, NOW, b"d", b"1")], producer_id=7, producer_epoch=0, base_sequence=1)
    log.append_as_leader(other, 0, NOW)
    log.commit_all()
    log.config = LogConfig.of({**SETTINGS, "segment.bytes": 150})
    clean(log, 4)
    assert start in [segment.base_offset for segment in log.segments]
    again = opened(disk.copy(), clean=False, recovery_point=flush.offset)
    again.commit_all()
    assert again.last_stable_offset == again.log_end_offset


def test_compaction_ignores_an_abort_marker_that_is_not_replicated() -> None:
    """Its marker may be truncated, and a COMMIT take its place."""
    log = compacted(delete_retention_ms=0)
    write(log, (b"a", b"1"))
    produce(log, 0, b="2")
    log.append_own(marker(commit=False), leader_epoch=0, now=NOW)
    log.roll()
    cleaned(log)
    listed = log.aborted_in(0, log.log_end_offset)
    assert [each.last_offset for each in listed] == [2]
    log.truncate_to(2)
    end(log, commit=True)
    assert (table(log), log.aborted_in(0, log.log_end_offset)) == ({b"a": b"1", b"b": b"2"}, [])


def test_an_aborted_transaction_below_the_log_start_offset_is_removed_before_its_marker() -> None:
    """A record without its marker would be a transaction that is open after a kill."""
    disk = LossyDisk()
    log = opened(disk)
    produce(log, 0, a="1")
    end(log, commit=False)
    produce(log, 1, b="2")
    end(log, commit=True)
    log.delete_records_before(2)
    clean(log, 3)
    assert [each.base_offset for each in map(read_header, log.batches(0)) if each.base_offset < 2] == []
    again = opened(disk.copy(), clean=False)
    again.commit_all()
    assert (again.transactions.first_unstable_offset, again.last_stable_offset) == (None, again.log_end_offset)


def listed_in_files(log: PartitionLog) -> list[int]:
    """The first offsets of the transactions in the `.txnindex` files."""
    return [one.first_offset for each in log.segments if isinstance(each, FileSegment) for one in each.aborted()]


def test_the_files_list_a_transaction_until_its_marker_is_removed() -> None:
    log = opened(LossyDisk())
    produce(log, 0, a="1")
    end(log, commit=False)
    produce(log, 1, b="2")
    end(log, commit=True)
    found = []
    for _ in range(4):
        found.append(listed_in_files(log))
        clean(log, 1)
    assert found == [[0], [0], [], []]


def test_the_files_list_no_transaction_whose_marker_was_truncated() -> None:
    log = opened(LossyDisk())
    for sequence in range(2):
        produce(log, sequence, a="1")
        end(log, commit=False)
    assert listed_in_files(log) == [0, 2]
    log.truncate_to(3)
    assert listed_in_files(log) == [0]
