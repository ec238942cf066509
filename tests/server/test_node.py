"""How a node is put together, and how time enters it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafkadouble.server.node import Node
from tests.server.harness import NOW, Harness
from tests.server.network.in_process_nodes import BROKER, CONTROLLER, node

SERVER = Path(__file__).parents[2] / "server"
SETS_THE_TIME = re.compile(r"\b\w*(?:node|host|sender|target|context)\.now\s*=[^=]")


def broker() -> Node:
    return node(1, "broker", BROKER, **{"controller.quorum.bootstrap.servers": "controller:1"})


def controller() -> Node:
    return node(2, "controller", CONTROLLER)


def test_no_module_of_the_server_sets_the_time_of_a_node_itself() -> None:
    assert SETS_THE_TIME.search("        self._node.now = now")
    wrong = [path.name for path in SERVER.rglob("*.py") if SETS_THE_TIME.search(path.read_text())]
    assert wrong == []


CHANNELS = [
    *("raft-client-1", "1", "1", "1"),
    *("broker-1-fetcher-0", "broker-1-txn-marker-sender", "broker-1-add-partitions"),
    *["broker-1-persister"] * 5,
    "broker-1-partition-metadata",
    "broker-1-share-group-dlq",
]
"""The client ids of the channels of a broker."""


@pytest.mark.parametrize("at", range(len(CHANNELS)))
def test_node_advances_its_clock_with_responses_and_ticks(at: int) -> None:
    made = broker()
    assert made.persister.managers, "the first use makes the senders of these channels"
    assert made.partition_metadata_client is not None
    assert made.share_group_dlq_manager is not None
    made.channels[at].channel.answered(-1, None, NOW + 5)
    assert made.now == NOW + 5
    made.channels[at].channel.tick(NOW + 7)
    assert made.now == NOW + 7


def test_a_node_that_is_alone_has_no_parts_for_peers() -> None:
    alone = Harness().node
    parts = (alone.controller_registration, alone.lifecycle, alone.fetchers, alone.alter_partition_manager)
    assert (*parts, alone.replication_quotas) == (None,) * 5
    assert alone.channels == ()


def test_each_role_has_its_own_parts_for_peers() -> None:
    one, other = broker(), controller()
    assert (one.controller_registration, other.lifecycle, other.fetchers) == (None, None, None)
    assert other.controller_registration is not None
    assert None not in (one.lifecycle, one.fetchers, one.alter_partition_manager, one.replication_quotas)
    assert [channel.client_id for channel in one.channels] == CHANNELS
    assert [channel.client_id for channel in other.channels] == ["raft-client-2", "2"]


def test_the_metadata_goes_to_the_parts_in_the_order_in_which_they_are_built() -> None:
    one, other = broker(), controller()
    assert one.lifecycle is not None
    assert other.controller_registration is not None
    for each, first in ((one, one.lifecycle), (other, other.controller_registration)):
        parts = (each.quotas, first, each.groups, each.share_coordinator)
        assert each.controller.listeners == [part.image_changed for part in parts]
