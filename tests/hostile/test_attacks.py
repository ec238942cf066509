"""Attacks on a broker, at a part of their full size, beside a well-behaved client: it gets correct
answers, and the broker ends in the same state.

`python -m benchmarks.attacks` measures how long the client waits.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from kafkadouble.server.apis.row import ServedApi
from kafkadouble.server.apis.served import CONTROLLER_TABLE, TABLE

from .attacks import widest
from .attacks.exchanges import Address, close_all
from .attacks.running import attacked, under_attack
from .attacks.table import ATTACKS, ON_BROKERS, ON_PORTS
from .ports import CONTROLLER, PLAINTEXT, SSL
from .sockets import ALL_TOPICS, MB, Broker, Client, Good

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="ATTACKS ARE NOT TRIED: only Linux tells memory and descriptors of another process"
)

SCALE, SCALE_OF_EVERY_API = 0.02, 0.003
LIMITED = [name for name, attack in ATTACKS.items() if attack.limit]
MOST_MORE = 200 * MB


def try_attack(broker: Broker, ports: dict[str, Address], name: str, scale: float) -> None:
    """Attack a broker from this process, beside a well-behaved client."""
    attack, client = ATTACKS[name], Client(broker)
    attack.prepare(client, scale)
    if attack.limit:
        broker.limit_descriptors(attack.limit)
    good = Good(broker)
    files, memory = broker.open_files(), broker.resident()
    attack.run(ports[attack.port], scale)
    close_all()
    good.end()  # raises when an answer was wrong
    assert client.ask(ALL_TOPICS, 9).topics
    client.close()
    broker.descriptors_return(files)
    assert broker.resident() - memory < MOST_MORE
    if attack.limit:
        assert len([line for line in broker.log if "connected" not in line]) < 50


@pytest.fixture(scope="module")
def under() -> Iterator[tuple[Broker, dict[str, Address]]]:
    """One broker, with a port of every kind."""
    with attacked([name for name in ATTACKS if name not in LIMITED]) as made:
        yield made


Under = tuple[Broker, dict[str, Address]]


@pytest.mark.parametrize("name", [name for name in ON_BROKERS if name not in LIMITED])
def test_a_well_behaved_client_is_served_under_attack(under: Under, name: str) -> None:
    try_attack(*under, name, SCALE)


@pytest.mark.parametrize("name", LIMITED)
def test_a_well_behaved_client_is_served_by_a_broker_without_descriptors(name: str) -> None:
    with attacked([name]) as (broker, ports):
        try_attack(broker, ports, name, 0.2)


@pytest.mark.parametrize("name", ON_PORTS)
def test_a_well_behaved_client_is_served_while_a_port_is_attacked(under: Under, name: str) -> None:
    try_attack(*under, name, SCALE)


@pytest.mark.parametrize(
    ("port", "table"), [(PLAINTEXT, TABLE), (CONTROLLER, CONTROLLER_TABLE)], ids=[PLAINTEXT, CONTROLLER]
)
def test_a_well_behaved_client_is_served_beside_wide_requests_of_every_api(
    port: str, table: tuple[ServedApi, ...]
) -> None:
    with attacked(list(ON_PORTS)) as (broker, ports):
        client = Client(broker)
        widest.state(client, SCALE_OF_EVERY_API)
        good = Good(broker)
        for served in table:
            widest.widest_of(served)(ports[port], SCALE_OF_EVERY_API)
        close_all()
        good.end()
        assert client.ask(ALL_TOPICS, 9).topics
        client.close()


def test_an_attack_runs_in_its_own_process(under: Under) -> None:
    broker, ports = under
    with under_attack(ports[SSL], f"churn, {SSL}", SCALE):
        Good(broker).end()
