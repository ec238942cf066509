"""One switch for the whole suite: `pytest interop --broker double | HOST:PORT`, given as often as one likes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from interop.brokers import Broker, Unavailable, opened
from interop.clients import CLIENTS, Client
from interop.support import unique


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--broker",
        action="append",
        metavar="double|HOST:PORT",
        help="what the clients of interop talk to: kafkadouble (the default), or a broker that runs; may be repeated",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*capabilities): skip on a broker that has not all of these")
    config.addinivalue_line("markers", "clients(can=..., names=...): which clients the test is run with")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "broker" in metafunc.fixturenames:
        words = metafunc.config.getoption("broker") or ["double"]
        metafunc.parametrize("broker", words, indirect=True, scope="module")
    if "client" in metafunc.fixturenames:
        wanted = metafunc.definition.get_closest_marker("clients")
        able = _able(**(wanted.kwargs if wanted else {}))
        metafunc.parametrize("client", able, ids=[client.name for client in able])


def _able(can: str = "", names: tuple[str, ...] = ()) -> list[Client]:
    """The clients whose part has the method, such as `admin.delete_group`."""
    part, _, method = can.partition(".")
    found = [client for client in CLIENTS if not can or hasattr(getattr(client, part), method)]
    return [client for client in found if not names or client.name in names]


@pytest.fixture(scope="module")
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    """The broker of a module's tests, fresh where it is ours to start."""
    try:
        opening = opened(request.param)
    except Unavailable as reason:
        pytest.skip(str(reason))
    with opening as running:
        yield running


@pytest.fixture(autouse=True)
def _has_what_is_needed(request: pytest.FixtureRequest) -> None:
    wanted = request.node.get_closest_marker("needs")
    if wanted and (lack := request.getfixturevalue("broker").lacks(*wanted.args)):
        pytest.skip(lack)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name for a topic or a group that no other test has, in this run or an earlier one."""
    return unique(request.node.originalname)


@pytest.fixture
def topic(broker: Broker, name: str) -> str:
    """A topic of one partition."""
    from interop.clients import CREATOR

    with CREATOR.admin(broker.bootstrap) as admin:
        admin.create_topic(name)
    return name
