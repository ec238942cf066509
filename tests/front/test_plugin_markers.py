"""The marker and the settings of the pytest plugin, and what it reports, by running suites."""

from __future__ import annotations

import pytest

from tests.front.plugin_suites import ARGUMENTS, run

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("broker_imported")


def test_a_marker_gives_the_arguments_of_one_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from confluent_kafka.admin import AdminClient

        pytestmark = pytest.mark.kafka_double(config={"num.partitions": 7}, seed=1)

        @pytest.mark.kafka_double(brokers=3, stepped=True, listeners={"INTERNAL": 0, "EXTERNAL": 0})
        def test_cluster(kafka_double):
            kafka_double.advance(1)
            assert len(kafka_double.bootstrap("EXTERNAL").split(",")) == 3

        @pytest.mark.kafka_double(data_dir=True, capture=True)
        def test_files(kafka_double, tmp_path):
            AdminClient({"bootstrap.servers": kafka_double.bootstrap_servers}).list_topics(timeout=30)
            kafka_double.produce("orders", "two pears")
            assert len(list((tmp_path / "data_dir").glob("orders-*"))) == 7
            kafka_double.stop()
            assert list((tmp_path / "capture").iterdir())

        class TestMarked:
            pytestmark = pytest.mark.kafka_double(brokers=2)

            def test_of_the_class(self, kafka_double):
                assert len(kafka_double.brokers) == 2

            @pytest.mark.kafka_double(brokers=1)
            def test_of_its_own(self, kafka_double):
                assert "," not in kafka_double.bootstrap_servers
        """
    )
    run(pytester, process=True, passed=4)


def test_users_and_rights_of_the_run_and_of_a_test(pytester: pytest.Pytester) -> None:
    pytester.makeini(
        """
        [pytest]
        kafkadouble_security = SASL_PLAINTEXT
        kafkadouble_users =
            alice:secret
        kafkadouble_acls =
            User:alice allow DESCRIBE topic:orders
        """
    )
    pytester.makepyfile(
        """
        import pytest
        from confluent_kafka.admin import AdminClient

        def topics(kafka, user):
            kafka.create_topic("orders")
            kafka.create_topic("payments")
            return set(AdminClient(kafka.client_config(user)).list_topics(timeout=30).topics)

        def test_of_the_run(kafka_double):
            assert topics(kafka_double, "alice") == {"orders"}

        @pytest.mark.kafka_double(security="SASL_SSL", users={"bob": "other"}, acls=[], super_users=["User:bob"])
        def test_of_its_own(kafka_double):
            assert topics(kafka_double, "bob") == {"orders", "payments"}
        """
    )
    run(pytester, process=True, passed=2)


@pytest.mark.parametrize("isolation", ["fresh", "reset", "namespace", "none"])
def test_a_marked_test_has_its_own_broker(pytester: pytest.Pytester, isolation: str) -> None:
    pytester.makepyfile(
        """
        import pytest

        def test_shared(kafka_double):
            kafka_double.create_topic("orders")

        @pytest.mark.kafka_double(stepped=True)
        def test_own(kafka_double):
            kafka_double.create_topic("orders")
            kafka_double.advance(1)
        """
    )
    run(pytester, f"--kafkadouble-isolation={isolation}", passed=2)


@pytest.mark.parametrize(
    ("marker", "problem"),
    [
        ("broker=3", "*has no argument 'broker': did you mean 'brokers'?*"),
        ("zzz=3", "*has no argument 'zzz': it takes brokers, config,*"),
        ("3", "*takes keywords, not 3*"),
        ("brokers=0", "*brokers is 0: there is one at least*"),
    ],
)
def test_a_wrong_marker_is_refused(pytester: pytest.Pytester, marker: str, problem: str) -> None:
    pytester.makepyfile(
        f"""
        import pytest

        @pytest.mark.kafka_double({marker})
        def test_wrong(kafka_double):
            pass
        """
    )
    run(pytester, errors=1).stdout.fnmatch_lines(problem)


def test_the_ini_file_has_the_same_settings(pytester: pytest.Pytester) -> None:
    pytester.makeini(
        """
        [pytest]
        kafkadouble_stepped = true
        kafkadouble_data_dir = true
        kafkadouble_capture = seen
        kafkadouble_listeners =
            INTERNAL
            EXTERNAL = 0
        """
    )
    pytester.makepyfile(
        """
        from confluent_kafka.admin import AdminClient

        def test_all(kafka_double, tmp_path, kafka_double_factory):
            kafka_double.advance(1)
            AdminClient({"bootstrap.servers": kafka_double.bootstrap("INTERNAL")}).list_topics(timeout=30)
            assert kafka_double.bootstrap("EXTERNAL")
            kafka_double.create_topic("orders")
            assert (tmp_path / "data_dir" / "orders-0").is_dir()
            with kafka_double_factory() as other:
                other.create_topic("orders")
            with kafka_double_factory(data_dir=False, stepped=False) as other:
                other.create_topic("orders")
        """
    )
    run(pytester, passed=1)
    assert list((pytester.path / "seen").iterdir())


RULES = """
    import pytest

    def test_unused(kafka_double):
        kafka_double.fail("Produce", "NOT_LEADER_OR_FOLLOWER", topic="orders")

    def test_used(kafka_double):
        rule = kafka_double.fail("Metadata", "UNKNOWN_SERVER_ERROR")
        with pytest.raises(TimeoutError):
            kafka_double.wait_for_rule(rule, timeout=0)
        import socket
        with socket.create_connection(("127.0.0.1", kafka_double.port)) as sock:
            sock.sendall(bytes.fromhex("0000000e 0003 0001 00000007 0000 00000000"))
            kafka_double.wait_for_rule(rule)

    def test_without():
        pass
