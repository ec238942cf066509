"""The pytest plugin: a broker for each test, for a session, or for any other scope.

    def test_orders(kafka_double):
        kafka_double.create_topic("orders")
        ...Producer({"bootstrap.servers": kafka_double.bootstrap_servers})

The server is imported when a fixture is first used. Every worker of pytest-xdist is a process with
its own brokers and ports. By default a test gets a new broker on a port that no earlier test of the
process used, and the port is closed after the test: a client that the test left open cannot join a
group of the next test, or take its records. With every isolation, and in doubles of every fixture,
what a test changed besides topics, records and groups ends with the test: fault rules, clock,
configs, quotas, ACLs, users, snapshots, and brokers that do not run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

from kafkadouble.common.on_first_use import OnFirstUse

from . import markers, options
from .isolation import ISOLATED, Factory, shared_external
from .markers import UnusedMarkerWarning
from .options import FRESH, ISOLATIONS, MARKER_HELP
from .real_arguments import skip_of_double
from .report import UnusedRuleWarning

if TYPE_CHECKING:
    from kafkadouble import KafkaDouble

    from . import known_doubles, report, targets
    from .targets import FactoryKafkas
else:  # a start waits for none of them
    known_doubles = OnFirstUse("kafkadouble.pytest_plugin.known_doubles")
    report = OnFirstUse("kafkadouble.pytest_plugin.report")
    targets = OnFirstUse("kafkadouble.pytest_plugin.targets")

__all__ = ["ISOLATIONS", "UnusedMarkerWarning", "UnusedRuleWarning"]

UNFIT = re.compile(r"[^a-zA-Z0-9._-]+")
LONGEST = 100
"""The longest prefix, in characters. It leaves room for the topic's own name: Kafka allows 249
characters."""

USED = pytest.StashKey[dict[str, int]]()
"""How often this process has used each prefix."""


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    _import_as_written(pluginmanager)
    options.add(parser)


def _import_as_written(pluginmanager: pytest.PytestPluginManager) -> None:
    """Stops pytest from rewriting the asserts of this package, as it does for the package of a
    plugin. There are none that a test would show, and it takes seconds for a whole server. Brokers
    also import modules on their own threads, and before 3.11.8 and 3.12.2 Python may fail to parse
    on two threads at once (SystemError, gh-106905)."""
    marked = getattr(getattr(pluginmanager, "rewrite_hook", None), "_must_rewrite", None)
    if isinstance(marked, set):
        marked.discard("kafkadouble")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER_HELP)


@pytest.fixture(scope="session")
def kafka_double_factory(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Factory]:
    """Starts a KafkaDouble with your own settings, in a fixture of any scope:

        @pytest.fixture(scope="module")
        def kafka(kafka_double_factory):
            with kafka_double_factory(config={"num.partitions": 3}) as kafka:
                yield kafka

    It takes the arguments of KafkaDouble. A double that still runs at the end of the session is
    stopped. With --kafka-broker=local it starts a Kafka of its own; with another real Kafka a test
    that calls it is skipped.
    """

    def folder() -> Any:
        return tmp_path_factory.mktemp("kafkadouble")

    if options.value(pytestconfig, "kafka_broker") != "double":
        with targets.factory_of_target(pytestconfig, folder) as start_kafka:
            yield start_kafka
        return
    from kafkadouble import KafkaDouble  # a test session without a double needs none

    with ExitStack() as stack:

        def start(**arguments: Any) -> KafkaDouble:
            double = stack.enter_context(KafkaDouble(**options.arguments(pytestconfig, folder, arguments)))
            known_doubles.known_doubles(pytestconfig).add(double)
            return double

        yield start


@pytest.fixture(scope="session")
def kafka_double_session(kafka_double_factory: Factory, pytestconfig: pytest.Config) -> KafkaDouble:
    """A broker for the whole session (of this worker, under pytest-xdist). It is never reset.
    With --kafka-broker=local it is a Kafka of its own; with another real Kafka a test that needs it
    is skipped."""
    if options.value(pytestconfig, "kafka_broker") not in ("double", "local"):
        skip_of_double(pytestconfig, "kafka_double_session")
    return kafka_double_factory()


@pytest.fixture(scope="session")
def _kafka_double_reset(kafka_double_factory: Factory) -> KafkaDouble:
    return kafka_double_factory()


@pytest.fixture(scope="session")
def _kafka_external(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with ExitStack() as stack:
        try:
            kafka = stack.enter_context(targets.external(request.config, tmp_path_factory))
        except pytest.UsageError as problem:
            # No other test of the run would meet a Kafka, either.
            request.session.shouldfail = str(problem)
            raise
        yield kafka


@pytest.fixture(scope="session")
def _kafka_marked(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    marked = targets.MarkedKafka(pytestconfig, lambda: tmp_path_factory.mktemp("kafka"))
    yield marked
    marked.close()


@pytest.fixture(autouse=True)
def _kafka_double_changes(pytestconfig: pytest.Config) -> Iterator[None]:
    """Restores what a test changes of a double that outlives it. Set up before the other
    fixtures of a test, and so torn down after them."""
    known = known_doubles.known_doubles(pytestconfig)
    known.begin_test()
    kafkas = _kafkas_of_factory(pytestconfig)
    if kafkas is not None:
        kafkas.begin_test()
    yield
    known.end_test()
    if (kafkas := _kafkas_of_factory(pytestconfig)) is not None:
        kafkas.end_test()


def _kafkas_of_factory(config: pytest.Config) -> FactoryKafkas | None:
    return config.stash.get(targets.FACTORY_KAFKAS, None)


@pytest.fixture
def kafka_double(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> Iterator[KafkaDouble]:
    """A running KafkaDouble for this test. --kafkadouble-isolation sets how tests are isolated.
    With --kafka-broker it is a real Kafka, and a test that needs a double is skipped."""
    markers.was_read(request.node)
    options.check_parameter(request)
    if options.value(pytestconfig, "kafka_broker") != "double":
        yield from shared_external(request)
    elif set(options.marked(request.node)) - {"strict_rules"}:
        yield from ISOLATED[FRESH](request)
    else:
        yield from ISOLATED[options.isolation(pytestconfig)](request)


@pytest.fixture
def kafka_namespace(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> Callable[[str], str]:
    """Returns names that no other test uses, for topics, groups and transactional ids:

    kafka_namespace("orders")  # "test_checkout-3f0a-orders"
    """
    from zlib import crc32  # seldom needed

    test = UNFIT.sub("_", request.node.name)[:LONGEST]
    prefix = f"{test}-{crc32(request.node.nodeid.encode()):08x}"
    used = pytestconfig.stash.setdefault(USED, {})
    used[prefix] = used.get(prefix, 0) + 1
    if used[prefix] > 1:  # the test runs again
        prefix = f"{prefix}-{used[prefix]}"
    return lambda name: f"{prefix}-{name}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """A fault rule that matched no request is a mistake of the test, and so is a function of a rule
    that raised, and a marker that nothing read."""
    try:
        result = yield
    except Exception as failure:
        markers.explain(item, failure)
        raise
    markers.check(item)
    report.check(item)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """A function of a rule that raises for a request of a fixture's end is a mistake, too."""
    doubles = report.all_doubles(item)
    result = yield
    report.check_functions(doubles)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A failure shows the test's own lines, and what happened at its brokers. A test that used what
    only a double has is skipped, at the line that used it."""
    if call.excinfo is not None:
        call.excinfo = markers.as_skip(report.without_library_frames(item.config, call.excinfo))
    result = yield
    if result.failed:
        result.sections.extend(report.sections(item))
    return result
