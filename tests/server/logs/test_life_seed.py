"""A node that keeps its seed over restarts: no run repeats random values that an earlier run has
shown to others."""

from __future__ import annotations

from random import Random

import pytest

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.logs.life_seed import seed_of_life
from kafkadouble.server.logs.memory import MemoryLogs
from kafkadouble.server.raft.quorum_state import ElectionState
from tests.server.controllers import OnDisks
from tests.server.harness import NOW, SEED, Harness


def test_a_first_life_goes_by_the_seed_itself() -> None:
    logs = MemoryLogs()
    assert seed_of_life(SEED, logs, Harness(logs=logs, seed=3).node.quorum.log) != SEED, "this one has lived"
    other = MemoryLogs()
    metadata = Harness(logs=MemoryLogs()).node.quorum.log
    metadata.truncate_to(0)
    assert seed_of_life(SEED, other, metadata) == SEED
    other.elections.save(ElectionState(7, None, None), [1], 0)
    assert seed_of_life(SEED, other, metadata) != SEED, "it has voted, and its log is lost"


def test_a_sole_node_creates_topics_in_each_of_its_lives() -> None:
    logs, found = MemoryLogs(), set[Uuid]()
    for life in range(4):
        node = Harness(logs=logs, seed=SEED, now=NOW + life)
        node.create(f"t{life}")
        found |= {node.node.incarnation_id, *node.image.topics}
    assert len(found) == 4 + 4


@pytest.mark.parametrize("ends", ["kill", "lose_power"])
def test_a_broker_that_lost_what_was_not_flushed_is_another_incarnation(ends: str) -> None:
    """The registration was flushed before the node served: also after a loss of power the next run
    begins with a larger number."""
    cluster, random = OnDisks(1), Random(SEED)
    lives = set[Uuid]()
    for _ in range(5):
        broker = cluster.add_broker(5, {"broker.session.timeout.ms": 1000})
        lives.add(broker.incarnation_id)
        cluster.until(lambda broker=broker: broker.is_open)  # type: ignore[misc]  # of each
        cluster.kill(5) if ends == "kill" else cluster.lose_power(5, random)
    assert len(lives) == 5
