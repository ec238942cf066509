"""What logs keep of transactions under a coordinator: compaction of a topic and of the
coordinators' own, truncation of a replica with an open transaction, and producer snapshots."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kafkadouble.server.log.files.storage import FileStorage
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.producers import ProducerStateEntry
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafkadouble.server.replica.partition_replicas import find_replica
from kafkadouble.server.transactions.transaction_state import COMPLETE_COMMIT, ONGOING
from kafkadouble.wire.batch import read_header
from tests.server.transactions.brokers import BROKERS, Brokers
from tests.server.transactions.restarted import Restarted, restart
from tests.support.transactional_producer import TransactionalProducer, committed_offset, committed_values, fetched

ROLL_MS, BACKOFF_MS, RETENTION_MS = 1000, 15_000, 600_000
QUICK = {"log.roll.ms": ROLL_MS, "log.cleaner.min.cleanable.ratio": 0, "log.cleaner.backoff.ms": BACKOFF_MS}
CHECKPOINT_MS = 60_000
"""Kafka's interval of recovery point checkpoints."""
SLICES = 50
"""Ticks in which the cleaner is done."""


def clean(machine: Restarted) -> None:
    machine.tick(BACKOFF_MS)
    for _ in range(SLICES):
        machine.tick(1)


def transact(machine: Restarted, producer: TransactionalProducer, value: bytes, *, commit: bool) -> None:
    """One record of the topic "compacted". Its marker begins a segment, since time has passed."""
    assert producer.send(value, topic="compacted", key=b"k") == 0
    machine.tick(2 * ROLL_MS)
    assert producer.end(commit=commit) == 0
    machine.tick(2 * ROLL_MS)


def markers(log: PartitionLog) -> Sequence[int]:
    return [header.base_offset for header in map(read_header, log.batches(0)) if header.is_control]


def test_markers_stay_until_their_retention_is_over(how: str) -> None:
    machine = Restarted(QUICK)
    machine.create("compacted", configs={"cleanup.policy": "compact", "delete.retention.ms": str(RETENTION_MS)})
    log = machine.partition("compacted").log
    producer = TransactionalProducer(machine.ask)
    assert producer.init() == 0
    for value, commit in ((b"old", True), (b"aborted", False), (b"new", True), (b"aborted", False)):
        transact(machine, producer, value, commit=commit)
    for value in (b"newer", b"newest"):
        clean(machine)
        assert set(markers(log)) >= {1, 3, 5, 7}
        transact(machine, producer, value, commit=True)
        assert committed_values(machine.ask, "compacted")[-1:] == [value]
    clean(machine)
    assert markers(log) == [1, 3, 5, 7, 9, 11]
    machine.tick(RETENTION_MS)
    transact(machine, producer, b"last", commit=True)
    clean(machine)
    # The record of 9 went in the pass before, and the record of 11 in this one: the retention of 9
    # begins now, and that of 11 in the next pass.
    assert markers(log) == [9, 11, 13]
    restart(machine, how)
    assert committed_values(machine.ask, "compacted") == [b"last"]
    transact(machine, producer, b"after the restart", commit=True)
    assert committed_values(machine.ask, "compacted")[-1:] == [b"after the restart"]


def test_a_coordinator_loads_what_compaction_left(how: str) -> None:
    machine = Restarted(QUICK)
    producer = TransactionalProducer(machine.ask)
    assert producer.init() == 0
    for offset in range(20):
        assert [producer.send(b"a"), producer.send_offset(offset)] == [0, 0]
        machine.tick(2 * ROLL_MS)
        assert producer.end(commit=offset % 2 == 0) == 0
        machine.tick(2 * ROLL_MS)
    assert [producer.send(b"open"), producer.send_offset(99)] == [0, 0]
    clean(machine)
    assert [records(machine, topic) for topic in (TRANSACTION_STATE, CONSUMER_OFFSETS)] == [3, 2]
    restart(machine, how)
    assert machine.metadata().state is ONGOING
    assert committed_offset(machine.ask, require_stable=False) == (0, 18)
    assert producer.end(commit=True) == 0
    assert machine.metadata().state is COMPLETE_COMMIT
    assert committed_offset(machine.ask) == (0, 99)
    assert committed_values(machine.ask) == [b"a"] * 10 + [b"open"]


