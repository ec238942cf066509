"""--kafka-broker: the same tests on a double and on a Kafka that runs elsewhere."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.pytest_plugin.external_kafka import ExternalKafka

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("broker_imported")

ARGUMENTS = ("-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", "error")

SUITE = """
    import pytest
    from confluent_kafka import Consumer, Producer
    from kafkadouble import KafkaError

    @pytest.mark.parametrize("number", range(2))
    def test_orders(kafka_double, number):
        kafka_double.create_topic("orders", partitions=2)
        with pytest.raises(KafkaError, match="TOPIC_ALREADY_EXISTS"):
            kafka_double.create_topic("orders")
        producer = Producer({"log_level": 0, "bootstrap.servers": kafka_double.bootstrap_servers})
        producer.produce("orders", "from a client", partition=1)
        producer.flush()
        assert kafka_double.produce("orders", "two pears", key="42", headers={"a": "b"}, partition=0, timestamp=5) == 0
        found = kafka_double.wait_for_records("orders", 2)
        assert [(each.partition, each.offset, each.value) for each in found] == [
            (0, 0, b"two pears"), (1, 0, b"from a client"),
        ]
        assert found[0].key == b"42" and found[0].headers == (("a", b"b"),) and found[0].timestamp == 5
        assert kafka_double.records("orders", 1) == found[1:]
        with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION"):
            kafka_double.records("none")
        with pytest.raises(TimeoutError, match="3 records of orders"):
            kafka_double.wait_for_records("orders", 3, timeout=0)

    @pytest.mark.parametrize("number", range(2))
    def test_group(kafka_double, kafka_namespace, number):
        shop = kafka_namespace("shop")
        kafka_double.create_topic("orders")
        for value in ("one", "two"):
            kafka_double.produce("orders", value)
        assert kafka_double.groups() == {}
        settings = {"group.id": shop, "auto.offset.reset": "earliest", "enable.auto.commit": False}
        consumer = Consumer({"log_level": 0, "bootstrap.servers": kafka_double.bootstrap_servers, **settings})
        consumer.subscribe(["orders"])
        assert [consumer.poll(30).value() for _ in range(2)] == [b"one", b"two"]
        with pytest.raises(TimeoutError, match="a lag of 2; without a committed offset: orders-0"):
            kafka_double.wait_for_group(shop, lag=0, timeout=0)
        consumer.commit(asynchronous=False)
        assert kafka_double.wait_for_group(shop, "Stable", members=1, lag=0).offsets["orders", 0].offset == 2
        consumer.close()
        kafka_double.wait_for_group(shop, "Empty")

    def test_of_a_double(kafka_double):
        kafka_double.fail("Produce", "NOT_LEADER_OR_FOLLOWER")

    @pytest.mark.kafka_double(stepped=True)
    def test_of_a_stepped_double(kafka_double):
        kafka_double.advance(1)

    def test_misspelt(kafka_double):
        with pytest.raises(AttributeError):
            kafka_double.fial
