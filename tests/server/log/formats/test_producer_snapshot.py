"""Producer snapshots are written and read back. The checksum finds every damaged byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkadouble.server.log.formats import BadFile, producer_snapshot
from kafkadouble.server.log.formats.producer_snapshot import Entry, entry_of, producer_of
from kafkadouble.server.log.producers import BatchMetadata, ProducerStateEntry

from .damage import every_cut, every_flip, refused

INT64 = st.integers(-(2**63), 2**63 - 1)
INT32 = st.integers(-(2**31), 2**31 - 1)
ENTRIES = st.builds(
    Entry,
    producer_id=INT64,
    epoch=st.integers(-(2**15), 2**15 - 1),
    last_sequence=INT32,
    last_offset=INT64,
    offset_delta=INT32,
    timestamp=INT64,
    coordinator_epoch=INT32,
    current_txn_first_offset=INT64,
)


@given(st.lists(ENTRIES, max_size=5))
def test_entries_come_back(entries: list[Entry]) -> None:
    assert producer_snapshot.read(producer_snapshot.write(entries)) == entries


def test_no_producers() -> None:
    data = producer_snapshot.write([])
    assert data[:2] == b"\0\1"
    assert len(data) == 10
    assert producer_snapshot.read(data) == []


def test_every_damaged_byte_and_every_cut_is_found() -> None:
    data = producer_snapshot.write([Entry(producer_id=7, last_offset=12, offset_delta=2, last_sequence=4)] * 2)
    assert all(refused(producer_snapshot.read, damaged) for damaged in every_flip(data))
    assert all(refused(producer_snapshot.read, cut) for cut in every_cut(data))
    assert refused(producer_snapshot.read, data + b"\0")


@pytest.mark.parametrize(
    ("data", "offset", "what"),
    [
        (b"\0\2" + bytes(8), 0, "version 2"),
        (b"\0\1" + bytes(8), 2, "checksum"),
        (b"\0\1\0\0\0\0\x7f\xff\xff\xff", 6, "2147483647"),
        (b"\0\1" + bytes(9), 10, "1 byte"),
    ],
)
def test_an_error_names_its_byte(data: bytes, offset: int, what: str) -> None:
    with pytest.raises(BadFile, match=what) as caught:
        producer_snapshot.read(data, "5.snapshot")
    assert caught.value.offset == offset, caught.value


@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    refused(producer_snapshot.read, data)
    refused(producer_snapshot.read, b"\0\1" + data)


def test_a_producer_comes_back_with_its_last_batch() -> None:
    producer = ProducerStateEntry(7)
    producer.epoch, producer.coordinator_epoch, producer.transaction_start = 3, 5, 90
    producer.add(BatchMetadata(0, 1, 90, 91, 1000))
    producer.add(BatchMetadata(2, 4, 92, 94, 1001))
    found = producer_of(producer_snapshot.read(producer_snapshot.write([entry_of(producer)]))[0])
    assert (found.producer_id, found.epoch, found.coordinator_epoch, found.transaction_start) == (7, 3, 5, 90)
    assert found.batches == [BatchMetadata(2, 4, 92, 94, 1001)]
    assert found.last_timestamp == 1001


def test_a_producer_of_which_only_a_marker_is_known() -> None:
    producer = ProducerStateEntry(7)
    producer.epoch, producer.coordinator_epoch, producer.last_timestamp = 3, 5, 77
    entry = entry_of(producer)
    assert (entry.last_sequence, entry.last_offset, entry.offset_delta, entry.timestamp) == (-1, -1, 0, 77)
    found = producer_of(entry)
    assert (found.batches, found.last_timestamp, found.transaction_start) == ([], 77, -1)


def test_sequences_go_round() -> None:
    batch = BatchMetadata(2**31 - 2, 1, 10, 13, 5)
    producer = ProducerStateEntry(1)
    producer.add(batch)
    assert producer_of(entry_of(producer)).batches == [batch]
