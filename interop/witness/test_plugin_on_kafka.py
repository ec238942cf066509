"""The pytest plugin with --kafka-broker=local: the same tests on a double and on Apache Kafka."""

from __future__ import annotations

import pytest

from interop.witness.release import release

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
        kafka_double.create_partitions("orders", 3)
        kafka_double.set_topic_config("orders", {"retention.ms": 6000})
        assert kafka_double.delete_records("orders", 1, 1) == 1
        topic = kafka_double.topics()["orders"]
        assert topic.configs == {"retention.ms": "6000"} and len(topic.partitions) == 3

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
        kafka_double.move_leader("orders", 0, 1)
"""


@pytest.mark.parametrize(
    ("target", "outcomes"), [("double", {"passed": 6, "failed": 1}), ("local", {"passed": 6, "skipped": 1})]
)
def test_the_same_tests(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, target: str, outcomes: dict[str, int]
) -> None:
    if target == "local":
        # As an unpacked release: a folder `libs` with the jars.
        (pytester.path / "kafka").mkdir()
        (pytester.path / "kafka" / "libs").symlink_to(release())
        monkeypatch.setenv("KAFKA_HOME", str(pytester.path / "kafka"))
    pytester.makepyfile(SUITE)
    result = pytester.runpytest_subprocess(*ARGUMENTS, f"--kafka-broker={target}")
    result.assert_outcomes(**outcomes)
    if target == "local":
        result.stdout.fnmatch_lines(
            "*move_leader: only a double has that, and this is <Kafka at * by --kafka-broker=local>*"
        )


OWN = """
    import pytest
    from confluent_kafka.admin import AdminClient
    from kafkadouble import KafkaError, UsageError

    def names(kafka, user, **more):
        return set(AdminClient(kafka.client_config(user, **more)).list_topics(timeout=30).topics)

    def test_restart_and_kill(kafka_double):
        kafka_double.produce("orders", "one")
        kafka_double.down()
        assert not kafka_double.brokers[1].running
        kafka_double.up()
        kafka_double.brokers[1].pause()
        kafka_double.brokers[1].resume()
        kafka_double.brokers[1].kill()
        kafka_double.brokers[1].start()
        assert [each.value for each in kafka_double.wait_for_records("orders")] == [b"one"]
        with pytest.raises(UsageError, match="there is no broker 2: ids are 1"):
            kafka_double.brokers[2]

    def test_is_up_again_after_a_test_that_left_it_down(kafka_double):
        kafka_double.down()

    def test_is_up(kafka_double):
        assert kafka_double.topics() == {}

    @pytest.mark.kafka_double(config={"num.partitions": 3}, listeners={"INTERNAL": 0, "EXTERNAL": 0})
    def test_settings(kafka_double):
        kafka_double.produce("orders", "one")
        assert len(kafka_double.end_offsets("orders")) == 3
        assert kafka_double.bootstrap("INTERNAL") != kafka_double.bootstrap("EXTERNAL")
        found = AdminClient(kafka_double.client_config(listener="EXTERNAL")).list_topics(timeout=30)
        assert "orders" in found.topics

    @pytest.mark.kafka_double(
        security="SASL_SSL",
        users={"alice": "secret", "bob": "other"},
        acls=["User:alice allow DESCRIBE topic:orders"],
        super_users=["User:bob"],
    )
    class TestSecured:
        @pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
        def test_rights(self, kafka_double, mechanism):
            kafka_double.create_topic("orders")
            kafka_double.create_topic("payments")
            assert names(kafka_double, "alice", mechanism=mechanism) == {"orders"}
            assert {"orders", "payments"} <= names(kafka_double, "bob", mechanism=mechanism)
            kafka_double.create_acls(["User:alice allow DESCRIBE topic:payments"])
            assert names(kafka_double, "alice", mechanism=mechanism) == {"orders", "payments"}

        def test_acls_of_another_test_have_ended(self, kafka_double):
            assert kafka_double.acls == ["User:alice allow DESCRIBE topic:orders"]

    @pytest.mark.kafka_double(security="SSL")
    def test_certificates(kafka_double):
        kafka_double.create_topic("orders")
        assert "orders" in names(kafka_double, "alice")
        kafka_double.set_certificate("expired")

    @pytest.fixture(scope="module")
    def cluster(kafka_double_factory):
        with kafka_double_factory(config={"num.partitions": 2}, brokers=1) as kafka:
            kafka.create_topic("orders")
            yield kafka

    def test_changes_a_kafka_of_the_factory(cluster):
        cluster.set_quota(client_id="shop", producer_byte_rate=1)
        cluster.down()

    def test_meets_it_as_it_was(cluster):
        assert "orders" in cluster.topics()
        assert cluster.produce("more", "one") == 0
        assert len(cluster.end_offsets("more")) == 2

    def test_of_three_brokers(kafka_double_factory):
        kafka_double_factory(brokers=3)

    @pytest.mark.kafka_double(config={"log.flush.bad": 1})
    def test_wrong_setting(kafka_double):
        pass
"""


def test_a_kafka_of_this_machine_has_settings_and_a_process(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(OWN)
    arguments = (*ARGUMENTS, "--kafka-broker=local", f"--kafka-home={release()}")
    result = pytester.runpytest_subprocess(*arguments)
    result.assert_outcomes(passed=11, skipped=1, errors=1)
    result.stdout.fnmatch_lines("*--kafka-broker=local: *log.flush.bad*")
    result.stdout.fnmatch_lines("*kafka_double_factory(brokers): only a double*")


def test_the_settings_of_a_run_are_those_of_a_kafka_of_this_machine(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_partitions(kafka_double):
            kafka_double.produce("orders", "one")
            assert len(kafka_double.end_offsets("orders")) == 3
        """
    )
    own = ("--kafka-broker=local", f"--kafka-home={release()}", "--kafkadouble-config=num.partitions=3")
    pytester.runpytest_subprocess(*ARGUMENTS, *own).assert_outcomes(passed=1)
