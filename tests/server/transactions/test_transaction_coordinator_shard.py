"""The shard on a log with a slow follower: what is pending, what fails, and what ends with it."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.server.metadata.internal_topics import TRANSACTION_STATE
from kafkadouble.server.requests.request import Refusal
from kafkadouble.server.transactions.end_transaction import EndOfTransaction
from kafkadouble.server.transactions.init_producer_id import ProducerIdAndEpoch
from kafkadouble.server.transactions.transaction_coordinator_shard import TransactionCoordinatorShard
from kafkadouble.server.transactions.transaction_state import (
    COMPLETE_ABORT,
    COMPLETE_COMMIT,
    DEAD,
    EMPTY,
    ONGOING,
    PREPARE_ABORT,
    PREPARE_COMMIT,
)
from tests.server.coordinator.stub import Lagging
from tests.server.transactions.broker import ABORT_MS, EXPIRE_MS, Broker

T0 = ("t", 0)


class Steps:
    """The shard of the id "app", whose records are committed by `replicate`, and the codes that its
    steps were answered with."""

    def __init__(self, broker: Broker, timeout_ms: int = 5000) -> None:
        self.broker, self.timeout_ms = broker, timeout_ms
        index = broker.node.transactions.runtime.partition_of("app")
        self.partition = broker.partition(TRANSACTION_STATE, index)
        self.partition.__class__ = Lagging
        self.shard: TransactionCoordinatorShard = broker.node.transactions.shard("app")
        self.codes: list[int] = []
        self.producer = ProducerIdAndEpoch(-1, -1)

    def replicate(self) -> None:
        assert isinstance(self.partition, Lagging)
        self.partition.replicate()
        self.broker.tick(0)

    def init(self) -> None:
        begun = self.shard.init_producer_id("app", self.timeout_ms, None, self.codes.append)
        if begun is not None:
            self.producer = ProducerIdAndEpoch(begun.producer_id, begun.producer_epoch)

    def add(self) -> None:
        self.shard.add_partitions("app", self.producer, [T0], 0, self.codes.append)

    def end(self, *, commit: bool = True) -> None:
        self.shard.end("app", EndOfTransaction(*self.producer, commit, 0), self.codes.append)

    @property
    def state(self) -> Any:
        entry = self.shard.entries["app"]
        return entry.metadata.state, entry.pending_state

    def begun(self) -> Steps:
        """With an open transaction."""
        for step in (self.init, self.add):
            step()
            self.replicate()
        assert self.state == (ONGOING, None)
        self.codes.clear()
        return self


@pytest.fixture
def steps(broker: Broker) -> Steps:
    return Steps(broker)


def refused(step: Any, **how: Any) -> int:
    with pytest.raises(Refusal) as caught:
        step(**how)
    return caught.value.code


def test_transaction_state_is_pending_until_its_commit(steps: Steps) -> None:
    steps.init()
    assert (steps.codes, steps.state) == ([], (EMPTY, EMPTY))
    assert {refused(each) for each in (steps.init, steps.add, steps.end)} <= {
        codes.CONCURRENT_TRANSACTIONS,
        codes.PRODUCER_FENCED,  # the epoch is not written, so it is not known
    }
    steps.replicate()
    assert (steps.codes, steps.state) == ([0], (EMPTY, None))
    steps.add()
    assert steps.state == (EMPTY, ONGOING)
    assert {refused(each) for each in (steps.init, steps.add, steps.end)} == {codes.CONCURRENT_TRANSACTIONS}
    steps.replicate()
    steps.end()
    assert steps.state == (ONGOING, PREPARE_COMMIT)
    assert {refused(each) for each in (steps.init, steps.add, steps.end)} == {codes.CONCURRENT_TRANSACTIONS}
    steps.replicate()
    assert steps.state == (PREPARE_COMMIT, COMPLETE_COMMIT)
    assert {refused(each) for each in (steps.init, steps.add, steps.end)} == {codes.CONCURRENT_TRANSACTIONS}
    steps.replicate()
    assert (steps.codes, steps.state) == ([0, 0, 0], (COMPLETE_COMMIT, None))


def test_no_marker_is_sent_before_the_outcome_is_committed(steps: Steps) -> None:
    steps.begun().end()
    end = steps.broker.partition("t").log.log_end_offset
    steps.broker.tick(100)
    assert steps.broker.partition("t").log.log_end_offset == end
    steps.replicate()
    assert steps.broker.partition("t").log.log_end_offset == end + 1


@pytest.mark.parametrize(("step", "before"), [("add", EMPTY), ("end", ONGOING)])
def test_transaction_state_without_a_commit_in_time_is_dropped(steps: Steps, step: str, before: Any) -> None:
    """The transaction's time-out bounds the commit, as in Kafka."""
    if step == "add":
        steps.init()
        steps.replicate()
    else:
        steps.begun()
    steps.codes.clear()
    getattr(steps, step)()
    steps.broker.tick(4999)
    assert steps.codes == []
    steps.broker.tick(1)
    assert (steps.codes, steps.state) == ([codes.COORDINATOR_NOT_AVAILABLE], (before, None))
    getattr(steps, step)()
    steps.replicate()
    assert steps.codes[1:] == [0]


def test_end_of_a_transaction_is_written_until_its_commit(steps: Steps) -> None:
    steps.begun().end()
    steps.replicate()
    for _ in range(3):
        steps.broker.tick(5000)
        assert steps.state == (PREPARE_COMMIT, COMPLETE_COMMIT)
        assert len(steps.shard._timers) == 3
        steps.broker.tick(100)
    steps.replicate()
    assert steps.state == (COMPLETE_COMMIT, None)
    assert len(steps.shard._timers) == 2


