"""The pytest plugin: a broker for each test, for a session, or for any other scope.

    def test_orders(kafka_double):
        kafka_double.create_topic("orders")
        ...Producer({"bootstrap.servers": kafka_double.bootstrap_servers})

The server is imported when a fixture is first used. Every worker of pytest-xdist is a process with
its own brokers and ports. By default a test gets a new broker on a port that no earlier test of the
process used, and the port is closed after the test: a client that the test left open cannot join a
group of the next test, or take its records. With every isolation, fault rules are removed after
their test.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kafkadouble import KafkaDouble

FRESH, RESET, NAMESPACE, NONE = "fresh", "reset", "namespace", "none"
UNFIT = re.compile(r"[^a-zA-Z0-9._-]+")
LONGEST = 100
"""The longest prefix, in characters. It leaves room for the topic's own name: Kafka allows 249
characters."""

USED = pytest.StashKey[dict[str, int]]()
"""How often this process has used each prefix."""

USED_ADDRESSES = pytest.StashKey[set[str]]()
"""The addresses of all fresh brokers of this process so far."""

Factory = Callable[..., "KafkaDouble"]


def pytest_addoption(parser: pytest.Parser) -> None:
    isolation = (
        "How tests that use kafka_double are isolated: fresh (a new broker on a new port for every test; the default), reset (one broker for "
        "the session, on one port, emptied after each test), namespace (one broker for the session; tests take unique names from "
        "kafka_namespace), none (one broker for the session)"
    )
    settings = "Settings of Kafka's broker for every broker that the fixtures start, one name=value per line"
    parser.addini("kafkadouble_isolation", isolation, default=FRESH)
    brokers = "The number of brokers of each KafkaDouble that the fixtures start"
    parser.addini("kafkadouble_config", settings, type="linelist", default=[])
    parser.addini("kafkadouble_brokers", brokers, default="1")
    group = parser.getgroup("kafkadouble", "kafkadouble: a Kafka broker for tests")
    group.addoption(
        "--kafkadouble-isolation",
        choices=ISOLATIONS,
        help=f"{isolation}. Overrides the ini option",
    )
    group.addoption(
        "--kafkadouble-config",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="A setting of Kafka's broker for every broker that the fixtures start; may be repeated. Overrides the ini option",
    )
    group.addoption("--kafkadouble-brokers", metavar="N", help=f"{brokers}. Overrides the ini option")


def isolation_of(config: pytest.Config) -> str:
    """How tests are isolated from one another in this run."""
    chosen = config.getoption("--kafkadouble-isolation") or config.getini("kafkadouble_isolation")
    if chosen not in ISOLATIONS:
        raise pytest.UsageError(f"kafkadouble_isolation is {', '.join(ISOLATIONS)}, not {chosen!r}")
    return str(chosen)


def settings_of(config: pytest.Config) -> dict[str, str]:
    """The broker settings that the run gives to every broker."""
    settings = {}
    for line in [*config.getini("kafkadouble_config"), *config.getoption("--kafkadouble-config")]:
        name, equals, value = line.partition("=")
        if not equals:
            raise pytest.UsageError(f"kafkadouble_config: {line!r} is not name=value")
        settings[name.strip()] = value.strip()
    return settings


def brokers_of(config: pytest.Config) -> int:
    """The number of brokers that the run sets."""
    text = str(config.getoption("--kafkadouble-brokers") or config.getini("kafkadouble_brokers"))
    if not text.isdecimal() or int(text) < 1:
        raise pytest.UsageError(f"kafkadouble_brokers is a number from 1 on, not {text!r}")
    return int(text)


def arguments_of(config: pytest.Config, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments for KafkaDouble: the settings of the run, overridden by the given ones."""
    settings = {**settings_of(config), **(given.get("config") or {})}
    return {"brokers": brokers_of(config), **given, "config": settings}


@pytest.fixture(scope="session")
def kafka_double_factory(pytestconfig: pytest.Config) -> Iterator[Factory]:
    """Starts a KafkaDouble with your own settings, in a fixture of any scope:

        @pytest.fixture(scope="module")
        def kafka(kafka_double_factory):
            with kafka_double_factory(config={"num.partitions": 3}) as kafka:
                yield kafka

    It takes the arguments of KafkaDouble. A double that still runs at the end of the session is
    stopped.
    """
    from kafkadouble import KafkaDouble

    with ExitStack() as stack:

        def start(**arguments: Any) -> KafkaDouble:
            return stack.enter_context(KafkaDouble(**arguments_of(pytestconfig, arguments)))

        yield start


@pytest.fixture(scope="session")
def kafka_double_session(kafka_double_factory: Factory) -> KafkaDouble:
    """One broker for the whole session (of this worker, under pytest-xdist). It is never reset."""
    return kafka_double_factory()


@pytest.fixture(scope="session")
def _kafka_double_reset(kafka_double_factory: Factory) -> KafkaDouble:
    return kafka_double_factory()


@pytest.fixture
def kafka_double(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> Iterator[KafkaDouble]:
    """A running KafkaDouble for this test. --kafkadouble-isolation sets how tests are isolated."""
    yield from ISOLATED[isolation_of(pytestconfig)](request)


def _fresh(request: pytest.FixtureRequest) -> Iterator[KafkaDouble]:
    from kafkadouble import KafkaDouble

    used = request.config.stash.setdefault(USED_ADDRESSES, set())
    arguments = arguments_of(request.config, {})
    # The operating system may assign a port again that was closed a moment ago.
    with ExitStack() as elsewhere:
        while used & _addresses(double := KafkaDouble(**arguments).start()):
            elsewhere.callback(double.stop)
    used |= _addresses(double)
    with double:
        yield double


def _addresses(double: KafkaDouble) -> set[str]:
    return set(double.bootstrap_servers.split(","))


def _reset(request: pytest.FixtureRequest) -> Iterator[KafkaDouble]:
    double: KafkaDouble = request.getfixturevalue("_kafka_double_reset")
    yield double
    double.start().reset()  # a test may have stopped it


def _shared(request: pytest.FixtureRequest) -> Iterator[KafkaDouble]:
    double: KafkaDouble = request.getfixturevalue("kafka_double_session")
    yield double
    double.start()
    double.clear_rules()
    double.requests.clear()
    if brokers_of(request.config) > 1:
        _revive(double)


def _revive(double: KafkaDouble) -> None:
    for broker in double.brokers.values():
        broker.join()
        broker.resume()
        broker.start()


ISOLATED: dict[str, Callable[[pytest.FixtureRequest], Iterator[KafkaDouble]]] = {
    FRESH: _fresh,
    RESET: _reset,
    NAMESPACE: _shared,
    NONE: _shared,
}
"""For each kind of isolation: how a test gets its broker, and what is done after it."""

ISOLATIONS = tuple(ISOLATED)


@pytest.fixture
def kafka_namespace(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> Callable[[str], str]:
    """Returns names that no other test uses, for topics, groups and transactional ids:

    kafka_namespace("orders")  # "test_checkout-3f0a-orders"
    """
    from zlib import crc32

    test = UNFIT.sub("_", request.node.name)[:LONGEST]
    prefix = f"{test}-{crc32(request.node.nodeid.encode()):08x}"
    used = pytestconfig.stash.setdefault(USED, {})
    used[prefix] = used.get(prefix, 0) + 1
    if used[prefix] > 1:  # the test runs again
        prefix = f"{prefix}-{used[prefix]}"
    return lambda name: f"{prefix}-{name}"
