"""Steps with `on_record`: which records they are called for, what they produce, and that they
end."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from kafkadouble import KafkaDouble, ReadRecord, UsageError
from kafkadouble.scenario import apply
from kafkadouble.scenario.scenario import load

Write = Callable[..., Path]

REPLY = {
    "on_record": {"topic": "requests"},
    "verb": "produce",
    "topic": {"header": "kafka_replyTopic"},
    "key": {"record": "key"},
    "value": "accepted",
    "headers": {"kafka_correlationId": {"header": "kafka_correlationId"}, "source": "double"},
}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a scenario of the topics `requests` and `replies` with these steps."""

    def written(*steps: dict[str, Any], **sections: Any) -> Path:
        path = tmp_path / "x.yaml"
        topics = [{"name": "requests", "records": ["from the start"]}, {"name": "replies", "partitions": 2}]
        path.write_text(json.dumps({"topics": topics, "steps": steps, **sections}))
        return path

    return written


def copy(source: str, target: str, **trigger: Any) -> dict[str, Any]:
    value = {"record": "value"}
    return {"on_record": {"topic": source, **trigger}, "verb": "produce", "topic": target, "value": value}


def values(kafka: KafkaDouble, topic: str) -> list[bytes | None]:
    return [record.value for record in kafka.records(topic)]


@pytest.mark.parametrize("brokers", [1, 3])
def test_a_request_of_a_client_is_replied_to_with_its_correlation_id(write: Write, brokers: int) -> None:
    with KafkaDouble(scenario=write(REPLY), brokers=brokers) as kafka:
        producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
        headers: dict[str, str | bytes | None] = {"kafka_replyTopic": b"replies", "kafka_correlationId": b"\xff\x01"}
        producer.produce("requests", "two pears", key="k", headers=headers, partition=0)
        assert producer.flush(30) == 0
        consumer = Consumer(
            {"bootstrap.servers": kafka.bootstrap_servers, "group.id": "g", "auto.offset.reset": "earliest"}
        )
        try:
            consumer.subscribe(["replies"])
            (reply,) = consumer.consume(1, timeout=30)
        finally:
            consumer.close()
        assert (reply.key(), reply.value()) == (b"k", b"accepted")
        assert reply.headers() == [("kafka_correlationId", b"\xff\x01"), ("source", b"double")]
        assert len(kafka.records("replies")) == 1  # none for the record from the start


def test_a_program_finds_the_reply_at_once(write: Write) -> None:
    chain = copy("requests", "replies"), copy("replies", "audit"), copy("audit", "archive")
    with KafkaDouble(scenario=write(*chain), stepped=True) as kafka:
        for number in range(50):
            kafka.produce("requests", str(number))
            assert len(kafka.records("archive")) == number + 1
        assert [record.partition for record in kafka.records("replies")] == [0] * 25 + [1] * 25
        assert [(step.state, step.calls) for step in kafka.scenario_steps] == [("pending", 50)] * 3


def test_a_wait_that_began_before_the_scenario_sees_the_reply(write: Write) -> None:
    from concurrent.futures import ThreadPoolExecutor

    path = write(copy("requests", "replies"))
    with KafkaDouble(scenario=path, stepped=True) as kafka, ThreadPoolExecutor() as pool:
        waiting = pool.submit(kafka.wait_for_records, "replies", 1, timeout=30)
        while len(kafka._double_host.serving().broker.watches.checks) < 2:
            kafka.wait_for_topic("requests")
        kafka.reset()  # its steps look after the wait
        kafka.produce("requests", "x")
        assert [each.value for each in waiting.result(30)] == [b"x"]


