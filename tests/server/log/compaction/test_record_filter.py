"""What compaction leaves of single batches."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.server.log.compaction.offset_map import OffsetMap
from kafkadouble.server.log.compaction.record_filter import CleanerPass, retained
from kafkadouble.server.log.compaction.transactions import CleanedTransactions
from kafkadouble.server.log.producers import LastRecord
from kafkadouble.server.log.transactions import AbortedTransaction
from kafkadouble.wire.batch import ABORT, COMMIT, Record, control_record, decode_records, encode_batch, read_header
from kafkadouble.wire.checksum import Buffer

NOW, DAY = 1_700_000_000_000, 86_400_000
MARKER = bytes(2) + (7).to_bytes(4, "big")


def record(offset: int, key: bytes | None, value: bytes | None = b"v", timestamp: int = NOW) -> Record:
    return Record(offset, timestamp, key, value)


def batch(*records: Record, **fields: Any) -> bytes:
    return bytes(encode_batch(records, base_offset=records[0].offset, partition_leader_epoch=3, **fields))


def marker(offset: int, kind: int, producer_id: int) -> bytes:
    return batch(
        control_record(offset, NOW, kind, MARKER), is_control=True, is_transactional=True, producer_id=producer_id,
        producer_epoch=0,
    )  # fmt: skip


def passing(
    newest: dict[bytes, int] | None = None,
    *,
    latest: int = 1000,
    now: int = NOW,
    aborted: tuple[AbortedTransaction, ...] = (),
    last: dict[int, LastRecord] | None = None,
    end: int = 1001,
) -> CleanerPass:
    offsets = OffsetMap(100)
    for key, offset in (newest or {}).items():
        offsets.put(key, offset)
    offsets.latest = latest
    return CleanerPass(offsets, CleanedTransactions(aborted), now, DAY, last or {}, end, settled=end)


def offsets(left: Buffer | None) -> list[int]:
    return [] if left is None else [record.offset for record in decode_records(left)]


def test_the_newest_record_of_a_key_stays_and_older_ones_go() -> None:
    made = batch(record(5, b"a"), record(6, b"b"), record(7, b"a"))
    left = retained(made, passing({b"a": 7, b"b": 20}))
    assert offsets(left) == [7]
    assert left is not None
    header, before = read_header(left), read_header(made)
    assert (header.base_offset, header.last_offset) == (before.base_offset, before.last_offset)
    assert header.partition_leader_epoch == 3


def test_a_batch_that_loses_nothing_is_not_touched() -> None:
    made = batch(record(5, b"a"), record(6, b"b"), compression=1)
    assert retained(made, passing({b"a": 5, b"b": 6})) is made


def test_a_batch_that_loses_all_goes() -> None:
    assert retained(batch(record(5, b"a")), passing({b"a": 9})) is None


def test_a_record_without_a_key_goes() -> None:
    assert offsets(retained(batch(record(5, None), record(6, b"b")), passing())) == [6]


def test_records_beyond_the_offset_map_stay() -> None:
    made = batch(record(5, b"a"), record(6, b"b"))
    assert retained(made, passing({b"a": 4}, latest=4)) is made


@pytest.mark.parametrize("compression", range(5))
def test_retained_records_keep_codec_timestamps_and_headers(compression: int) -> None:
    kept = Record(6, NOW - 50, b"b", b"x" * 500, (("h", None),))
    made = batch(record(5, b"a", timestamp=NOW + 9), kept, compression=compression)
    left = retained(made, passing({b"a": 9, b"b": 6}))
    assert left is not None
    assert decode_records(left) == [kept]
    assert read_header(left).compression == compression
    assert read_header(left).max_timestamp == NOW - 50


def test_a_tombstone_stays_until_its_horizon() -> None:
    made = batch(record(5, b"a", None), record(6, b"b"))
    newest = {b"a": 5, b"b": 6}
    first = retained(made, passing(newest))
    assert first is not None
    header = read_header(first)
    assert header.has_delete_horizon
    assert header.base_timestamp == NOW + DAY
    assert decode_records(first) == decode_records(made)
    assert retained(first, passing(newest, now=NOW + DAY - 1)) is first
    last = retained(first, passing(newest, now=NOW + DAY))
    assert offsets(last) == [6]
    assert last is not None
    assert read_header(last).base_timestamp == NOW + DAY


def test_the_last_batch_of_a_producer_stays_empty() -> None:
    made = batch(record(5, b"a"), producer_id=9, producer_epoch=2, base_sequence=40)
    left = retained(made, passing({b"a": 8}, last={9: LastRecord(5, 2)}))
    assert left is not None
    header = read_header(left)
    assert (header.count, header.last_offset, header.producer_id, header.producer_epoch) == (0, 5, 9, 2)
    assert header.last_sequence == 40
    assert (header.base_timestamp, header.max_timestamp) == (-1, NOW)
    assert retained(made, passing({b"a": 8}, last={9: LastRecord(7, 2)})) is None


def test_the_marker_with_the_epoch_of_a_producer_stays_empty() -> None:
    """A marker of transactions version 2 begins an epoch in which the producer wrote nothing."""
    of_last, of_older = LastRecord(-1, 0), LastRecord(-1, 1)
    due = read_header(retained(marker(7, ABORT, 9), passing()) or b"").base_timestamp
    for last, stays in ((of_last, True), (of_older, False)):
        waiting = retained(marker(7, ABORT, 9), passing())
        assert waiting is not None
        left = retained(waiting, passing(now=due, last={9: last}))
        assert (left is not None) == stays
        if left is not None:
            header = read_header(left)
            assert (header.count, header.producer_epoch, header.is_control, header.has_delete_horizon) == (
                0,
                0,
                True,
                False,
            )


def test_last_offset_of_a_compacted_range_stays() -> None:
    left = retained(batch(record(5, b"a")), passing({b"a": 8}, end=6))
    assert left is not None
    assert read_header(left).next_offset == 6


def test_records_of_an_aborted_transaction_go_and_its_marker_a_pass_later() -> None:
    aborted = AbortedTransaction(9, 5, 7, 8)
    data = batch(
        record(5, b"a"), record(6, b"b"), producer_id=9, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    this = passing({b"a": 5, b"b": 6}, aborted=(aborted,))
    assert retained(data, this) is None
    end = marker(7, ABORT, 9)
    assert retained(end, this) is end
    next_pass = passing(aborted=(aborted,))
    left = retained(end, next_pass)
    assert left is not None
    assert read_header(left).has_delete_horizon
    assert retained(left, passing(aborted=(aborted,), now=NOW + DAY)) is None


def test_a_commit_marker_stays_while_a_batch_of_its_transaction_is_there() -> None:
    data = batch(record(5, b"a"), producer_id=9, producer_epoch=0, base_sequence=0, is_transactional=True)
    end = marker(6, COMMIT, 9)
    this = passing({b"a": 5})
    assert retained(data, this) is data
    assert retained(end, this) is end
    alone = retained(end, passing())
    assert alone is not None
    assert read_header(alone).base_timestamp == NOW + DAY


def test_data_of_others_among_an_aborted_transaction_stays() -> None:
    this = passing({b"a": 5, b"b": 6}, aborted=(AbortedTransaction(9, 5, 8, 9),))
    bad = batch(record(5, b"a"), producer_id=9, producer_epoch=0, base_sequence=0, is_transactional=True)
    good = batch(record(6, b"b"), producer_id=10, producer_epoch=0, base_sequence=0, is_transactional=True)
    plain = batch(record(7, b"c"))
    assert [retained(each, this) for each in (bad, good, plain)] == [None, good, plain]


def test_compaction_keeps_log_append_time() -> None:
    made = batch(record(5, b"a"), record(6, b"b"), timestamp_type=1, max_timestamp=NOW + 77)
    left = retained(made, passing({b"a": 9, b"b": 6}))
    assert left is not None
    assert [each.timestamp for each in decode_records(left)] == [NOW + 77]
