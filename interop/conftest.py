"""One option chooses the brokers of the whole suite: `pytest interop --broker double | local |
container | HOST:PORT`. It may be repeated."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from interop.brokers import KINDS, Broker, BrokerRequirements, Unavailable, kind_of
from interop.brokers.broker import SHAPES
from interop.clients import CLIENTS, CREATOR, Client
from interop.clients.shape import Partition, Refused
from interop.local import VERSION, Missing, jars
from interop.local.identity import whole
from interop.one_node import KINDS as NODE_KINDS
from interop.support import SPREAD, create_topic, local_kafka, unique
from interop.tools.jars import jars as tools_jars
from interop.tools.resident import Resident, resident
from interop.witness import counts
from kafkadouble import KafkaDouble
from tests.support.garbage import collecting, freeze_between_modules
from tests.support.waiting import eventually

HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--broker",
        action="append",
        metavar="|".join([*KINDS, "HOST:PORT"]),
        help="what the clients of interop talk to: kafkadouble (the default), an Apache Kafka that is started for it on this machine or "
        "in containers, or a broker that runs; may be repeated",
    )
    parser.addoption(
        "--kafka", default=VERSION, metavar="VERSION", help="the Apache Kafka that is started (default %(default)s)"
    )
    parser.addoption(
        "--messages",
        type=int,
        default=counts.DOSE,
        help="random messages of each message-version that interop/witness shows to Kafka's classes (default %(default)s)",
    )
    parser.addoption(
        "--controllers",
        choices=("double", "local"),
        default="double",
        help="the controllers of interop/controllers: kafkadouble's (the default), or an Apache Kafka's of this machine, of "
        "which the same must be true",
    )
    parser.addoption(
        "--must", action="store_true", help="a broker that cannot be had is a failure, not a reason to skip"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*capabilities): skip on a broker that has not all of these")
    config.addinivalue_line("markers", "clients(can=..., names=...): which clients the test is run with")
    config.addinivalue_line("markers", "long: takes too long for every run; `make interop-controllers` has it run")


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    freeze_between_modules(item, nextitem)


AGAIN = 1
"""How often a failed test is tried again if an Apache Kafka or its clients take part, since their
timeouts and start-up times are outside this project. A test may set its own number. Each new try is
shown (RERUN), and counts as a defect of the suite that must be examined."""

LONGEST = 600
"""Seconds that such a test may take, unless it sets its own limit: on a busy machine an Apache
Kafka alone takes many of them to start."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if _meets_others(item, config.getoption("broker") or []):
            for mark in (pytest.mark.flaky(reruns=AGAIN), pytest.mark.timeout(LONGEST)):
                if not item.get_closest_marker(mark.name):
                    item.add_marker(mark)


def _meets_others(item: pytest.Item, words: list[str]) -> bool:
    """Whether the test uses programs of others. A test that runs against the double alone is not
    tried again."""
    if HERE not in item.path.parents:
        return False
    if isinstance(item, pytest.Function) and "broker" in item.fixturenames:
        return item.callspec.params.get("broker", "double") != "double"
    return HERE / "differential" in item.path.parents or any(word != "double" for word in words)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "broker" in metafunc.fixturenames:
        words = metafunc.config.getoption("broker") or ["double"]
        metafunc.parametrize("broker", words, indirect=True, scope="module")
    if "node_kind" in metafunc.fixturenames:
        words = [word for word in metafunc.config.getoption("broker") or ["double"] if word in NODE_KINDS]
        metafunc.parametrize("node_kind", words, indirect=True, scope="module")
    if "client" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("clients")
        able = _able(**(marker.kwargs if marker else {}))
        metafunc.parametrize("client", able, ids=[client.name for client in able])


def _able(can: str = "", names: tuple[str, ...] = ()) -> list[Client]:
    """The clients whose part has the method, such as `admin.delete_group`."""
    part, _, method = can.partition(".")
    found = [client for client in CLIENTS if not can or hasattr(getattr(client, part), method)]
    return [client for client in found if not names or client.name in names]


@contextmanager
def _opened(word: str, requirements: BrokerRequirements) -> Iterator[Broker]:
    """A broker whose group coordinator is ready: it creates its topic at the first request, and
    refuses requests until that is done."""
    with kind_of(word).opened(requirements) as running:
        eventually(lambda: _coordinates(running))
        yield running


def _coordinates(running: Broker) -> bool:
    with CREATOR.consumer(running.bootstrap, partitions=[], group_id="interop") as consumer:
        try:
            consumer.committed(Partition("interop", 0))
        except Refused:
            return False
        return True