@pytest.mark.parametrize("step", ["init", "add", "end"])
@pytest.mark.parametrize("where", ["encode", "append", "commit"])
def test_failed_transaction_step_leaves_no_pending_state(
    steps: Steps, monkeypatch: pytest.MonkeyPatch, step: str, where: str
) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError("an error of ours")

    def fail_later(*_: Any) -> Any:
        yield from fail()

    steps.init()
    steps.replicate()
    if step != "add":
        steps.add()
        steps.replicate()
    if step == "init":
        steps.end(commit=False)
        steps.replicate()
        steps.replicate()
    before = steps.state
    steps.codes.clear()
    with monkeypatch.context() as patched:
        if where == "encode":
            from kafkadouble.server.transactions import transaction_coordinator_shard

            patched.setattr(transaction_coordinator_shard, "transaction_record", fail)
            with pytest.raises(RuntimeError):
                getattr(steps, step)()
        else:
            method, how = ("_append", fail) if where == "append" else ("_commit", fail_later)
            patched.setattr(steps.shard, method, how)
            getattr(steps, step)()
            assert steps.codes == [codes.UNKNOWN_SERVER_ERROR]
    assert (steps.state, steps.state[1]) == (before, None)
    getattr(steps, step)()
    steps.replicate()
    assert steps.codes[-1:] == [0]


def test_completion_of_a_transaction_is_retried_after_any_error(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Any:
        raise RuntimeError("an error of ours")

    steps.begun().end()
    with monkeypatch.context() as patched:
        patched.setattr(steps.shard, "_append", fail)
        steps.replicate()
        assert steps.state == (PREPARE_COMMIT, COMPLETE_COMMIT)
    steps.broker.tick(100)
    steps.replicate()
    assert (steps.codes, steps.state) == ([0], (COMPLETE_COMMIT, None))


@pytest.mark.parametrize("step", ["init", "add", "end"])
def test_waiting_requests_are_answered_when_leadership_is_lost(steps: Steps, step: str) -> None:
    if step != "init":
        steps.init()
        steps.replicate()
    if step == "end":
        steps.add()
        steps.replicate()
    steps.codes.clear()
    getattr(steps, step)()
    steps.broker.node.transactions.runtime.on_resignation(steps.partition)
    steps.broker.tick(0)
    assert steps.codes == [codes.NOT_COORDINATOR]


def test_markers_end_with_leadership(steps: Steps) -> None:
    steps.begun().end()
    markers = steps.broker.node.transactions.markers
    markers._busy.add(steps.broker.node.id)
    steps.replicate()
    assert list(markers._by_broker) == [steps.broker.node.id]
    end = steps.broker.partition("t").log.log_end_offset
    steps.broker.node.transactions.runtime.on_resignation(steps.partition)
    markers._busy.clear()
    markers.send_to_self()
    steps.broker.tick(100)
    assert (markers._by_broker, markers._delayed) == ({}, [])
    assert steps.broker.partition("t").log.log_end_offset == end


def test_too_few_replicas_are_in_sync(steps: Steps, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in Kafka, nothing is appended, and the answer comes at once."""
    steps.begun()
    end = steps.partition.log.log_end_offset
    with monkeypatch.context() as patched:
        patched.setattr(Lagging, "lacks_replicas", True, raising=False)
        steps.end()
    assert (steps.codes, steps.state) == ([codes.COORDINATOR_NOT_AVAILABLE], (ONGOING, None))
    assert steps.partition.log.log_end_offset == end
    steps.end()
    steps.replicate()
    assert steps.codes[1:] == [0]


def test_unwritten_producer_fence_is_repeated(steps: Steps) -> None:
    steps.timeout_ms = 1
    steps.begun()
    epochs = []
    for _ in range(3):
        steps.broker.tick(ABORT_MS)
        steps.broker.tick(1)
        epochs.append(steps.shard.entries["app"].metadata.producer_epoch)
    assert steps.state[0] is ONGOING
    assert len(set(epochs)) == 1
    steps.broker.tick(ABORT_MS)
    assert steps.state == (ONGOING, PREPARE_ABORT)
    steps.replicate()
    steps.replicate()
    assert steps.state == (COMPLETE_ABORT, None)
    assert steps.shard.entries["app"].metadata.producer_epoch == 1


def test_a_tombstone_is_pending_until_it_is_committed(steps: Steps) -> None:
    steps.init()
    steps.replicate()
    week = 7 * 24 * EXPIRE_MS
    steps.broker.tick(week)
    assert steps.state == (EMPTY, DEAD)
    assert refused(steps.init) == codes.CONCURRENT_TRANSACTIONS
    steps.broker.tick(30_000)
    assert steps.state == (EMPTY, None), "the commit took longer than request.timeout.ms"
    steps.broker.tick(EXPIRE_MS)
    steps.replicate()
    assert steps.shard.entries == {}


def test_the_coordinator_epoch_follows_the_leader_epoch(steps: Steps) -> None:
    before = steps.shard.coordinator_epoch
    steps.partition.lead(before + 3)
    assert steps.shard.coordinator_epoch == before + 3


def test_an_id_that_could_not_be_created_expires(steps: Steps) -> None:
    steps.init()
    steps.broker.tick(5000)
    assert steps.codes == [codes.COORDINATOR_NOT_AVAILABLE]
    assert refused(steps.add) in (codes.PRODUCER_FENCED, codes.INVALID_PRODUCER_ID_MAPPING)
    steps.init()
    steps.replicate()
    assert steps.codes[1:] == [0]