def test_only_records_that_match_are_answered(write: Write) -> None:
    steps = (
        copy("requests", "of-key", key="k"),
        copy("requests", "of-header", header={"type": "order"}),
        copy("requests", "of-value", value="v"),
        copy("requests", "of-partition", partition=1),
        copy("requests", "once", times=1),
    )
    with KafkaDouble(scenario=write(*steps), stepped=True) as kafka:
        kafka.create_partitions("requests", 2)
        for partition, (key, value) in enumerate([("k", "1"), ("j", "v")]):
            kafka.produce(
                "requests", value, key=key, partition=partition, headers={"type": "order" if key == "j" else ""}
            )
        found = {name: values(kafka, name) for name in sorted(kafka.topics()) if name.startswith(("of", "once"))}
        assert found == {
            "of-header": [b"v"],
            "of-key": [b"1"],
            "of-partition": [b"v"],
            "of-value": [b"v"],
            "once": [b"1"],
        }
        assert [step.state for step in kafka.scenario_steps] == ["pending"] * 4 + ["done"]


def test_reply_may_use_every_field_of_the_record(write: Write) -> None:
    fields = ("key", "value", "headers", "partition", "timestamp")
    step = {"on_record": {"topic": "replies"}, "verb": "produce", "topic": "copies"}
    topics = [{"name": "replies", "partitions": 3}, {"name": "copies", "partitions": 3}]
    path = write({**step, **{name: {"record": name} for name in fields}}, topics=topics)
    with KafkaDouble(scenario=path, stepped=True) as kafka:
        kafka.produce("replies", b"\xff", key=b"\xfe", headers=[("a", "1"), ("a", None)], partition=2, timestamp=5)
        ((record,), (copied,)) = kafka.records("replies"), kafka.records("copies")
        assert copied == record._replace(topic="copies")


def test_only_committed_records_are_answered(write: Write) -> None:
    with KafkaDouble(scenario=write(copy("requests", "replies")), stepped=True) as kafka:
        producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": "t"})
        producer.init_transactions(30)
        for value, end in (("aborted", producer.abort_transaction), ("committed", producer.commit_transaction)):
            producer.begin_transaction()
            producer.produce("requests", value)
            producer.flush(30)
            assert values(kafka, "replies") == []
            end(30)
        assert [record.value for record in kafka.wait_for_records("replies", 1)] == [b"committed"]


def test_records_of_steps_are_answered_at_their_time(write: Write) -> None:
    tick = {"every": 1, "verb": "produce", "topic": "requests", "value": "tick"}
    with KafkaDouble(scenario=write(tick, copy("requests", "replies")), stepped=True) as kafka:
        kafka.advance(3.5)
        first, *others = [record.timestamp for record in sorted(kafka.records("replies"), key=_time)]
        assert [other - first for other in others] == [1000, 2000]


def _time(record: ReadRecord) -> int:
    return record.timestamp


def test_a_reset_begins_again_and_a_restore_ends(write: Write) -> None:
    with KafkaDouble(scenario=write(copy("requests", "replies")), stepped=True) as kafka:
        for _ in range(3):
            kafka.reset()
            kafka.produce("requests", "x")
            assert values(kafka, "replies") == [b"x"]
        assert len(kafka._double_host.serving().broker.watches.checks) == 1
        kafka.restore(kafka.snapshot())
        kafka.produce("requests", "y")
        assert values(kafka, "replies") == [b"x"]
        assert kafka._double_host.serving().broker.watches.checks == []


def test_records_of_a_data_directory_are_not_answered_again(write: Write, tmp_path: Path) -> None:
    path = write(copy("requests", "replies"))
    with KafkaDouble(scenario=path, data_dir=tmp_path / "data") as kafka:
        kafka.produce("requests", "x")
        assert values(kafka, "replies") == [b"x"]
    with KafkaDouble(scenario=path, data_dir=tmp_path / "data") as kafka:
        kafka.produce("requests", "y")
        assert sorted(map(bytes.decode, filter(None, values(kafka, "replies")))) == ["x", "y"]


