"""The pytest plugin, by running suites that use it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkadouble.pytest_plugin.options import ISOLATIONS, MARKED, OPTIONS
from tests.front.plugin_suites import ARGUMENTS, run

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.usefixtures("broker_imported")


@pytest.fixture
def suite(pytester: pytest.Pytester) -> pytest.Pytester:
    """A suite whose tests would see each other's topics if nothing kept them apart."""
    pytester.makepyfile(
        """
        import pytest
        from kafkadouble import KafkaError

        @pytest.mark.parametrize("number", range(4))
        def test_alone(kafka_double, number):
            kafka_double.create_topic("orders")
            assert kafka_double.produce("orders", "x") == 0
        """
    )
    return pytester


def test_plugin_gives_each_test_an_empty_broker(suite: pytest.Pytester) -> None:
    run(suite, passed=4)


def test_plugin_gives_each_test_a_port_of_its_own_and_closes_it(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import socket
        import pytest
        from kafkadouble import KafkaDouble

        left = []

        @pytest.mark.parametrize("number", range(3))
        def test_port(kafka_double, number, monkeypatch):
            for earlier in left:
                assert earlier != kafka_double.port
                with pytest.raises(ConnectionRefusedError):
                    socket.create_connection(("127.0.0.1", earlier))
            left.append(kafka_double.port)

        def test_a_port_that_the_system_gives_again(request, monkeypatch):
            start = KafkaDouble.start
            again = iter([*left, 0])
            monkeypatch.setattr(KafkaDouble, "start", lambda double: start(double if double._double_host.running else moved(double)))

            def moved(double):
                (clients, *others), *nodes = double._double_host.nodes
                bound = clients._replace(bind=("127.0.0.1", next(again)))
                double._double_host.nodes = [(bound, *others), *nodes]
                return double

            assert request.getfixturevalue("kafka_double").port not in left
            assert next(again, None) is None
        """
    )
    run(pytester, passed=4)


def test_plugin_under_xdist_starts_a_double_for_each_worker(suite: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    suite.makepyfile(
        test_ports="""
        import os, pytest

        @pytest.mark.parametrize("number", range(6))
        def test_port(kafka_double, number):
            with open("ports.txt", "a") as file:
                print(os.environ["PYTEST_XDIST_WORKER"], kafka_double.port, file=file)
        """
    )
    run(suite, "--dist=each", "--tx=2*popen", process=True, passed=20)
    lines = {tuple(line.split()) for line in (suite.path / "ports.txt").read_text().splitlines()}
    # New in its own process: the system may give a port again that the other worker has closed.
    assert (len({worker for worker, _ in lines}), len(lines)) == (2, 12)


def test_the_option_overrides_the_ini_file(suite: pytest.Pytester) -> None:
    suite.makeini("[pytest]\nkafkadouble_isolation = none")
    run(suite, passed=1, failed=3)
    run(suite, "--kafkadouble-isolation=fresh", passed=4)


def test_plugin_isolation_namespace_gives_topic_names_per_test(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nkafkadouble_isolation = namespace")
    pytester.makepyfile(
        """
        import pytest

        ports, names = set(), set()

        @pytest.mark.parametrize("number", [1, "a b/c", "x" * 300])
        def test_own_names(kafka_double, kafka_namespace, number):
            topic = kafka_namespace("orders")
            assert topic == kafka_namespace("orders") != kafka_namespace("payments")
            assert topic.endswith("-orders")
            kafka_double.create_topic(topic)
            names.add(topic)
            ports.add(kafka_double.port)

        def test_afterwards(kafka_double, kafka_double_session):
            assert kafka_double is kafka_double_session
            assert (len(names), len(ports)) == (3, 1)
            for name in names:
                assert kafka_double.records(name) == []
        """
    )
    run(pytester, passed=4)


def test_a_test_that_runs_again_gets_another_namespace(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        from _pytest.runner import runtestprotocol

        def pytest_runtest_protocol(item, nextitem):
            for _ in range(2):
                for report in runtestprotocol(item, nextitem=None, log=False):
                    item.ihook.pytest_runtest_logreport(report=report)
            return True
        """
    )
    pytester.makepyfile(
        """
        names = []

        def test_again(kafka_namespace):
            names.append(kafka_namespace("t"))
            assert len(names) == len(set(names))
        """
    )
    run(pytester, passed=2)


