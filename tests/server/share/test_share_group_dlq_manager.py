"""The dead-letter queue of share groups, on one broker (KIP-1191)."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.feature_level_record import FeatureLevelRecord
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.messages.generated.produce import ProduceResponse
from kafkadouble.server.handlers import produce
from kafkadouble.server.metadata.features import SHARE_VERSION
from kafkadouble.server.metadata.image import BROKER, TOPIC
from kafkadouble.server.share.acknowledgement import AcknowledgementBatch
from kafkadouble.server.share.acquisition import AcquireRequest
from kafkadouble.server.share.persister_state_manager import MAX_ATTEMPTS
from kafkadouble.server.share.record_state import ARCHIVED, ARCHIVING
from kafkadouble.server.share.share_log_reader import read
from kafkadouble.server.share.share_partition_manager import SharePartitionManager
from kafkadouble.server.share.share_session import TopicIdPartition
from kafkadouble.wire.batch import iter_batches
from tests.support.fake_persister import FakePersister

from .dead_letters import AUTO_CREATE, ENABLED, PREFIX, QUEUE, DeadLetterBroker, with_queue

RETRIED_MS = 60_000
"""Longer than all pauses together."""

REJECT = 3


@pytest.mark.parametrize(("partition", "to"), [(0, 0), (1, 1), (2, 0), (3, 1)])
def test_partitions_are_counted_around(partition: int, to: int) -> None:
    broker = with_queue()
    broker.produce(b"a", partition=partition)
    broker.give_up(0, 0, partition=partition)
    broker.tick(0)
    assert (len(broker.queued(to)), len(broker.queued(1 - to))) == (1, 0)


def test_dlq_records_are_batched_by_partition() -> None:
    broker = with_queue()
    for partition in (0, 1):
        broker.produce(b"a", b"b", partition=partition)
        broker.give_up(0, 0, partition=partition)
        broker.give_up(1, 1, partition=partition)
    broker.tick(0)
    assert broker.done == 4
    assert [header.count for _, header in iter_batches(broker.bytes_in(0))] == [2]
    assert [header.count for _, header in iter_batches(broker.bytes_in(1))] == [2]


@pytest.mark.parametrize(
    ("queue", "configs", "settings", "why"),
    [
        ("", None, {}, "the group has no dead-letter topic"),
        (QUEUE, None, {}, "topic 'dlq.g' does not exist, and may not be created"),
        (QUEUE, {}, {}, "topic 'dlq.g' has errors.deadletterqueue.group.enable=false"),
        ("other", ENABLED, {}, "'other' does not begin with 'dlq.'"),
        ("other", None, {AUTO_CREATE: "true"}, "'other' does not begin with 'dlq.'"),
        (QUEUE, ENABLED, {PREFIX: "q"}, "'dlq.g' does not begin with 'q'"),
    ],
)
def test_a_topic_that_may_not_be_a_queue(
    caplog: pytest.LogCaptureFixture, queue: str, configs: dict[str, str] | None, settings: dict[str, object], why: str
) -> None:
    broker = DeadLetterBroker(settings, queue=queue)
    if configs is not None:
        broker.create(queue, configs=configs)
    broker.give_up(0, 0)
    assert broker.done == 1
    assert caplog.messages[-1].endswith(f"not written to the dead-letter queue from offset 0 on: {why}")
    if configs is None:
        assert broker.image.topic_named(queue) is None
    else:
        assert broker.partition(queue).log.log_end_offset == 0


def test_dead_letter_topic_needs_no_prefix_if_none_is_set() -> None:
    broker = DeadLetterBroker({PREFIX: ""}, queue="other")
    broker.create("other", configs=ENABLED)
    broker.give_up(0, 0)
    broker.tick(0)
    assert broker.partition("other").log.log_end_offset == 1


def test_the_topic_is_created() -> None:
    broker = DeadLetterBroker({AUTO_CREATE: "true", "num.partitions": 3})
    broker.produce(b"a")
    broker.give_up(0, 0)
    broker.tick(0)
    assert broker.copied() == [("0", b"a")]
    assert len(broker.topic(QUEUE).partitions) == 3
    assert dict(broker.image.config_overrides(TOPIC, QUEUE)) == {**ENABLED, "message.timestamp.type": "CreateTime"}


def test_the_settings_may_change_while_the_broker_runs() -> None:
    broker = DeadLetterBroker(queue="q")
    broker.configure(BROKER, "", AUTO_CREATE, "true")
    broker.configure(BROKER, "", PREFIX, "q")
    broker.give_up(0, 0)
    broker.tick(0)
    assert broker.partition("q").log.log_end_offset == 1


def test_a_topic_that_cannot_be_created(caplog: pytest.LogCaptureFixture) -> None:
    broker = DeadLetterBroker({AUTO_CREATE: "true", "default.replication.factor": 3})
    broker.give_up(0, 0)
    assert broker.done == 1
    assert "replication factor" in caplog.messages[-1]


class Refusing:
    """A handler of Produce that refuses so many requests with a code, and again so many after one
    that it takes, if it refuses `twice`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, code: int, times: int, *, twice: bool = False) -> None:
        self.code, self.requests = code, 0
        self._refused = range(1, times + 1), range(times + 2, 2 * times + 2) if twice else range(0)
        self._answer = produce.answer
        monkeypatch.setattr(produce, "answer", self)

    def __call__(self, node: Any, request: Any) -> Any:
        self.requests += 1
        if not any(self.requests in each for each in self._refused):
            return self._answer(node, request)
        of = ProduceResponse
        (topic,) = request.body.topic_data
        (data,) = topic.partition_data
        result = of.PartitionProduceResponse(index=data.index, error_code=self.code, base_offset=-1)
        return of(responses=[of.TopicProduceResponse(topic_id=topic.topic_id, partition_responses=[result])])


