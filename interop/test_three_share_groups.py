"""A share group on three brokers outlives its coordinator, the share coordinator and the leaders of
its partitions: every record is accepted, none comes back after its acceptance was confirmed, and
the group ends at the end of each partition."""

from __future__ import annotations

import pytest

from interop.brokers import Broker
from interop.share_fail_over import PARTITIONS, Cluster, fail_over
from interop.share_load import Ledger, Place
from interop.walks import cluster_state

pytestmark = [pytest.mark.needs("three_brokers", "kill"), pytest.mark.timeout(900)]


def test_a_share_group_outlives_every_broker(broker: Broker) -> None:
    addresses, _ = cluster_state.metadata(broker.bootstrap, "any: all brokers are in the response")
    servers = {server.bootstrap: server for server in broker.servers}
    load = fail_over(Cluster(broker.bootstrap, {id: servers[address] for id, address in addresses.items()}))
    ledger = load.ledger
    assert len(ledger.produced) > 100 * PARTITIONS
    assert ledger.deliveries > len(ledger.accepted)  # what was released came again
    print(len(ledger.produced), "produced,", ledger.deliveries, "delivered,", load.complaints)


PLACE = Place(0, 5)


@pytest.fixture
def ledger() -> Ledger:
    """One record was produced, delivered and accepted."""
    made = Ledger(1)
    made.on_produced(PLACE, b"v")
    made.on_delivered(PLACE, b"v", 1)
    made.on_accepted(PLACE, 1)
    assert made.faults() == []
    return made


def test_a_record_that_comes_after_its_acceptance_is_found(ledger: Ledger) -> None:
    ledger.on_delivered(PLACE, b"v", 2)
    assert "came to member 2 after member 1" in ledger.faults()[0]


def test_a_record_that_is_accepted_twice_is_found(ledger: Ledger) -> None:
    ledger.on_accepted(PLACE, 2)
    assert "accepted by members 1 and 2" in ledger.faults()[0]


def test_a_record_that_is_not_accepted_is_found(ledger: Ledger) -> None:
    ledger.on_produced(Place(0, 6), b"w")
    ledger.on_delivered(Place(0, 6), b"w", 1)
    assert ledger.faults() == ["not accepted: [Place(partition=0, offset=6)]"]


def test_a_record_with_another_value_is_found() -> None:
    ledger = Ledger(1)
    ledger.on_produced(PLACE, b"v")
    ledger.on_delivered(PLACE, b"w", 1)
    assert "produced as b'v'" in ledger.faults()[0]
