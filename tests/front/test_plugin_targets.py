"""--kafka-broker: the same tests on a double and on a Kafka that runs elsewhere."""

from __future__ import annotations

import inspect
from textwrap import dedent

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.external.local.own_kafka import OwnKafka
from kafkadouble.external.polling import PolledAsyncWaits
from kafkadouble.external.real_kafka import RealKafka
from kafkadouble.external.remote.served import ANY_KAFKA, ONLY_ON_DOUBLE, OWN_KAFKA
from kafkadouble.verbs.async_waits import AsyncWaits
from tests.front import plugin_suites

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("broker_imported")

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
        with pytest.raises(AttributeError, match="has no attribute 'fial'"):
            kafka_double.fial

    def test_asked_for(kafka_double):
        assert hasattr(kafka_double, "fail") == (not kafka_double.is_real)
        assert hasattr(kafka_double, "create_topic")
"""


def public(of: type) -> set[str]:
    return {name for name in dir(of) if not name.startswith("_")}


def test_each_attribute_of_a_double_is_decided_for_a_real_kafka() -> None:
    decided = [*ANY_KAFKA, *OWN_KAFKA, *ONLY_ON_DOUBLE]
    assert len(decided) == len(set(decided))
    assert public(KafkaDouble) == set(decided)


@pytest.mark.parametrize(("kind", "names"), [(RealKafka, ANY_KAFKA), (OwnKafka, (*ANY_KAFKA, *OWN_KAFKA))])
def test_a_real_kafka_takes_the_same_arguments(kind: type, names: tuple[str, ...]) -> None:
    for name in names:
        of_double, of_kafka = (inspect.getattr_static(each, name) for each in (KafkaDouble, kind))
        assert callable(of_double) == callable(of_kafka), name
        if callable(of_double):
            assert inspect.signature(of_kafka) == inspect.signature(of_double), name


def test_waits_as_coroutines_are_decided_as_the_waits_are() -> None:
    served = {name for name in public(AsyncWaits) if hasattr(PolledAsyncWaits(None), name)}
    assert served == public(AsyncWaits) & set(ANY_KAFKA)


def run(pytester: pytest.Pytester, *arguments: str, **outcomes: int) -> pytest.RunResult:
    """The outcome of the suite, in a process of its own: it imports the client of the plugin."""
    return plugin_suites.run(pytester, "-rs", *arguments, process=True, **outcomes)


def test_the_suite_on_a_double(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(SUITE)
    run(pytester, "-W", "default", passed=8, warnings=1)


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
    result = run(pytester, f"--kafka-broker={kafka.bootstrap_servers}", passed=7, skipped=2)
    line = next(number for number, text in enumerate(dedent(SUITE).splitlines()) if "fail(" in text)
    result.stdout.fnmatch_lines_random(
        [
            f"*test_the_suite_on_a_kafka_that_runs.py:{line}: fail: only a double has that, and this is <Kafka at 127*",
            "*test_the_suite_on_a_kafka_that_runs.py:*: stepped: only a double has that*",
        ]
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
    shown = run(pytester, "--kafka-broker=container", "-s", passed=6, skipped=2).stdout.str()
    assert (shown.count("CONTAINER BEGINS"), shown.count("CONTAINER ENDS")) == (1, 1)
    assert kafka.groups() == {}  # nothing is left for the next test


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("container", "*--kafka-broker=container needs testcontainers: pip install testcontainers*"),
        ("local", "*there is no Kafka in '': give --kafka-home or KAFKA_HOME the folder of an unpacked release*"),
        ("kafka", "*kafka_broker is double, local, container or HOST:PORT, not 'kafka'*"),
        ("127.0.0.1:1", "*--kafka-broker=127.0.0.1:1: no Kafka answers at 127.0.0.1:1: *refused*"),
    ],
)
def test_missing_target_of_the_plugin_is_named_once(
    pytester: pytest.Pytester, target: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KAFKA_HOME", raising=False)
    pytester.makeconftest(
        """
        import sys
        from kafkadouble.external.remote import connections

        sys.modules["testcontainers"] = None
        connections.ANSWER_MS = 100
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


