"""Transactions on three brokers: the coordinator or a leader fails in each state."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.server.handlers import write_txn_markers
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS, TRANSACTION_STATE
from kafkadouble.server.transactions.pending_complete_txn import PendingCompleteTxn
from kafkadouble.server.transactions.transaction_state import COMPLETE_COMMIT
from tests.server.transactions.brokers import BROKERS, Brokers
from tests.support.transactional_producer import TransactionalProducer, committed_offset, committed_values, fetched


@pytest.fixture
def brokers() -> Brokers:
    return Brokers()


def refuse(*_: Any) -> int:
    return codes.NOT_LEADER_OR_FOLLOWER


def test_a_transaction_across_brokers(brokers: Brokers, version: int) -> None:
    producer = brokers.producer(version=version)
    assert [producer.send(b"a"), producer.send_offset(4)] == [0, 0]
    assert committed_offset(brokers.route) == (codes.UNSTABLE_OFFSET_COMMIT, -1)
    assert committed_values(brokers.route) == []
    assert producer.end(commit=True) == 0
    brokers.until(lambda: brokers.label == "CompleteCommit")
    assert committed_values(brokers.route) == [b"a"]
    assert committed_offset(brokers.route) == (0, 4)


OUTCOMES = [
    # (state at the crash, commit or abort; state after the fail-over, values, offset)
    ("Empty", None, "Empty", [], -1),
    ("Ongoing", None, "Ongoing", [], None),
    ("PrepareCommit", True, "CompleteCommit", [b"a"], 4),
    ("PrepareAbort", False, "CompleteAbort", [], -1),
    ("CompleteCommit", True, "CompleteCommit", [b"a"], 4),
    ("CompleteAbort", False, "CompleteAbort", [], -1),
]


@pytest.mark.parametrize("how", ["killed", "isolated"])
@pytest.mark.parametrize(
    ("before", "commit", "after", "values", "offset"), OUTCOMES, ids=[each[0] for each in OUTCOMES]
)
def test_the_coordinator_fails_in_each_state(
    brokers: Brokers,
    monkeypatch: pytest.MonkeyPatch,
    version: int,
    how: str,
    before: str,
    commit: bool | None,
    after: str,
    values: list[bytes],
    offset: int | None,
) -> None:
    producer = brokers.producer(version=version)
    if before != "Empty":
        assert [producer.send(b"a"), producer.send_offset(4)] == [0, 0]
    with monkeypatch.context() as patched:
        if before.startswith("Prepare"):
            patched.setattr(write_txn_markers, "_write", refuse)
        if commit is not None:
            assert producer.end(commit=commit) == 0
        brokers.until(lambda: brokers.label == before)
        first = brokers.coordinator
        if how == "killed":
            brokers.kill(first.id)
        else:
            brokers.cut.add(first.id)
        brokers.new_leader(TRANSACTION_STATE, first)
    brokers.until(lambda: brokers.label == after)
    assert committed_values(brokers.route) == values
    assert committed_offset(brokers.route) == ((codes.UNSTABLE_OFFSET_COMMIT, -1) if offset is None else (0, offset))
    # The producer goes on where it was.
    assert producer.send(b"b") == 0
    assert producer.end(commit=True) == 0
    brokers.until(lambda: brokers.label == "CompleteCommit")
    brokers.until(lambda: fetched(brokers.route).last_stable_offset == fetched(brokers.route).high_watermark)
    assert committed_values(brokers.route)[-1:] == [b"b"]
    if how == "isolated":
        brokers.cut.clear()
        brokers.until(lambda: brokers.nodes[first.id].transactions.runtime.shard_at(0) is None)
        assert not any(first.transactions.runtime)


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("topic", ["t", CONSUMER_OFFSETS])
def test_a_leader_fails_while_markers_are_written(
    brokers: Brokers, monkeypatch: pytest.MonkeyPatch, topic: str, commit: bool, version: int
) -> None:
    producer = brokers.producer(version=version)
    assert [producer.send(b"a"), producer.send_offset(4)] == [0, 0]
    with monkeypatch.context() as patched:
        patched.setattr(write_txn_markers, "_write", refuse)
        assert producer.end(commit=commit) == 0
        brokers.step(100)
        assert brokers.label == ("PrepareCommit" if commit else "PrepareAbort")
        brokers.fail_over(topic)
    brokers.until(lambda: brokers.label == ("CompleteCommit" if commit else "CompleteAbort"))
    assert committed_values(brokers.route) == ([b"a"] if commit else [])
    assert committed_offset(brokers.route) == (0, 4 if commit else -1)


def test_a_leader_is_down_and_comes_back(brokers: Brokers) -> None:
    """Its partition has no other replica, so the marker waits for it."""
    producer = brokers.producer()
    assert producer.send(b"a", topic="alone") == 0
    leader = brokers.led_by("alone")
    assert leader is not None
    brokers.cut.add(leader.id)
    brokers.until(lambda: brokers.of("alone").leader == -1)
    assert producer.end(commit=True) == 0
    brokers.step(1000)
    assert brokers.label == "PrepareCommit"
    assert brokers.coordinator.transactions.markers._by_broker == {}, "the marker has no leader"
    brokers.cut.clear()
    brokers.until(lambda: brokers.label == "CompleteCommit")
    assert committed_values(brokers.route, "alone") == [b"a"]


def test_a_marker_was_queued_for_a_leader_that_fails(brokers: Brokers) -> None:
    """A request to the leader is in flight, so the marker waits behind it. The leader is fenced
    meanwhile, and the marker goes to its successor."""
    producer = brokers.producer()
    assert producer.send(b"a") == 0
    leader, markers = brokers.led_by("t"), brokers.coordinator.transactions.markers
    assert leader is not None
    markers._busy.add(leader.id)
    assert producer.end(commit=True) == 0
    brokers.fail_over("t")
    assert brokers.label == "PrepareCommit"
    assert list(markers._by_broker) == [leader.id]
    markers._busy.clear()
    brokers.until(lambda: brokers.label == "CompleteCommit")
    assert committed_values(brokers.route) == [b"a"]


def test_markers_are_sent_in_the_order_of_the_partitions(brokers: Brokers) -> None:
    """A set of partitions has another order in each process."""
    producer = brokers.producer()
    assert [producer.send(b"a"), producer.send_offset(4)] == [0, 0]
    shard, markers, metadata = brokers.shard, brokers.coordinator.transactions.markers, brokers.entry.metadata
    assert shard is not None
    following = metadata._replace(state=COMPLETE_COMMIT)
    pending = PendingCompleteTxn(shard, brokers.entry, True, following)
    partitions = [(CONSUMER_OFFSETS, 0), ("t", 0)]
    for given in (partitions, partitions[::-1]):
        markers._by_broker.clear()
        markers._add(pending, given)
        assert list(markers._by_broker) == [brokers.of(topic).leader for topic, _ in partitions]


def test_the_marker_waits_for_the_in_sync_replicas(brokers: Brokers) -> None:
    producer = brokers.producer()
    assert producer.send(b"a") == 0
    followers = [id for id in BROKERS if id != brokers.of("t").leader and id != brokers.coordinator.id]
    assert len(followers) == 1
    brokers.cut.add(followers[0])
    assert producer.end(commit=True) in (0, codes.COORDINATOR_NOT_AVAILABLE)
    brokers.until(lambda: brokers.label == "CompleteCommit", 120_000)
    assert followers[0] not in brokers.of("t").isr
    assert committed_values(brokers.route) == [b"a"]


def test_a_topic_is_deleted_while_its_marker_is_missing(brokers: Brokers, monkeypatch: pytest.MonkeyPatch) -> None:
    producer = brokers.producer()
    assert [producer.send(b"a", topic="alone"), producer.send_offset(4)] == [0, 0]
    with monkeypatch.context() as patched:
        patched.setattr(write_txn_markers, "_write", refuse)
        assert producer.end(commit=True) == 0
        brokers.step(100)
        assert brokers.label == "PrepareCommit"
        brokers.ask(brokers.leader, DeleteTopicsRequest(topic_names=["alone"], timeout_ms=1000), 5)
    brokers.until(lambda: brokers.label == "CompleteCommit")
    assert committed_offset(brokers.route) == (0, 4)


def test_an_old_coordinator_cannot_end_a_transaction(brokers: Brokers) -> None:
    """It is cut off from the controller and its followers. It has decided nothing when it is
    replaced, and its client gets NOT_COORDINATOR."""
    producer = brokers.producer()
    assert producer.send(b"a") == 0
    first = brokers.coordinator
    brokers.cut.add(first.id)
    answers: list[Any] = []
    brokers.submit(first, producer.end_request(commit=True), 5, answers.append)
    brokers.new_leader(TRANSACTION_STATE, first)
    assert brokers.label == "Ongoing"
    assert producer.end(commit=False) == 0
    brokers.cut.clear()
    brokers.until(lambda: bool(answers), 120_000)
    assert answers[0].error_code in (codes.NOT_COORDINATOR, codes.COORDINATOR_NOT_AVAILABLE)
    brokers.until(lambda: brokers.label == "CompleteAbort")
    assert committed_values(brokers.route) == []


def test_a_producer_waits_for_a_coordinator_that_is_fenced(brokers: Brokers) -> None:
    """The leader's question about the transaction was queued for a coordinator that fails then. It
    goes back to the producer, which tries again."""
    producer = brokers.producer()
    leader, first = brokers.led_by("t"), brokers.coordinator
    assert leader is not None
    brokers.kill(first.id)
    answers: list[Any] = []
    brokers.submit(leader, producer.produce_request(b"a"), 12, answers.append)
    brokers.until(lambda: bool(answers))
    assert answers[0].responses[0].partition_responses[0].error_code == codes.NOT_ENOUGH_REPLICAS
    brokers.new_leader(TRANSACTION_STATE, first)
    assert producer.send(b"a") == 0
    assert producer.end(commit=True) == 0
    brokers.until(lambda: brokers.label == "CompleteCommit")


def test_fenced_producer_stays_fenced_after_a_fail_over(brokers: Brokers, version: int) -> None:
    zombie = brokers.producer(version=version)
    assert zombie.send(b"a") == 0
    brokers.fail_over(TRANSACTION_STATE)
    successor = TransactionalProducer(brokers.route, version=version)
    brokers.init(successor)
    assert zombie.send(b"b") in (codes.INVALID_PRODUCER_EPOCH, codes.PRODUCER_FENCED)
    assert zombie.end(commit=True) == codes.PRODUCER_FENCED
    assert [successor.send(b"c"), successor.end(commit=True)] == [0, 0]
    brokers.until(lambda: brokers.label == "CompleteCommit")
    assert committed_values(brokers.route) == [b"c"]


def test_ended_transaction_leaves_no_pending_marker_at_any_broker(brokers: Brokers, version: int) -> None:
    producer = brokers.producer(version=version)
    for number in range(10):
        assert producer.send(b"a") == 0
        assert producer.end(commit=number % 2 == 0) == 0
        brokers.until(lambda: brokers.label.startswith("Complete"))
    brokers.fail_over(TRANSACTION_STATE)
    assert [producer.send(b"b"), producer.end(commit=True)] == [0, 0]
    brokers.until(lambda: brokers.label == "CompleteCommit")
    for id in BROKERS:
        if id in brokers.nodes:
            transactions = brokers.nodes[id].transactions
            senders = (transactions.markers, transactions.partitions_manager)
            assert [(sender._by_broker, sender._in_flight, sender._busy) for sender in senders] == [({}, {}, set())] * 2
            assert transactions.markers._delayed == []
