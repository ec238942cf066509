"""FindCoordinator: creates the topic, and returns the leader of the key's partition."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS
from tests.server.groups.bench import Bench


@pytest.mark.parametrize("version", [3, 6])
def test_a_partition_without_a_leader_has_no_coordinator(version: int) -> None:
    bench = Bench(with_offsets_topic=False)
    bench.create_topic(CONSUMER_OFFSETS, leader=-1)
    if version < 4:
        answer = bench.ask(FindCoordinatorRequest(key="g"), version)
    else:
        (answer,) = bench.ask(FindCoordinatorRequest(coordinator_keys=["g"]), version).coordinators
    assert (answer.error_code, answer.node_id) == (codes.COORDINATOR_NOT_AVAILABLE, -1)