class Kept:
    """The brokers that are kept for a session, and the reasons why others are unavailable."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._found: dict[str, Broker | Unavailable] = {}

    def get(self, word: str, requirements: BrokerRequirements) -> Broker:
        """Raises Unavailable."""
        if word not in self._found:
            try:
                self._found[word] = self._stack.enter_context(_opened(word, requirements))
            except Unavailable as reason:
                self._found[word] = reason
        found = self._found[word]
        if isinstance(found, Unavailable):
            raise found
        return found


@pytest.fixture(scope="session")
def kept() -> Iterator[Kept]:
    with ExitStack() as stack:
        yield Kept(stack)


@pytest.fixture(scope="module")
def broker(request: pytest.FixtureRequest, kept: Kept) -> Iterator[Broker]:
    """The broker of a module's tests: one of its own if the tests require a special setup or if
    starting one is cheap, else one that is kept for the session."""
    word, needs = request.param, _needs(request.node)
    requirements = BrokerRequirements(request.config.getoption("kafka"), needs)
    with ExitStack() as stack:
        try:
            if kind_of(word).kept and not needs & SHAPES:
                running = kept.get(word, requirements)
            else:
                running = stack.enter_context(_opened(word, requirements))
        except Unavailable as reason:
            if request.config.getoption("must"):
                raise
            pytest.skip(str(reason))
        yield running


def _needs(node: pytest.Collector | pytest.Item) -> frozenset[str]:
    return frozenset(name for mark in node.iter_markers("needs") for name in mark.args)


@pytest.fixture(autouse=True)
def _has_what_is_needed(request: pytest.FixtureRequest) -> None:
    if "broker" not in request.fixturenames:
        return
    running, needed = request.getfixturevalue("broker"), _needs(request.node)
    request.node.user_properties.append((ON, running.name))
    own = not needed & SHAPES or _needs(request.node.getparent(pytest.Module)) & SHAPES
    assert own, f"{set(needed & SHAPES)}: the whole file must ask (pytestmark), so that it has a broker for itself"
    if lack := running.lacks(*sorted(needed)):
        pytest.skip(lack)


ON = "broker"
"""The property of a report that holds the name of the broker."""

SUMMARY_LINE = "summary line"
"""The property of a report that holds a line for the end of the run."""

MESSAGE_LENGTH = 200
"""Characters of a failed try's message in the line that names it."""


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Writes the outcome on each broker, and the lines that tests left for the end of the run."""
    passed = terminalreporter.stats.get("passed", [])
    summary_lines = [value for report in passed for key, value in report.user_properties if key == SUMMARY_LINE]
    for line in filter(None, [*summary_lines, counts.line(passed)]):
        terminalreporter.write_line(line)
    found: dict[str, Counter[str]] = {}
    for outcome in ("passed", "skipped", "failed", "error", "xfailed", "rerun"):
        for report in terminalreporter.stats.get(outcome, []):
            name = dict(getattr(report, "user_properties", ())).get(ON)
            if name:
                found.setdefault(name, Counter())[outcome] += 1
    for report in terminalreporter.stats.get("rerun", []):
        _write_why_again(terminalreporter, report)
    for name, outcomes in sorted(found.items()):
        how = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items())
        terminalreporter.write_line(f"interop on {name}: {how}")


def _write_why_again(terminalreporter: pytest.TerminalReporter, report: pytest.TestReport) -> None:
    """pytest shows a test that passed at last only as RERUN; why it failed before is here: a line
    for the last lines of a run, and below it the trace and what the test printed."""
    crash = getattr(report.longrepr, "reprcrash", None)
    message = crash.message.splitlines()[0] if crash and crash.message else "no message"
    terminalreporter.write_line(f"tried again: {report.nodeid}: {message[:MESSAGE_LENGTH]}")
    for line in [*report.longreprtext.splitlines(), *report.capstdout.splitlines()]:
        terminalreporter.write_line(f"    {line}")


@pytest.fixture(scope="session")
def tools() -> Iterator[Resident]:
    """The JVM with Kafka's tools."""
    with ExitStack() as stack:
        try:
            found = stack.enter_context(resident())
        except Missing as reason:
            pytest.skip(f"no tools of Kafka: {reason}")
        yield found


@pytest.fixture(scope="session")
def local_jars(request: pytest.FixtureRequest) -> None:
    """The Apache Kafka of this machine; without it, or without `--broker local`, a skip."""
    with local_kafka(request):
        jars()


@pytest.fixture(scope="session")
def local_tools(request: pytest.FixtureRequest) -> None:
    """The same for Kafka's command-line tools, each in a JVM of its own."""
    with local_kafka(request):
        tools_jars()


@pytest.fixture(scope="module")
def node_kind(request: pytest.FixtureRequest) -> str:
    """The word of `--broker` for a program whose nodes a module starts itself: double or local."""
    if request.param == "local":
        request.getfixturevalue("local_jars")
    return str(request.param)


@pytest.fixture
def collected(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Collects what kafka-python and aiokafka leave of refused connections."""
    yield from collecting(caplog)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name for a topic or a group that no other test has, in this run or an earlier one."""
    return unique(request.node.originalname)


@pytest.fixture
def double(broker: Broker) -> Iterator[KafkaDouble]:
    """A double of its own for each test, in this process, with the topic `t`."""
    with KafkaDouble(config={"group.min.session.timeout.ms": 1000}) as running:
        running.create_topic("t")
        yield running


@pytest.fixture
def topic(broker: Broker, name: str) -> str:
    create_topic(broker.bootstrap, name)
    return name


@pytest.fixture
def every_broker_lists_all(broker: Broker) -> None:
    """A broker that restarts is in its own metadata first, and in that of the others a little
    later."""
    whole(broker.bootstrap, 3)


@pytest.fixture
def copied(broker: Broker, name: str) -> str:
    """A topic with a replica on each of three brokers, of which two must have each acknowledged
    record."""
    create_topic(broker.bootstrap, name, len(SPREAD), {"min.insync.replicas": "2"}, replication=3)
    return name


@pytest.fixture
def lasting(broker: Broker, name: str) -> str:
    """A topic of one partition that keeps records of any age: by default, records of 1970 would
    soon be deleted."""
    create_topic(broker.bootstrap, name, configs={"retention.ms": "-1"})
    return name