VERBS = """
    import asyncio
    import pytest
    from confluent_kafka import Producer
    from kafkadouble import KafkaError

    def test_records(kafka_double):
        kafka_double.create_topic("orders", partitions=2, config={"max.message.bytes": 1000})
        assert kafka_double.produce_all("orders", [{"value": str(n), "partition": n % 2} for n in range(100)]) == 100
        assert kafka_double.end_offsets("orders") == {0: 50, 1: 50}
        assert [each.value for each in kafka_double.records("orders", 1)][:2] == [b"1", b"3"]
        topic = kafka_double.topics()["orders"]
        assert topic.configs == {"max.message.bytes": "1000"} and topic.partitions[0].high_watermark == 50
        assert kafka_double.leader("orders", 0) == 1 and kafka_double.isr("orders", 1) == [1]
        assert kafka_double.epochs("orders", 0) == {kafka_double.leader_epoch("orders", 0): 0}
        assert kafka_double.elect_leaders("orders") == {}
        with pytest.raises(KafkaError, match="MESSAGE_TOO_LARGE"):
            kafka_double.produce("orders", bytes(2000))

    def test_waits(kafka_double):
        async def waits():
            waiting = asyncio.ensure_future(kafka_double.aio.wait_for_records("orders", 2))
            await asyncio.to_thread(kafka_double.produce_all, "orders", ["one", "two"])
            assert [each.value for each in await waiting] == [b"one", b"two"]
            with pytest.raises(TimeoutError, match="the topic none: not within 0 s"):
                await kafka_double.aio.wait_for_topic("none", timeout=0)
        kafka_double.create_topic("orders")
        asyncio.run(waits())
        assert kafka_double.wait_for_leader("orders", 0) == 1
        kafka_double.wait_for_isr("orders", 0, [1])
        kafka_double.wait_for_broker(1)

    def test_offsets(kafka_double):
        kafka_double.create_topic("orders")
        kafka_double.produce_all("orders", ["one", "two"])
        kafka_double.commit_offsets("shop", {("orders", 0): 1})
        assert kafka_double.wait_for_group("shop", "Empty").lag == 1
        assert kafka_double.reset_offsets("shop", "orders", "latest") == {("orders", 0): 2}
        kafka_double.delete_group("shop")
        with pytest.raises(KafkaError, match="GROUP_ID_NOT_FOUND"):
            kafka_double.delete_group("shop")

    def test_transaction(kafka_double):
        kafka_double.create_topic("orders")
        producer = Producer({**kafka_double.client_config(), "transactional.id": "till"})
        producer.init_transactions(30)
        producer.begin_transaction()
        producer.produce("orders", "open")
        producer.flush()
        assert kafka_double.records("orders", isolation="read_committed") == []
        assert kafka_double.transactions()["till"].partitions == (("orders", 0),)
        producer.abort_transaction(30)
        kafka_double.wait_for_transaction("till", "CompleteAbort")
        assert len(kafka_double.records("orders")) == 1
        assert kafka_double.records("orders", isolation="read_committed") == []

    def test_quota_and_cluster(kafka_double):
        kafka_double.set_quota(client_id="shop", producer_byte_rate=1000)
        kafka_double.set_client_metrics("all", {"metrics": "*"})
        found = kafka_double.describe_cluster()
        assert found.brokers[1].state == "running" and found.bootstrap_servers == kafka_double.bootstrap_servers
        with pytest.raises(KafkaError, match="SECURITY_DISABLED"):
            kafka_double.acls
"""


@pytest.mark.parametrize("target", ["double", "HOST:PORT"])
def test_the_verbs_of_both_do_the_same(pytester: pytest.Pytester, kafka: KafkaDouble, target: str) -> None:
    pytester.makepyfile(VERBS)
    address = kafka.bootstrap_servers if target == "HOST:PORT" else target
    run(pytester, f"--kafka-broker={address}", passed=5)
    quotas = [kafka._double_host.call(lambda: kafka._double_host.serving().broker.image.quotas)]
    assert quotas == [{}]  # what a test set is brought back
    assert kafka.topics() == {}


def test_credentials_of_a_kafka_that_runs(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from confluent_kafka.admin import AdminClient
        from kafkadouble import UsageError

        def test_rights(kafka_double):
            kafka_double.create_topic("orders")
            kafka_double.create_acls(["User:bob allow READ topic:orders"])
            assert kafka_double.acls == ["User:bob allow READ topic:orders"]
            client = AdminClient(kafka_double.client_config("alice"))
            assert "orders" in client.list_topics(timeout=30).topics
            with pytest.raises(UsageError, match="user is 'bob': the settings that were given"):
                kafka_double.client_config("bob")
        """
    )
    with KafkaDouble(security="SASL_SSL", users={"alice": "secret"}, acls=[], super_users=["User:alice"]) as kafka:
        settings = kafka.client_config("alice", client="java")
        pytester.makefile(".properties", client="".join(f"{name}={value}\n" for name, value in settings.items()))
        arguments = f"--kafka-broker={kafka.bootstrap_servers}", "--kafka-client-config=client.properties"
        run(pytester, *arguments, passed=1)
        assert kafka.acls == []
    run(pytester, "--kafka-broker=127.0.0.1:1", "--kafka-client-config=none.properties", errors=1).stdout.fnmatch_lines(
        "*kafka_client_config: the client properties in *none.properties cannot be read*"
    )
