"""False batches from a leader: a follower appends none that is damaged, that does not continue its
log, or that is impossible."""

from __future__ import annotations

import tracemalloc
from struct import pack_into

import pytest

from kafkadouble.wire.batch import Record, encode_batch, encode_control_batch, seal
from tests.server.replica.replication.liars import Liars, batch, to_fetches
from tests.server.replica.replication.lied_to import END, PartitionData, followers, is_refused, live_with, saying, three
from tests.server.replica.replication.replicated_topic import contents, leader, partition, produce, settled

ZSTD = 4


@pytest.fixture
def cluster() -> Liars:
    return three()


def damaged(at: int, layout: str, value: int, data: bytes | None = None, *, sealed: bool = True) -> bytes:
    """A batch in which a field has another value, and the right checksum."""
    changed = bytearray(data or batch(END, b"false"))
    pack_into(layout, changed, at, value)
    if sealed:
        seal(changed)
    return bytes(changed)


def marker(value: bytes, compression: int = 0) -> bytes:
    made = encode_batch(
        [Record(END, 1000, b"\0\0\0\0", value)],
        base_offset=END,
        partition_leader_epoch=0,
        producer_id=7,
        producer_epoch=0,
        is_transactional=True,
        is_control=True,
        compression=compression,
    )
    return bytes(made)


CORRUPT = bytearray(batch(END, b"false"))
CORRUPT[-1] ^= 1

RECORDS = {
    "a damaged batch": (bytes(CORRUPT), "checksum"),
    "one good batch, and a damaged one": (
        batch(END, b"good") + damaged(17, ">I", 1, batch(END + 1, b"x"), sealed=False),
        "checksum",
    ),
    "an unknown magic": (damaged(16, ">b", 7, sealed=False), "magic 7"),
    "a magic of long ago": (damaged(16, ">b", 1, sealed=False), "magic 1"),
    "a batch larger than anything": (damaged(8, ">i", 2**31 - 1, sealed=False), "without a whole batch"),
    "a batch cut off": (batch(END, b"false")[:-1], "without a whole batch"),
    "a negative size": (damaged(8, ">i", -5, sealed=False), "a batch of -5 bytes"),
    "a size of nothing": (damaged(8, ">i", 0, sealed=False), "a batch of 0 bytes"),
    "offsets below the end": (batch(END - 1, b"false"), "where 3 is due"),
    "offsets around the end": (batch(END - 1, b"false", b"false"), "where 3 is due"),
    "a negative offset": (damaged(0, ">q", -7, sealed=False), "where 3 is due"),
    "the last offset of all": (damaged(0, ">q", 2**63 - 1, sealed=False), "where 3 is due"),
    "offsets beyond all": (damaged(23, ">i", 9, damaged(0, ">q", 2**63 - 3, sealed=False)), "where 3 is due"),
    "batches out of order": (batch(END + 1, b"false") + batch(END, b"false"), "where 5 is due"),
    "one batch twice": (batch(END, b"false") * 2, "where 4 is due"),
    "a last offset before the first": (damaged(23, ">i", -2), "where 3 is due"),
    "an epoch after the leader's": (batch(END, b"false", epoch=9), "without a whole batch of an epoch up to 0"),
    "no epoch at all": (batch(END, b"false", epoch=-1), "epoch -1 after epoch 0"),
    "more records than offsets": (damaged(57, ">i", 1000), "1000 records over 1 offsets"),
    "a negative number of records": (damaged(57, ">i", -1), "-1 records over 1 offsets"),
    "an unknown compression": (damaged(21, ">h", 7), "unknown compression"),
    "a marker that says nothing": (marker(b""), "control record"),
    "a marker of no version": (marker(b"\xff\xff\0\0\0\0"), "version -1"),
    "a marker that is a bomb": (marker(bytes(1 << 20), ZSTD), "compression 4"),
    "a marker among others": (damaged(57, ">i", 2, damaged(23, ">i", 1, marker(b"\0\0\0\0\0\0"))), "of 2 records"),
    "no batches but bytes": (b"\0" * 11, "without a whole batch"),
    "text": (b"HTTP/1.1 400 Bad Request\r\n" * 9, ""),
}


@pytest.mark.parametrize(("records", "words"), RECORDS.values(), ids=RECORDS)
def test_batches_that_cannot_be_are_not_taken_over(
    cluster: Liars, caplog: pytest.LogCaptureFixture, records: bytes, words: str
) -> None:
    def change(data: PartitionData) -> None:
        data.records = records

    is_refused(cluster, caplog, to_fetches(change), words)


def test_epochs_that_go_back_are_refused(cluster: Liars, caplog: pytest.LogCaptureFixture) -> None:
    first = leader(cluster).id
    cluster.stop_broker(first)
    cluster.until(lambda: partition(cluster).leader not in (first, -1))
    cluster.add_broker(first)
    cluster.until(lambda: len(partition(cluster).isr) == 3, 60_000)
    cluster.until(lambda: leader(cluster).partitions.get("t", 0) is not None)
    assert produce(cluster, b"later") == (0, END)
    cluster.until(lambda: settled(cluster))
    epoch = partition(cluster).leader_epoch
    is_refused(
        cluster, caplog, to_fetches(saying(records=batch(END + 1, b"false", epoch=epoch - 1))), f"after epoch {epoch}"
    )


def test_batch_that_expands_too_much_is_replicated_as_it_is(cluster: Liars) -> None:
    """Every reader has a bound; a follower does not decompress it."""
    bomb = batch(END, bytes(64 << 20), compression=ZSTD)
    assert len(bomb) < 100_000

    def change(data: PartitionData) -> None:
        data.records = bomb

    lie, follower = to_fetches(change), followers(cluster)[0]
    cluster.lie = lie
    tracemalloc.start()
    assert produce(cluster, b"news", acks=1)[0] == 0
    cluster.step(500)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert contents(follower).endswith(bomb)
    assert peak < 16 << 20
    cluster.lie = None
    assert all(node.halted is None for node in cluster.nodes.values())


def test_a_control_batch_of_the_coordinator_is_taken(cluster: Liars) -> None:
    """Proves that the false batches are not refused merely because every batch is."""
    made = encode_control_batch(
        1, b"\0\0\0\0\0\5", base_offset=END, partition_leader_epoch=0, producer_id=7, producer_epoch=0,
        is_transactional=True, timestamp=1000,
    )  # fmt: skip
    live_with(cluster, to_fetches(saying(records=bytes(made))))
    assert all(contents(node).endswith(bytes(made)) for node in followers(cluster))
