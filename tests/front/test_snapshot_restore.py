"""A snapshot brings a double back: its topics, records, configs, groups, transactions and leaders,
with real clients before and after."""

from __future__ import annotations

import gc
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.common.literals import IsolationLevel
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.support.client import ask

TIMEOUT_S = 20
AT_THREE = {"offsets.topic.num.partitions": 3, "transaction.state.log.num.partitions": 3}

FORMS = {"one": (1, False), "three": (3, False), "one, in files": (1, True), "three, in files": (3, True)}


@pytest.fixture(params=[*FORMS.values()], ids=[*FORMS])
def kafka(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[KafkaDouble]:
    """Each form. The topic `orders` has two partitions, with a replica on each broker."""
    brokers, in_files = request.param
    data_dir = tmp_path / "data" if in_files else None
    with KafkaDouble(brokers=brokers, data_dir=data_dir, config=AT_THREE) as kafka:
        kafka.create_topic("orders", 2, {"retention.ms": "100000000"}, replication_factor=brokers)
        yield kafka


def values(
    kafka: KafkaDouble, isolation: IsolationLevel = "read_uncommitted", topic: str = "orders"
) -> list[bytes | None]:
    return [record.value for record in kafka.records(topic, isolation=isolation)]


def state(kafka: KafkaDouble) -> tuple[Any, ...]:
    """Everything that verbs show of the contents."""
    records = {name: kafka.records(name) for name in kafka.topics()}
    return kafka.topics(), records, kafka.groups(), kafka.transactions()


def of_client(kafka: KafkaDouble, **more: Any) -> dict[str, Any]:
    """A restore closes connections; with librdkafka's own settings a client waits up to ten seconds
    before it opens one again."""
    soon = {"reconnect.backoff.ms": 5, "reconnect.backoff.max.ms": 50}
    return {"bootstrap.servers": kafka.bootstrap_servers, "log_level": 0, **soon, **more}


def produce(producer: Producer, *batch: bytes, partition: int = 0) -> None:
    failed: list[object] = []

    def delivered(error: object, message: object) -> None:
        if error is not None:
            failed.append(error)

    for value in batch:
        producer.produce("orders", value, partition=partition, on_delivery=delivered)
    assert producer.flush(TIMEOUT_S) == 0
    assert failed == []


def transactional(kafka: KafkaDouble, id: str = "shop") -> Producer:
    producer = Producer(of_client(kafka, **{"transactional.id": id, "linger.ms": 0}))
    producer.init_transactions(TIMEOUT_S)
    return producer


def test_restore_brings_back_the_contents_any_number_of_times(kafka: KafkaDouble) -> None:
    for value in "12345":
        kafka.produce("orders", value, partition=0)
    kafka.produce_all("orders", ["v" * 100] * 300, partition=1)
    kafka.truncate("orders", 0, 3)
    kafka.commit_offsets("g", {("orders", 0): 2, ("orders", 1): 1})
    identity = kafka.bootstrap_servers, kafka.describe_cluster().cluster_id
    before = kafka.topics()["orders"]
    snapshot = kafka.snapshot()
    assert kafka.topics()["orders"] == before, "the snapshot itself changes nothing"
    states = []
    for change in (lambda: kafka.delete_topic("orders"), lambda: kafka.truncate("orders", 1, 0), lambda: None):
        kafka.produce_all("orders", ["later", "later"])
        kafka.create_topic("later")
        kafka.commit_offsets("g", {("orders", 0): 3})
        kafka.commit_offsets("later", {("orders", 0): 1})
        change()
        rule = kafka.fail("Metadata", "UNKNOWN_SERVER_ERROR", times=None)
        kafka.restore(snapshot)
        states.append(state(kafka))
        assert (rule.hits, kafka.rules, len(kafka.requests)) == (0, [], 0)
    topics, records, groups, _ = states[0]
    assert states[1:] == states[:1] * 2
    assert [*topics] == ["orders"]
    assert (
        len(records["orders"]) == snapshot.records == sum(each.end_offset or 0 for each in before.partitions.values())
    )
    assert [*groups] == ["g"]
    assert {key: offset.offset for key, offset in groups["g"].offsets.items()} == {("orders", 0): 2, ("orders", 1): 1}
    after = topics["orders"]
    assert (after.id, after.configs) == (before.id, before.configs)
    for index, place in before.partitions.items():
        now = after.partitions[index]
        assert (now.leader, now.isr, now.replicas, now.end_offset) == (
            place.leader,
            place.isr,
            place.replicas,
            place.end_offset,
        )
        assert now.leader_epoch > place.leader_epoch
    assert (kafka.bootstrap_servers, kafka.describe_cluster().cluster_id) == identity


def test_a_log_that_was_truncated_inside_a_batch(kafka: KafkaDouble) -> None:
    kafka.produce("orders", "kept", partition=0)
    kafka.produce_all("orders", ["lost"] * 5, partition=0)
    kafka.truncate("orders", 0, 3)
    snapshot = kafka.snapshot()
    kafka.restore(snapshot)
    assert (snapshot.records, values(kafka)) == (1, [b"kept"])


def test_moved_leaders_and_later_changes_of_brokers() -> None:
    with KafkaDouble(brokers=3, stepped=True) as kafka:
        kafka.create_topic("orders", replication_factor=3)
        kafka.move_leader("orders", 0, to=3)
        kafka.produce("orders", "a")
        new = kafka.add_broker()
        kafka.remove_broker(2, reassign=True)
        snapshot = kafka.snapshot()
        began = kafka._double_host.clock.now()

        other = kafka.add_broker()
        kafka.brokers[new].isolate()
        kafka.brokers[1].pause()
        kafka.restore(snapshot)
        assert sorted(kafka.brokers) == [1, 3, new]
        assert other not in kafka.brokers
        assert all(broker.running for broker in kafka.brokers.values())
        assert (kafka.leader("orders", 0), kafka.isr("orders", 0)) == (3, [1, 3, new])
        assert kafka.produce("orders", "b") == 1
        assert kafka._double_host.clock.now() >= began, "time does not go back"

        kafka.reset()
        assert sorted(kafka.brokers) == [1, 2, 3]
        with pytest.raises(UsageError, match=f"not of brokers 1, 3, {new}"):
            kafka.restore(snapshot)


def test_a_broker_that_was_down_comes_back_with_its_log(kafka: KafkaDouble) -> None:
    kafka.produce("orders", "a", partition=0)
    kafka.produce("orders", "b", partition=1)
    kafka.down()
    snapshot = kafka.snapshot()
    kafka.up()
    kafka.produce("orders", "c")
    kafka.down()
    kafka.restore(snapshot)
    assert values(kafka) == [b"a", b"b"]
    kafka.restore(snapshot)
    assert values(kafka) == [b"a", b"b"]


def test_restore_brings_back_transactions_in_each_state(kafka: KafkaDouble) -> None:
    producer = transactional(kafka)
    for value, ends in ((b"aborted", producer.abort_transaction), (b"committed", producer.commit_transaction)):
        producer.begin_transaction()
        produce(producer, value)
        ends(TIMEOUT_S)
    opened = transactional(kafka, "open")
    opened.begin_transaction()
    produce(opened, b"open")
    snapshot = kafka.snapshot()
    opened.commit_transaction(TIMEOUT_S)
    assert values(kafka, "read_committed") == [b"committed", b"open"]

    for _ in range(2):
        kafka.restore(snapshot)
        assert values(kafka, "read_committed") == [b"committed"]
        assert values(kafka) == [b"aborted", b"committed", b"open"]
        assert {id: each.state for id, each in kafka.transactions().items()} == {
            "open": "Ongoing",
            "shop": "CompleteCommit",
        }
    again = transactional(kafka, "open")  # its initialization aborts what was open
    again.begin_transaction()
    produce(again, b"again")
    again.commit_transaction(TIMEOUT_S)
    assert values(kafka, "read_committed") == [b"committed", b"again"]


def test_an_open_transaction_is_aborted_by_its_time_out() -> None:
    with KafkaDouble() as kafka:
        kafka.create_topic("orders")
        opened = transactional(kafka)
        opened.begin_transaction()
        produce(opened, b"open")
        kafka.restore(kafka.snapshot())
        kafka.freeze()
        kafka.advance(120)  # the time-out is 60 s
        assert kafka.transactions()["shop"].state == "CompleteAbort"
        assert values(kafka, "read_committed") == []


def test_an_idempotent_producer_goes_on_in_a_new_client(kafka: KafkaDouble) -> None:
    def new() -> Producer:
        return Producer(of_client(kafka, **{"enable.idempotence": True, "linger.ms": 0}))

    produce(new(), b"1", b"2")
    snapshot = kafka.snapshot()
    for _ in range(2):
        produce(new(), b"gone")
        kafka.restore(snapshot)
        producer = new()
        produce(producer, b"3")
        produce(producer, b"4")
        assert values(kafka) == [b"1", b"2", b"3", b"4"]


def test_the_state_of_producers_comes_back(kafka: KafkaDouble) -> None:
    producer = Producer(of_client(kafka, **{"enable.idempotence": True}))
    produce(producer, b"1", b"2")

    def known() -> list[tuple[int, int, int]]:
        found = kafka._double_host.serving().broker.leading("orders", 0)
        assert found is not None
        return [(producer.producer_id, producer.epoch, producer.last_sequence) for producer in found[1].log.producers]

    before = kafka._double_host.call(known)
    snapshot = kafka.snapshot()
    for _ in range(2):
        produce(producer, b"3")
        kafka.restore(snapshot)
        assert kafka._double_host.call(known) == before != []
        producer = Producer(of_client(kafka, **{"enable.idempotence": True}))


def test_a_group_resumes_from_its_committed_offset(kafka: KafkaDouble) -> None:
    def consume(count: int) -> list[bytes | None]:
        own = {"group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": False}
        consumer = Consumer(of_client(kafka, **own))
        consumer.subscribe(["orders"])
        found: list[bytes | None] = []
        while len(found) < count:
            message = consumer.poll(TIMEOUT_S)
            assert message is not None
            assert message.error() is None
            found.append(message.value())
            consumer.commit(message=message, asynchronous=False)
        consumer.close()
        return found

    kafka.produce_all("orders", ["1", "2", "3", "4"], partition=0)
    assert consume(2) == [b"1", b"2"]
    snapshot = kafka.snapshot()
    assert consume(2) == [b"3", b"4"]
    for _ in range(2):
        kafka.restore(snapshot)
        assert consume(2) == [b"3", b"4"]


def test_a_member_is_one_again_until_its_session_ends() -> None:
    with KafkaDouble() as kafka:
        kafka.produce("orders", "1")
        consumer = Consumer(of_client(kafka, **{"group.id": "g", "auto.offset.reset": "earliest"}))
        consumer.subscribe(["orders"])
        assert consumer.poll(TIMEOUT_S) is not None
        before = kafka.groups()["g"]
        snapshot = kafka.snapshot()
        consumer.close()
        assert kafka.groups()["g"].members == ()
        kafka.restore(snapshot)
        [member] = kafka.groups()["g"].members
        assert [member.id] == [member.id for member in before.members]
        kafka.expire_member("g", member.id)
        assert kafka.groups()["g"].state == "Empty"


def test_later_appends_are_not_in_the_snapshot_nor_in_one_another() -> None:
    """Chunks of memory are shared, also a large one that is filled further after the snapshot."""
    with KafkaDouble() as kafka:
        kafka.create_topic("orders")
        kafka.produce_all("orders", ["a" * 1000] * 3000)
        first = kafka.snapshot()
        kafka.produce_all("orders", ["b" * 1000] * 500)
        second = kafka.snapshot()
        kafka.restore(first)
        kafka.produce_all("orders", ["c" * 1000] * 500)
        third = kafka.snapshot()
        for snapshot, last in ((second, b"b"), (first, b"a"), (third, b"c"), (second, b"b")):
            kafka.restore(snapshot)
            found = values(kafka)
            assert len(found) == (3000 if last == b"a" else 3500)
            assert found[:3000] == [b"a" * 1000] * 3000
            assert found[-1] == last * 1000


def test_connections_are_closed_and_new_ones_served(kafka: KafkaDouble) -> None:
    snapshot = kafka.snapshot()
    with socket.create_connection(("127.0.0.1", kafka.port), timeout=TIMEOUT_S) as sock:
        ask(("127.0.0.1", kafka.port), MetadataRequest(topics=None), 9)
        kafka.restore(snapshot)
        assert sock.recv(1) == b""
    response = ask(("127.0.0.1", kafka.port), MetadataRequest(topics=None), 9)
    assert [topic.name for topic in response.topics] == ["orders"]


def test_a_snapshot_outlives_stop_and_start(kafka: KafkaDouble) -> None:
    kafka.produce("orders", "a", partition=0)
    snapshot = kafka.snapshot()
    kafka.produce("orders", "b", partition=0)
    kafka.stop()
    kafka.start()
    kafka.restore(snapshot)
    assert values(kafka) == [b"a"]
    kafka.stop()
    assert "1 topic, 1 record" in repr(snapshot)
    with pytest.raises(UsageError, match="the double was stopped"):
        kafka.restore(snapshot)


@pytest.mark.parametrize("in_files", [False, True], ids=["in memory", "in files"])
def test_restored_data_survives_an_outage_and_a_restart(tmp_path: Path, in_files: bool) -> None:
    """Over an outage and, in files, over a stop and a start; the same in another double."""
    where = tmp_path / "one" if in_files else None
    with KafkaDouble(brokers=3, data_dir=where) as kafka:
        kafka.create_topic("orders", replication_factor=3)
        kafka.produce("orders", "a")
        snapshot = kafka.snapshot()
    other = tmp_path / "other" if in_files else None
    with KafkaDouble(brokers=3, data_dir=other) as kafka:
        cluster_id = kafka.describe_cluster().cluster_id
        kafka.restore(snapshot)
        assert kafka.produce("orders", "b") == 1
        kafka.down()
        kafka.up()
        assert values(kafka) == [b"a", b"b"]
        cluster = kafka._double_host.serving().broker
        assert {each.node.cluster_id for each in (cluster.controlling, *cluster.members)} == {cluster_id}
    if in_files:
        with KafkaDouble(brokers=3, data_dir=other) as kafka:
            assert values(kafka) == [b"a", b"b"]


@pytest.mark.parametrize("brokers", [1, 3])
def test_restores_leave_descriptors_threads_and_memory_flat(brokers: int) -> None:
    def open_files() -> int:
        return len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0

    def counts() -> tuple[int, int, int]:
        gc.collect()
        nodes = sum(type(each).__name__ in {"Node", "PartitionLog", "MemoryChunk"} for each in gc.get_objects())
        return open_files(), threading.active_count(), nodes

    with KafkaDouble(brokers=brokers, config=AT_THREE) as kafka:
        kafka.create_topic("orders", replication_factor=brokers)
        kafka.produce_all("orders", ["a" * 1000] * 1000)
        kafka.commit_offsets("g", {("orders", 0): 5})
        snapshot = kafka.snapshot()

        def restore(times: int) -> tuple[int, int, int]:
            for _ in range(times):
                kafka.restore(snapshot)
                kafka.produce("orders", "b")
            return counts()

        assert restore(2) == restore(5)