def records(machine: Restarted, topic: str) -> int:
    """The number of records in all partitions of the topic, without markers."""
    image = machine.node.image.topic_named(topic)
    assert image is not None
    logs = [machine.partition(topic, index).log for index in range(len(image.partitions))]
    headers = [read_header(batch) for log in logs for batch in log.batches(0)]
    return sum(header.count for header in headers if not header.is_control)


def test_a_snapshot_has_the_open_transaction_that_began_in_an_earlier_segment(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Restarted(QUICK)
    open_one = TransactionalProducer(machine.ask, "app", timeout_ms=10 * CHECKPOINT_MS)
    other = TransactionalProducer(machine.ask, "other")
    assert [open_one.init(), other.init()] == [0, 0]
    assert open_one.send(b"open") == 0
    for number in range(5):
        assert other.send(b"%d" % number) == 0
        machine.tick(2 * ROLL_MS)
        assert other.end(commit=number % 2 == 0) == 0
    assert len(machine.partition("t").log.segments) == 6
    # Closed segments are flushed, and the recovery point is written.
    # A kill is recovered from there.
    machine.tick(CHECKPOINT_MS)
    machine.flush()
    machine.tick(CHECKPOINT_MS)
    found: dict[int, list[int]] = {}
    read = FileStorage.latest_producer_snapshot

    def watched(storage: FileStorage, offset: int) -> tuple[int, list[ProducerStateEntry]] | None:
        snapshot = read(storage, offset)
        if storage.folder == "t-0" and snapshot is not None:
            found[snapshot[0]] = [each.transaction_start for each in snapshot[1]]
        return snapshot

    monkeypatch.setattr(FileStorage, "latest_producer_snapshot", watched)
    restart(machine, how)
    assert found
    assert all(at > 0 and 0 in starts for at, starts in found.items()), found
    assert fetched(machine.ask).last_stable_offset == 0
    assert open_one.send(b"still open") == 0
    assert [open_one.end(commit=True), other.send(b"5"), other.end(commit=True)] == [0, 0, 0]
    assert committed_values(machine.ask) == [b"open", b"0", b"2", b"4", b"still open", b"5"]


@pytest.mark.parametrize("commit", [True, False])
def test_a_former_leader_truncates_to_where_the_open_transaction_was_replicated(commit: bool, version: int) -> None:
    """The leader is cut off with a batch of the transaction, and the first of another one, which no
    follower has. It comes back as a follower. Without verification, a leader that reaches no
    coordinator appends to a transaction."""
    brokers = Brokers({"transaction.partition.verification.enable": "false"})
    producer, other = brokers.producer(version=version), brokers.producer(transactional_id="other", version=1)
    assert [producer.send(b"replicated"), other.add("t")] == [0, 0]
    former = brokers.led_by("t")
    assert former is not None
    brokers.cut.add(former.id)
    for each in (producer, other):
        # The leader appends it, and waits for its followers.
        brokers.submit(former, each.produce_request(b"lost"), each.produce_version, lambda _: None)
    brokers.step(100)
    assert ends(brokers, former.id) == [(3, 0)]
    brokers.new_leader("t", former)
    brokers.cut.clear()
    brokers.until(lambda: len(brokers.of("t").isr) == len(BROKERS))
    assert ends(brokers, *BROKERS) == [(1, 0)] * len(BROKERS)
    # The client sends another batch to the new leader, with the same sequence.
    assert [producer.send(b"sent again"), producer.end(commit=commit)] == [0, 0]
    brokers.until(lambda: ends(brokers, *BROKERS) == [(3, None)] * len(BROKERS))
    values = [b"replicated", b"sent again"] if commit else []
    assert committed_values(brokers.route) == values
    assert brokers.fail_over("t").id == former.id
    assert committed_values(brokers.route) == values
    assert [producer.send(b"later"), producer.end(commit=True)] == [0, 0]
    brokers.until(lambda: committed_values(brokers.route) == [*values, b"later"])


def ends(brokers: Brokers, *ids: int) -> list[tuple[int, int | None]]:
    """The end of the topic's log at these brokers, and where its first open transaction begins."""
    logs = [replica.log for id in ids if (replica := find_replica(brokers.nodes[id], "t", 0))]
    return [(log.log_end_offset, log.first_unstable_offset) for log in logs]