def test_records_of_a_partition_without_a_leader_are_not_answered_later(write: Write) -> None:
    with KafkaDouble(brokers=2, stepped=True) as kafka:
        kafka.create_topic("requests", replication_factor=1)
        kafka.create_topic("replies", 2, replication_factor=2)
        kafka.produce("requests", "x")
        leader = kafka.wait_for_leader("requests", 0)
        kafka.brokers[leader].kill()
        apply.begin(kafka, load(write(copy("requests", "replies"))))
        kafka.up(leader)
        assert values(kafka, "replies") == []
        kafka.produce("requests", "y")
        assert values(kafka, "replies") == [b"y"]


def test_a_topic_that_is_created_again_begins_at_its_start(write: Write) -> None:
    with KafkaDouble(scenario=write(copy("requests", "replies")), stepped=True) as kafka:
        kafka.delete_topic("requests")
        kafka.create_topic("requests")
        kafka.produce("requests", "x")
        assert values(kafka, "replies") == [b"x"]


def test_reply_that_cannot_be_produced_is_a_failed_step(write: Write, caplog: pytest.LogCaptureFixture) -> None:
    path = write(REPLY, {**copy("requests", "replies"), "partition": 7})
    with KafkaDouble(scenario=path, stepped=True) as kafka:
        kafka.produce("requests", "x")
        kafka.produce("requests", "x")
        lost, wrong = kafka.scenario_steps
        assert lost.problem == "UsageError: requests-0@2 has no topic to produce to in its header kafka_replyTopic"
        assert wrong.problem is not None
        assert wrong.problem.startswith("KafkaError: UNKNOWN_TOPIC_OR_PARTITION")
        assert [(each.state, each.calls) for each in (lost, wrong)] == [("failed", 2)] * 2
    assert "the step produce for a record of requests failed" in caplog.text


def test_a_reply_topic_that_leads_back_is_refused_when_a_record_names_it(write: Write) -> None:
    with KafkaDouble(scenario=write(REPLY, copy("replies", "requests")), stepped=True) as kafka:
        kafka.produce("requests", "x", headers={"kafka_replyTopic": "replies"})
        assert kafka.scenario_steps[0].problem == (
            "UsageError: a record of replies could lead back to this step without an end: give on_record times"
        )
        kafka.produce("requests", "x", headers={"kafka_replyTopic": "audit"})
        assert values(kafka, "audit") == [b"accepted"]


def test_a_circle_ends_with_its_times(write: Write) -> None:
    with KafkaDouble(
        scenario=write(copy("requests", "replies"), copy("replies", "requests", times=3)), stepped=True
    ) as kafka:
        kafka.produce("requests", "x")
        assert (len(kafka.records("requests")), len(kafka.records("replies"))) == (5, 4)


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        ([copy("a", "a")], "records would go from a to a without an end: give on_record times"),
        ([copy("z", "a"), copy("a", "b"), copy("b", "a")], "records would go from "),
        ([{**copy("a", "b"), "verb": "down"}], "the verb of a step with on_record is produce, not down"),
        ([{**copy("a", "b"), "at": 5}], "a step with on_record is called when a record arrives: leave at out"),
        ([{"on_record": {}, "verb": "produce"}], "on_record needs topic, a name"),
        ([copy("a", "b", time=3)], "on_record has no field 'time'; did you mean 'times'?"),
        ([copy("a", "b", times=0)], "times is a count from 1, not 0"),
        (
            [{**copy("a", "b"), "key": {"record": "offset"}}],
            "key is taken from a record by {record: key} or {record: value} or {header: NAME}, not by {'record': 'offset'}",
        ),
        (
            [{**copy("a", "b"), "partition": {"header": "p"}}],
            "partition is taken from a record by {record: partition}, not",
        ),
        (
            [{**copy("a", "b"), "headers": {"n": {"record": "headers"}}}],
            "value is taken from a record by {record: key}",
        ),
        ([{"at": 1, "verb": "produce", "topic": "a", "key": {"record": "key"}}], "key is bytes, a text or None"),
    ],
)
def test_invalid_record_step_is_refused(write: Write, steps: list[dict[str, Any]], problem: str) -> None:
    with pytest.raises(UsageError) as refused:
        load(write(*steps))
    assert problem in str(refused.value)