def test_the_session_broker_is_not_reset(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.fixture(scope="module")
        def orders(kafka_double_session):
            kafka_double_session.create_topic("orders")
            return kafka_double_session

        @pytest.mark.parametrize("number", range(3))
        def test_both(orders, kafka_double, number):
            assert kafka_double is not orders
            assert orders.produce("orders", "x") == number
            kafka_double.create_topic("orders")
        """
    )
    run(pytester, passed=3)


def test_the_factory_takes_settings_and_serves_any_scope(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nkafkadouble_config =\n    num.partitions=3\n    auto.create.topics.enable=true")
    pytester.makepyfile(
        """
        import pytest

        started = []

        @pytest.fixture(scope="module")
        def two(kafka_double_factory):
            with kafka_double_factory(config={"num.partitions": 2}, stepped=True) as kafka:
                yield kafka

        def partitions(kafka):
            for _ in range(6):
                kafka.produce("new", "x")
            return len({record.partition for record in kafka.records("new")})

        def test_own_settings(two):
            two.advance(1)
            assert partitions(two) == 2

        def test_settings_of_the_run(kafka_double, kafka_double_factory):
            assert partitions(kafka_double) == 3
            started.append(kafka_double_factory())
            assert partitions(started[0]) == 3

        def test_it_runs_to_the_end_of_the_session(kafka_double):
            started[0].produce("new", "y")
        """
    )
    run(pytester, passed=3)
    run(pytester, "--kafkadouble-config", "num.partitions=4", passed=1, failed=2)


@pytest.mark.parametrize(
    ("ini", "problem"),
    [
        (
            "kafkadouble_isolation = sometimes",
            "*kafkadouble_isolation is fresh, reset, namespace, none, not 'sometimes'*",
        ),
        ("kafkadouble_config = num.partitions", "*kafkadouble_config: 'num.partitions' is not name=value*"),
        ("kafkadouble_listeners = EXTERNAL=many", "*kafkadouble_listeners: 'EXTERNAL=many' is not NAME or NAME=PORT*"),
        ("kafkadouble_config = num.partitons=1", "*unknown setting 'num.partitons'*did you mean 'num.partitions'*"),
    ],
)
def test_invalid_option_of_the_plugin_is_refused(suite: pytest.Pytester, ini: str, problem: str) -> None:
    suite.makeini(f"[pytest]\n{ini}")
    result = run(suite, errors=4)
    result.stdout.fnmatch_lines(problem)


def test_the_page_lists_the_options_and_isolations() -> None:
    page = (Path(__file__).parents[2] / "docs" / "pytest.md").read_text()
    rows = set(re.findall(r"^\| `([a-z_]+)`", page, re.MULTILINE))
    assert rows >= {*ISOLATIONS, *OPTIONS, *MARKED}
    assert rows >= {"kafka_double", "kafka_double_session", "kafka_double_factory", "kafka_namespace"}


def test_help_lists_the_options(pytester: pytest.Pytester) -> None:
    help_text = pytester.runpytest_inprocess("--help").stdout.str()
    for name, option in OPTIONS.items():
        assert f"--{name.replace('_', '-')}" in help_text
        assert f"{name} ({option.ini_type})" in help_text
    assert "kafka_double_factory" in pytester.runpytest_inprocess("--fixtures").stdout.str()


def test_plugin_without_a_fixture_imports_no_server(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_nothing():
            assert not [name for name in sys.modules if name.startswith("kafkadouble.server")]
        """
    )
    run(pytester, process=True, passed=1)


def test_pytest_does_not_rewrite_the_server(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import sys

        def test_it(kafka_double):
            kafka_double.create_topic("orders")
            loaders = {name: type(each.__loader__).__name__ for name, each in sys.modules.items() if "kafkadouble." in name}
            rewritten = [name for name, loader in loaders.items() if loader == "AssertionRewritingHook"]
            assert "kafkadouble.server.node" in loaders
            lazily = {"kafkadouble.common", "kafkadouble.common.on_first_use"}
            assert [name for name in rewritten if not name.startswith("kafkadouble.pytest_plugin") and name not in lazily] == []
        """
    )
    run(pytester, process=True, passed=1)


def test_fixtures_have_several_brokers(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_three(kafka_double):
            kafka_double.create_topic("orders", replication_factor=3)
            kafka_double.brokers[1].kill()
            kafka_double.reset()
            assert all(broker.running for broker in kafka_double.brokers.values())

        def test_two(kafka_double_factory):
            assert len(kafka_double_factory(brokers=2).brokers) == 2
        """
    )
    run(pytester, "--kafkadouble-brokers=3", process=True, passed=2)
    wrong = pytester.runpytest_inprocess(*ARGUMENTS, "--kafkadouble-brokers=few")
    wrong.stdout.fnmatch_lines(["*kafkadouble_brokers is a number from 1 on, not 'few'*"])