"""


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble() as kafka:
        yield kafka


def test_a_real_kafka_takes_the_same_arguments() -> None:
    shared = [name for name in vars(ExternalKafka) if not name.startswith("_") and hasattr(KafkaDouble, name)]
    assert {"create_topic", "produce", "records", "groups", "wait_for_records", "wait_for_group"} <= set(shared)
    for name in shared:
        if callable(of_double := getattr(KafkaDouble, name)):
            assert inspect.signature(getattr(ExternalKafka, name)) == inspect.signature(of_double), name


def run(pytester: pytest.Pytester, *arguments: str, **outcomes: int) -> pytest.RunResult:
    """The outcome of the suite, in a process of its own: it imports the client of the plugin."""
    result = pytester.runpytest_subprocess(*ARGUMENTS, "-rs", *arguments)
    result.assert_outcomes(**outcomes)
    return result


def test_the_suite_on_a_double(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SUITE)
    run(pytester, "-W", "default", passed=7, warnings=1)


def test_the_suite_on_a_kafka_that_runs(pytester: pytest.Pytester, kafka: KafkaDouble) -> None:
    kafka.create_topic("another")
    pytester.makepyfile(
        SUITE.replace("assert kafka_double.groups() == {}", ""),
        test_of_topics="""
        def test_topics(kafka_double):
            assert kafka_double.produce("another", "into a topic of others") == 0
            assert kafka_double.produce("made_by_a_record", "new") == 0
        """,
    )
    result = run(pytester, f"--kafka-broker={kafka.bootstrap_servers}", passed=6, skipped=2)
    result.stdout.fnmatch_lines_random(
        ["*fail: only a double has that, and this run is for --kafka-broker=127*", "*stepped: only a double has that*"]
    )
    assert len(kafka.records("another")) == 1  # and what the tests created is deleted
    deleted = {topic.name for seen in kafka.requests.of("DeleteTopics") for topic in seen.body.topics}
    assert deleted == {"orders", "made_by_a_record"}


CONTAINER = """
    import sys
    from types import ModuleType

    class KafkaContainer:
        \"\"\"The part of testcontainers that the plugin uses.\"\"\"

        def with_kraft(self):
            return self

        def __enter__(self):
            print("CONTAINER BEGINS")
            return self

        def __exit__(self, *exc):
            print("CONTAINER ENDS")

        def get_bootstrap_server(self):
            return "ADDRESS"

    sys.modules["testcontainers"] = ModuleType("testcontainers")
    sys.modules["testcontainers.kafka"] = module = ModuleType("testcontainers.kafka")
    module.KafkaContainer = KafkaContainer
"""


def test_a_container_is_started_once(pytester: pytest.Pytester, kafka: KafkaDouble) -> None:
    pytester.makeconftest(CONTAINER.replace("ADDRESS", kafka.bootstrap_servers))
    pytester.makepyfile(SUITE)
    shown = run(pytester, "--kafka-broker=container", "-s", passed=5, skipped=2).stdout.str()
    assert (shown.count("CONTAINER BEGINS"), shown.count("CONTAINER ENDS")) == (1, 1)
    assert kafka.groups() == {}  # nothing is left for the next test


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("container", "*--kafka-broker=container needs testcontainers: pip install testcontainers*"),
        ("local", "*KAFKA_HOME is the folder of an unpacked Kafka, not ''*"),
        ("kafka", "*kafka_broker is double, local, container or HOST:PORT, not 'kafka'*"),
        ("127.0.0.1:1", "*--kafka-broker=127.0.0.1:1: no Kafka answers at 127.0.0.1:1: *refused*"),
    ],
)
def test_what_is_missing_is_named_once(
    pytester: pytest.Pytester, target: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KAFKA_HOME", raising=False)
    pytester.makeconftest(
        """
        import sys
        from kafkadouble.pytest_plugin import external_kafka

        sys.modules["testcontainers"] = None
        external_kafka.ANSWERS_MS = 100
        """
    )
    pytester.makepyfile("def test_one(kafka_double): pass\n\ndef test_two(kafka_double): pass")
    run(pytester, f"--kafka-broker={target}", errors=1).stdout.fnmatch_lines(problem)


def test_no_test_runs_on_a_double_that_should_meet_a_real_kafka(pytester: pytest.Pytester, kafka: KafkaDouble) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="module")
        def cluster(kafka_double_factory):
            with kafka_double_factory(brokers=3) as kafka:
                yield kafka

        def test_of_a_cluster(cluster):
            cluster.create_topic("orders")

        def test_of_the_session(kafka_double_session):
            kafka_double_session.create_topic("orders")
        """
    )
    result = run(pytester, f"--kafka-broker={kafka.bootstrap_servers}", skipped=2)
    result.stdout.fnmatch_lines_random(
        [
            f"*{name}: only a double has that, and this run is*"
            for name in ("kafka_double_factory", "kafka_double_session")
        ]
    )