@pytest.mark.parametrize("code", [codes.NOT_LEADER_OR_FOLLOWER, codes.UNKNOWN_TOPIC_ID])
@pytest.mark.parametrize("times", [1, MAX_ATTEMPTS - 1, MAX_ATTEMPTS])
def test_retriable_error_of_a_dead_letter_record_is_retried(
    monkeypatch: pytest.MonkeyPatch, code: int, times: int
) -> None:
    broker = with_queue()
    broker.produce(b"a")
    refusing = Refusing(monkeypatch, code, times)
    broker.give_up(0, 0)
    broker.tick(0)
    assert (refusing.requests, broker.done) == (1, 0)
    for _ in range(RETRIED_MS // 1000):
        broker.tick(1000)
    lost = times == MAX_ATTEMPTS
    assert (refusing.requests, broker.done) == (times + (not lost), 1)
    assert broker.copied() == ([] if lost else [("0", b"a")])


def test_attempts_are_counted_for_each_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = with_queue(max_message_bytes="400")
    refusing = Refusing(monkeypatch, codes.NOT_LEADER_OR_FOLLOWER, MAX_ATTEMPTS - 1, twice=True)
    broker.give_up(0, 3)
    for _ in range(2 * RETRIED_MS // 1000):
        broker.tick(1000)
    assert (refusing.requests, broker.done) == (2 * MAX_ATTEMPTS, 1)
    assert broker.copied() == [(str(number), None) for number in range(4)]


def test_permanent_error_of_a_dead_letter_record_is_final(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = with_queue()
    refusing = Refusing(monkeypatch, codes.NOT_ENOUGH_REPLICAS, 1)
    broker.give_up(0, 0)
    broker.tick(RETRIED_MS)
    assert (refusing.requests, broker.done, broker.queued()) == (1, 1, [])


def test_the_topic_is_checked_again_before_a_retry(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broker = with_queue()
    Refusing(monkeypatch, codes.NOT_LEADER_OR_FOLLOWER, 1)
    broker.give_up(0, 0)
    broker.tick(0)
    broker.configure(TOPIC, QUEUE, "errors.deadletterqueue.group.enable", "false")
    broker.tick(5000)
    assert (broker.done, broker.queued()) == (1, [])
    assert "group.enable=false" in caplog.messages[-1]


def test_a_partition_without_a_leader_is_looked_up_again() -> None:
    broker = with_queue()
    topic = broker.topic(QUEUE)
    without = PartitionChangeRecord(topic_id=topic.id, partition_id=0, leader=-1)
    broker.node.controller.commit([without])
    broker.give_up(0, 0)
    broker.tick(0)
    again = PartitionChangeRecord(topic_id=topic.id, partition_id=0, leader=broker.node.id)
    broker.node.controller.commit([again])
    assert broker.done == 0
    broker.tick(5000)
    assert (broker.done, broker.copied()) == (1, [("0", None)])


def test_a_partition_that_stays_without_a_leader(caplog: pytest.LogCaptureFixture) -> None:
    broker = with_queue()
    broker.node.controller.commit(
        [PartitionChangeRecord(topic_id=broker.image.topic_ids[QUEUE], partition_id=0, leader=-1)]
    )
    broker.give_up(0, 0)
    for _ in range(RETRIED_MS // 1000):
        broker.tick(1000)
    assert broker.done == 1
    assert len(caplog.messages) == 1


@pytest.mark.parametrize("version", [1, 2])
def test_a_rejected_record_is_archived_when_the_queue_has_it(version: int) -> None:
    """With `share.version` 1 there are no dead-letter queues."""
    broker = with_queue()
    broker.node.controller.commit([FeatureLevelRecord(name=SHARE_VERSION, feature_level=version)])
    broker.produce(b"a", b"b")
    persister = FakePersister()
    manager = SharePartitionManager(broker.node, persister, broker.node.share_group_dlq_manager)
    found = manager.get_or_create("g", TopicIdPartition(broker.topic_id, 0, "t"))
    got = read(broker.node, found, 1 << 20, read_committed=False, at_least_one=True)
    found.acquire(got.batches, AcquireRequest("m", got.fetch_offset, 500, 1))
    outcomes: list[Any] = []
    found.acknowledge("m", [AcknowledgementBatch(0, 1, [REJECT])], outcomes.append)
    broker.tick(0)
    assert outcomes == [None]
    written = [state for write in persister.writes for _, _, state, _ in write.batches]
    assert written == ([ARCHIVING, ARCHIVED] if version == 2 else [ARCHIVED])
    assert broker.copied() == ([("0", b"a"), ("1", b"b")] if version == 2 else [])
    assert found.records.start_offset == 2


def test_successful_dlq_write_logs_no_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    broker = with_queue()
    broker.produce(b"a")
    broker.give_up(0, 0)
    broker.tick(0)
    assert broker.done == 1
    assert caplog.messages == []


@pytest.mark.parametrize("name", ["", "org.apache.kafka.server.share.dlq.DefaultShareGroupDLQManager"])
def test_a_broker_may_have_no_writer_of_dead_letter_queues(name: str) -> None:
    broker = with_queue({"group.share.dlq.manager.class.name": name})
    assert broker.node.share_partitions is not None
    assert broker.node.has_share_group_dlq_manager == bool(name)
