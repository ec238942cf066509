"""The dead-letter queue of share groups, on one broker (KIP-1191)."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.config_record import ConfigRecord
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.feature_level_record import FeatureLevelRecord
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.messages.generated.produce import ProduceResponse
from kafkadouble.server.handlers import produce
from kafkadouble.server.metadata.features import SHARE_VERSION
from kafkadouble.server.metadata.image import BROKER, GROUP, TOPIC
from kafkadouble.server.share import acknowledgement
from kafkadouble.server.share.acknowledgement import AcknowledgementBatch
from kafkadouble.server.share.acquisition import AcquireRequest
from kafkadouble.server.share.persister import SharePartitionKey
from kafkadouble.server.share.persister_state_manager import MAX_ATTEMPTS
from kafkadouble.server.share.record_state import ARCHIVED, ARCHIVING
from kafkadouble.server.share.share_group_dlq_manager import ShareGroupDLQRecordParameter
from kafkadouble.server.share.share_group_dlq_records import MAX_RECORDS
from kafkadouble.server.share.share_log_reader import read
from kafkadouble.server.share.share_partition_manager import SharePartitionManager
from kafkadouble.server.share.share_session import TopicIdPartition
from kafkadouble.wire.batch import decode_all, encode_batch, iter_batches
from kafkadouble.wire.record import Record
from tests.server.harness import Harness
from tests.support.fake_persister import FakePersister

QUEUE = "dlq.g"
ENABLED = {"errors.deadletterqueue.group.enable": "true"}
AUTO_CREATE = "errors.deadletterqueue.auto.create.topics.enable"
PREFIX = "errors.deadletterqueue.topic.name.prefix"
RETRIED_MS = 60_000
"""Longer than all pauses together."""

REJECT = 3


class DeadLetterBroker(Harness):
    """A broker that leads "t" of four partitions, of which the group "g" gives records up. `done`
    counts what the queue is done with."""

    def __init__(self, settings: dict[str, object] | None = None, *, queue: str = QUEUE, copies: bool = True) -> None:
        super().__init__(settings)
        self.create("t", partitions=4)
        topic = self.image.topic_named("t")
        assert topic is not None
        self.topic_id, self.done = topic.id, 0
        self.configure(GROUP, "g", "errors.deadletterqueue.topic.name", queue)
        self.configure(GROUP, "g", "errors.deadletterqueue.copy.record.enable", str(copies).lower())

    def configure(self, type: int, resource: str, name: str, value: str) -> None:
        record = ConfigRecord(resource_type=type, resource_name=resource, name=name, value=value)
        self.node.controller.commit([record])
        self.tick(0)

    def produce(self, *values: bytes, compression: int = 0, partition: int = 0) -> None:
        """Append one batch."""
        records = [Record(each, self.now, b"k%d" % each, value) for each, value in enumerate(values)]
        self.partition("t", partition).append(bytes(encode_batch(records, compression=compression)), self.now)

    def give_up(self, first: int, last: int, *, partition: int = 0, cause: str = "because") -> None:
        """Enqueue records. The step is not over then."""
        key = SharePartitionKey("g", self.topic_id, partition)
        given_up = ShareGroupDLQRecordParameter(key, first, last, 2, cause)
        self.node.share_group_dlq_manager.enqueue(given_up, self._count)

    def _count(self) -> None:
        self.done += 1

    def settle(self) -> None:
        """Do all that needs no time."""
        self.tick(0)
        while self.node.waiting.is_busy:
            self.tick(0)

    def bytes_in(self, partition: int = 0) -> Any:
        log = self.partition(QUEUE, partition).log
        return log.read(0, 1 << 24, log.log_end_offset).records

    def queued(self, partition: int = 0) -> list[Record]:
        return decode_all(self.bytes_in(partition))

    def copied(self) -> list[tuple[str, bytes | None]]:
        """Offset and value of each record of the queue."""
        return [((dict(each.headers)["__dlq.errors.offset"] or b"").decode(), each.value) for each in self.queued()]


def with_queue(settings: dict[str, object] | None = None, **configs: str) -> DeadLetterBroker:
    """A broker that has the dead-letter topic, of two partitions."""
    broker = DeadLetterBroker(settings)
    named = {name.replace("_", "."): value for name, value in configs.items()}
    broker.create(QUEUE, partitions=2, configs={**ENABLED, **named})
    return broker


def test_the_headers_say_what_was_given_up() -> None:
    broker = DeadLetterBroker(copies=False)
    broker.create(QUEUE, configs=ENABLED)
    broker.produce(b"a", b"b", partition=3)
    broker.tick(5)
    broker.give_up(0, 1, partition=3, cause=acknowledgement.CLIENT_REJECT)
    broker.tick(0)
    first, second = broker.queued()
    assert (first.key, first.value, first.timestamp) == (None, None, broker.now)
    assert first.headers == (
        ("__dlq.errors.topic", b"t"),
        ("__dlq.errors.partition", b"3"),
        ("__dlq.errors.offset", b"0"),
        ("__dlq.errors.group", b"g"),
        ("__dlq.errors.delivery.count", b"2"),
        ("__dlq.errors.message", b"Offset rejected by client."),
    )
    assert dict(second.headers)["__dlq.errors.offset"] == b"1"
    assert broker.done == 1


@pytest.mark.parametrize("codec", range(5))
def test_key_and_value_are_copied(codec: int) -> None:
    broker = with_queue()
    broker.produce(b"a", b"b", b"c", compression=codec)
    broker.produce(b"d", compression=codec)
    broker.give_up(1, 3)
    broker.tick(0)
    assert [(each.key, each.value) for each in broker.queued()] == [(b"k1", b"b"), (b"k2", b"c"), (b"k0", b"d")]


@pytest.mark.parametrize(("partition", "to"), [(0, 0), (1, 1), (2, 0), (3, 1)])
def test_partitions_are_counted_around(partition: int, to: int) -> None:
    broker = with_queue()
    broker.produce(b"a", partition=partition)
    broker.give_up(0, 0, partition=partition)
    broker.tick(0)
    assert (len(broker.queued(to)), len(broker.queued(1 - to))) == (1, 0)


def test_what_comes_together_is_one_batch_for_each_partition() -> None:
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


def test_any_prefix_will_do_if_none_is_set() -> None:
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
    topic = broker.image.topic_named(QUEUE)
    assert topic is not None
    assert len(topic.partitions) == 3
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


def test_a_batch_is_no_larger_than_the_topic_takes() -> None:
    """What does not fit follows when the answer has come: more requests than the stack is deep."""
    broker = with_queue(max_message_bytes="400")
    broker.produce(*(b"%d" % each for each in range(400)))
    broker.give_up(0, 399)
    broker.settle()
    assert broker.done == 1
    assert broker.copied() == [(str(each), b"%d" % each) for each in range(400)]
    headers = [header for _, header in iter_batches(broker.bytes_in())]
    assert {header.count for header in headers} == {2}
    assert max(header.size for header in headers) <= 400


def test_the_size_is_that_of_the_broker_if_the_topic_has_none() -> None:
    broker = with_queue({"message.max.bytes": 400})
    broker.give_up(0, 3)
    broker.settle()
    assert [header.count for _, header in iter_batches(broker.bytes_in())] == [2, 2]


def test_a_batch_has_only_so_many_records() -> None:
    broker = with_queue()
    broker.give_up(0, 2 * MAX_RECORDS)
    broker.give_up(7, 8)
    broker.tick(0)
    assert (broker.done, len(broker.queued())) == (0, MAX_RECORDS), "others have their turn"
    broker.settle()
    assert broker.done == 2
    assert [header.count for _, header in iter_batches(broker.bytes_in())] == [MAX_RECORDS, MAX_RECORDS, 3]


def test_a_record_that_is_too_large_is_not_copied() -> None:
    broker = with_queue(max_message_bytes="1000")
    broker.produce(b"a", bytes(1000), b"c")
    broker.give_up(0, 2)
    broker.tick(0)
    assert broker.copied() == [("0", b"a"), ("1", None), ("2", b"c")]


def test_a_batch_that_decompresses_to_too_much_is_not_copied() -> None:
    broker = with_queue(max_message_bytes="1000")
    broker.produce(b"a", bytes(1000), compression=4)
    broker.produce(b"c", compression=4)
    broker.give_up(0, 2)
    broker.tick(0)
    assert broker.copied() == [("0", None), ("1", None), ("2", b"c")]


def test_records_that_are_deleted_have_only_headers() -> None:
    broker = with_queue()
    broker.produce(b"a")
    broker.produce(b"b")
    broker.partition("t").log.delete_records_before(1)
    broker.give_up(0, 2)
    broker.tick(0)
    assert broker.copied() == [("0", None), ("1", b"b"), ("2", None)]


def test_a_topic_that_is_deleted_has_an_id_in_the_headers(caplog: pytest.LogCaptureFixture) -> None:
    """One line in the log for all its records."""
    broker = with_queue()
    broker.produce(b"a", b"b", b"c")
    broker.submit(DeleteTopicsRequest(topics=[DeleteTopicsRequest.DeleteTopicState(name="t")], timeout_ms=1000), 6)
    broker.give_up(0, 2)
    broker.tick(0)
    assert broker.copied() == [("0", None), ("1", None), ("2", None)]
    assert {dict(each.headers)["__dlq.errors.topic"] for each in broker.queued()} == {str(broker.topic_id).encode()}
    assert len([each for each in caplog.messages if "not copied" in each]) == 1


def test_a_record_larger_than_a_batch_ends_it(caplog: pytest.LogCaptureFixture) -> None:
    """The headers alone are too large, so the leader refuses them."""
    broker = with_queue(max_message_bytes="100")
    broker.give_up(0, 5)
    broker.tick(0)
    assert (broker.done, broker.queued()) == (1, [])
    assert "from offset 0 on" in caplog.messages[-1]


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
def test_a_passing_error_is_tried_again(monkeypatch: pytest.MonkeyPatch, code: int, times: int) -> None:
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
    assert broker.copied() == [(str(each), None) for each in range(4)]


def test_other_errors_are_final(monkeypatch: pytest.MonkeyPatch) -> None:
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
    topic = broker.image.topic_named(QUEUE)
    assert topic is not None
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
    topic = broker.image.topic_named(QUEUE)
    assert topic is not None
    broker.node.controller.commit([PartitionChangeRecord(topic_id=topic.id, partition_id=0, leader=-1)])
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


def test_nothing_is_logged_when_all_is_well(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    broker = with_queue()
    broker.produce(b"a")
    broker.give_up(0, 0)
    broker.tick(0)
    assert broker.done == 1
    assert caplog.messages == []
