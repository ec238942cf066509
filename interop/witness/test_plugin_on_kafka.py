"""The pytest plugin with --kafka-broker=local: the same tests on a double and on Apache Kafka."""

from __future__ import annotations

from pathlib import Path

import pytest

from interop.local import Missing, jars

pytest_plugins = ["pytester"]

ARGUMENTS = ("-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "error", "-rs")

SUITE = """
    import pytest
    from confluent_kafka import Consumer, Producer, ShareConsumer
    from kafkadouble import KafkaError

    @pytest.mark.parametrize("number", range(2))
    def test_orders(kafka_double, number):
        kafka_double.create_topic("orders", partitions=2, config={"retention.ms": 5000})
        with pytest.raises(KafkaError, match="TOPIC_ALREADY_EXISTS"):
            kafka_double.create_topic("orders")
        producer = Producer({"bootstrap.servers": kafka_double.bootstrap_servers})
        producer.produce("orders", "two pears", partition=1)
        producer.flush()
        assert kafka_double.produce("orders", "a plum", key="42", headers={"a": "b"}, partition=1) == 1
        found = kafka_double.wait_for_records("orders", 2)
        assert [(each.offset, each.value) for each in found] == [(0, b"two pears"), (1, b"a plum")]
        assert kafka_double.records("orders", 0) == []

    def test_transaction(kafka_double, kafka_namespace):
        kafka_double.create_topic("orders")
        settings = {"transactional.id": kafka_namespace("shop")}
        producer = Producer({"bootstrap.servers": kafka_double.bootstrap_servers, **settings})
        producer.init_transactions(60)
        for end in (producer.abort_transaction, producer.commit_transaction):
            producer.begin_transaction()
            producer.produce("orders", end.__name__)
            producer.flush()
            end(60)
        (committed,) = kafka_double.wait_for_records("orders", isolation="read_committed")
        assert committed.value == b"commit_transaction"
        assert len(kafka_double.records("orders")) == 2

    @pytest.mark.parametrize("number", range(2))
    def test_group(kafka_double, number):
        kafka_double.create_topic("orders")
        kafka_double.produce("orders", "two pears")
        assert kafka_double.groups() == {}
        settings = {"group.id": "shop", "auto.offset.reset": "earliest", "enable.auto.commit": False}
        consumer = Consumer({"bootstrap.servers": kafka_double.bootstrap_servers, **settings})
        consumer.subscribe(["orders"])
        assert consumer.poll(60).value() == b"two pears"
        with pytest.raises(TimeoutError, match="a lag of 1; without a committed offset: orders-0"):
            kafka_double.wait_for_group("shop", lag=0, timeout=0)
        consumer.commit(asynchronous=False)
        group = kafka_double.wait_for_group("shop", "Stable", members=1, lag=0)
        assert group.offsets["orders", 0].offset == 1
        assert group.members[0].assignment == (("orders", 0),)
        consumer.close()
        kafka_double.wait_for_group("shop", "Empty")

    def test_share_group(kafka_double):
        kafka_double.create_topic("orders")
        till = ShareConsumer({"bootstrap.servers": kafka_double.bootstrap_servers, "group.id": "tills"})
        till.subscribe(["orders"])
        found = []
        while not found:
            kafka_double.produce("orders", "two pears")
            found = till.poll(1)
        till.commit_sync(10)
        assert found[0].value() == b"two pears"
        group = kafka_double.groups()["tills"]
        assert (group.type, group.members[0].assignment) == ("share", (("orders", 0),))
        till.close()

    def test_of_a_double(kafka_double):
        kafka_double.isr("none", 0)
"""


@pytest.mark.parametrize(
    ("target", "outcomes"), [("double", {"passed": 6, "failed": 1}), ("local", {"passed": 6, "skipped": 1})]
)
def test_the_same_tests(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, target: str, outcomes: dict[str, int]
) -> None:
    if target == "local":
        monkeypatch.setenv("KAFKA_HOME", str(_release(pytester.path)))
    pytester.makepyfile(SUITE)
    result = pytester.runpytest_subprocess(*ARGUMENTS, f"--kafka-broker={target}")
    result.assert_outcomes(**outcomes)
    if target == "local":
        result.stdout.fnmatch_lines("*isr: only a double has that, and this run is for --kafka-broker=local*")


def _release(folder: Path) -> Path:
    """A folder as that of an unpacked release."""
    try:
        (jar, *_) = jars()
    except Missing as reason:
        pytest.skip(str(reason))
    (folder / "kafka").mkdir()
    (folder / "kafka" / "libs").symlink_to(jar.parent)
    return folder / "kafka"
