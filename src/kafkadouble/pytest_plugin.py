"""The pytest plugin: a broker for each test, for a session, or for whatever scope a suite wants.

    def test_orders(kafka_double):
        kafka_double.create_topic("orders")
        ...Producer({"bootstrap.servers": kafka_double.bootstrap_servers})

Rules. Nothing of the server is imported before a fixture is used. Every worker of pytest-xdist is a process with a broker of its own, on a
port of its own. A broker that tests are isolated on by `reset` is shared with nobody, so that a reset takes nothing from another fixture.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from kafkadouble import KafkaDouble

RESET, NAMESPACE, NONE = "reset", "namespace", "none"
ISOLATIONS = (RESET, NAMESPACE, NONE)
UNFIT = re.compile(r"[^a-zA-Z0-9._-]+")
LONGEST = 100
"""Of a prefix, so that a topic's name has room beside it: Kafka allows 249 characters."""

USED = pytest.StashKey[dict[str, int]]()
"""How often each prefix was handed out in this process."""

Factory = Callable[..., "KafkaDouble"]


def pytest_addoption(parser: pytest.Parser) -> None:
    isolation = (
        "How kafka_double keeps tests apart: reset (a broker of its own, as new for every test; the default), namespace (one broker for the "
        "session; tests ask kafka_namespace for names that no other test has), none (one broker for the session)"
    )
    settings = "Settings of Kafka's broker for every broker that the fixtures start, one name=value a line"
    parser.addini("kafkadouble_isolation", isolation, default=RESET)
    brokers = "How many brokers each KafkaDouble that the fixtures start has"
    parser.addini("kafkadouble_config", settings, type="linelist", default=[])
    parser.addini("kafkadouble_brokers", brokers, default="1")
    group = parser.getgroup("kafkadouble", "kafkadouble: a Kafka broker for tests")
    group.addoption(
        "--kafkadouble-isolation",
        choices=ISOLATIONS,
        help=f"{isolation}. Wins over the ini option",
    )
    group.addoption(
        "--kafkadouble-config",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="A setting of Kafka's broker for every broker that the fixtures start; may be repeated. Wins over the ini option",
    )
    group.addoption("--kafkadouble-brokers", metavar="N", help=f"{brokers}. Wins over the ini option")


def isolation_of(config: pytest.Config) -> str:
    """How tests are kept apart in this run."""
    chosen = config.getoption("--kafkadouble-isolation") or config.getini("kafkadouble_isolation")
    if chosen not in ISOLATIONS:
        raise pytest.UsageError(f"kafkadouble_isolation is {', '.join(ISOLATIONS)}, not {chosen!r}")
    return str(chosen)


def settings_of(config: pytest.Config) -> dict[str, str]:
    """The settings that the run gives every broker."""
    settings = {}
    for line in [*config.getini("kafkadouble_config"), *config.getoption("--kafkadouble-config")]:
        name, equals, value = line.partition("=")
        if not equals:
            raise pytest.UsageError(f"kafkadouble_config: {line!r} is not name=value")
        settings[name.strip()] = value.strip()
    return settings


def brokers_of(config: pytest.Config) -> int:
    """How many brokers the run wants."""
    text = str(config.getoption("--kafkadouble-brokers") or config.getini("kafkadouble_brokers"))
    if not text.isdecimal() or int(text) < 1:
        raise pytest.UsageError(f"kafkadouble_brokers is a number from 1 on, not {text!r}")
    return int(text)


@pytest.fixture(scope="session")
def kafka_double_factory(pytestconfig: pytest.Config) -> Iterator[Factory]:
    """Start a KafkaDouble with settings of your own, in a fixture of any scope:

        @pytest.fixture(scope="module")
        def kafka(kafka_double_factory):
            with kafka_double_factory(config={"num.partitions": 3}) as kafka:
                yield kafka

    It takes what KafkaDouble takes. What still runs at the end of the session is stopped then.
    """
    from kafkadouble import KafkaDouble

    with ExitStack() as stack:

        def start(**arguments: Any) -> KafkaDouble:
            config = {**settings_of(pytestconfig), **(arguments.pop("config", None) or {})}
            return stack.enter_context(KafkaDouble(config=config, **{"brokers": brokers_of(pytestconfig), **arguments}))

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
    """A running KafkaDouble for this test; how it is kept apart from other tests says --kafkadouble-isolation."""
    resets = isolation_of(pytestconfig) == RESET
    double: KafkaDouble = request.getfixturevalue("_kafka_double_reset" if resets else "kafka_double_session")
    yield double.start()  # a test may have stopped it
    if resets:
        double.start().reset()


@pytest.fixture
def kafka_namespace(request: pytest.FixtureRequest, pytestconfig: pytest.Config) -> Callable[[str], str]:
    """Make names that no other test uses: kafka_namespace("orders") -> "test_checkout-3f0a-orders", for topics, groups, transactional ids."""
    from zlib import crc32

    test = UNFIT.sub("_", request.node.name)[:LONGEST]
    prefix = f"{test}-{crc32(request.node.nodeid.encode()):08x}"
    used = pytestconfig.stash.setdefault(USED, {})
    used[prefix] = used.get(prefix, 0) + 1
    if used[prefix] > 1:  # the test runs again
        prefix = f"{prefix}-{used[prefix]}"
    return lambda name: f"{prefix}-{name}"