"""


def test_a_rule_that_matched_nothing_is_a_warning(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(RULES)
    result = run(pytester, "-W", "default", passed=3, warnings=1)
    result.stdout.fnmatch_lines("*UnusedRuleWarning: no request matched 1 fault rule: *fail Produce*")


def test_unused_rule_fails_its_test_with_strict_rules(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(RULES)
    result = run(pytester, "--kafkadouble-strict-rules", passed=2, failed=1)
    result.stdout.fnmatch_lines("*no request matched 1 fault rule: *")
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.kafka_double(strict_rules=False)
        @pytest.mark.filterwarnings("ignore::kafkadouble.pytest_plugin.UnusedRuleWarning")
        def test_lenient(kafka_double):
            kafka_double.fail("Produce", "NOT_LEADER_OR_FOLLOWER")

        def test_strict(kafka_double):
            kafka_double.fail("Produce", "NOT_LEADER_OR_FOLLOWER")
        """
    )
    run(pytester, "--kafkadouble-strict-rules", passed=1, failed=1)


def test_the_fixture_may_have_another_name_too(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture
        def broker(kafka_double):
            return kafka_double

        def test_strict(broker):
            broker.fail("Produce", "NOT_LEADER_OR_FOLLOWER")

        def test_fails(broker):
            assert broker.records("orders") == []
        """
    )
    result = run(pytester, "--kafkadouble-strict-rules", failed=2)
    result.stdout.fnmatch_lines("*no request matched 1 fault rule: *")
    assert result.stdout.str().count("fail Produce with NOT_LEADER_OR_FOLLOWER") == 1


def test_plugin_report_of_a_failed_test_shows_its_requests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest
        from confluent_kafka import Consumer, Producer

        @pytest.fixture
        def cluster(kafka_double_factory):
            with kafka_double_factory(brokers=2) as kafka:
                yield kafka

        def test_fails(kafka_double, cluster):
            kafka_double.fail("OffsetFetch", "NOT_COORDINATOR")
            producer = Producer({"log_level": 0, "bootstrap.servers": kafka_double.bootstrap_servers, "client.id": "shop"})
            producer.produce("orders", "two pears")
            producer.flush()
            consumer = Consumer({"log_level": 0, "bootstrap.servers": kafka_double.bootstrap_servers, "group.id": "shop"})
            consumer.close()
            assert kafka_double.records("orders") == []

        def test_stopped(kafka_double):
            kafka_double.stop()
            assert False
        """
    )
    result = run(pytester, process=True, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*kafkadouble: the last requests (kafka_double)*",
            "*Produce v* of 'shop' at broker 1, orders-0, 1 record in * bytes, answered*",
            "*kafkadouble: fault rules (kafka_double)*",
            "*matched no request: *OffsetFetch*",
            "*test_stopped*",
            "*the double was stopped*",
        ]
    )


def test_a_traceback_ends_at_the_line_of_the_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_unknown(kafka_double):
            kafka_double.leader("orders", 0)

        def test_late(kafka_double):
            kafka_double.wait_for_records("orders", timeout=0)

        def test_function(kafka_double):
            def decode(record):
                return 1 / 0
            kafka_double.produce("orders", "two pears")
            kafka_double.wait_for_records("orders", where=decode)
        """
    )
    result = run(pytester, failed=3)
    shown = result.stdout.str()
    assert "double.py" not in shown
    result.stdout.fnmatch_lines(["*kafka_double.leader(*", "*KafkaError: UNKNOWN_TOPIC_OR_PARTITION*"])
    result.stdout.fnmatch_lines(["*TimeoutError: 1 record of orders: not within 0 s*"])
    result.stdout.fnmatch_lines(["*return 1 / 0*", "*ZeroDivisionError*"])
    full = pytester.runpytest_inprocess(*ARGUMENTS, "--full-trace", "-k", "unknown").stdout.str()
    assert "placement.py" in full


def test_a_test_may_be_a_coroutine(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import asyncio
        import inspect

        def pytest_pyfunc_call(pyfuncitem):
            if inspect.iscoroutinefunction(pyfuncitem.obj):
                names = inspect.signature(pyfuncitem.obj).parameters
                asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
                return True
        """
    )
    pytester.makepyfile(
        """
        import asyncio

        async def test_waits(kafka_double):
            waiting = asyncio.ensure_future(kafka_double.aio.wait_for_records("orders", 2))
            for value in ("one", "two"):
                kafka_double.produce("orders", value)
            assert [record.value for record in await waiting] == [b"one", b"two"]

        async def test_fails(kafka_double):
            await kafka_double.aio.wait_for_topic("orders", timeout=0)
        """
    )
    result = run(pytester, passed=1, failed=1)
    result.stdout.fnmatch_lines("*TimeoutError: the topic orders: not within 0 s. There is: *")
