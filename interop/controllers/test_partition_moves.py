"""The records that a controller writes while replicas move between real brokers, and leaders are
elected: ours must write the same as Apache Kafka's.

    # our controller
    pytest interop/controllers/test_partition_moves.py --broker local
    # Apache Kafka's, which must pass too
    pytest interop/controllers/test_partition_moves.py --broker local --controllers local
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_partition_reassignments import AlterPartitionReassignmentsRequest
from tests.support.client import ask
from tests.support.waiting import eventually

from . import admin, placed
from .broker_lives import KEPT, Written
from .deeds import Ledger
from .kinds import Kafka, Kind
from .mixed import Mixed, mixed
from .plan import broker, controller

pytestmark = pytest.mark.timeout(900)

TOPIC = "m"
REPLICAS = [[1, 2], [2, 3]]

MOVED = """
m-0 replicas=3,1,2 adding_replicas=3 removing_replicas=2
m-0 isr=1,3 leader=1 replicas=3,1 adding_replicas= removing_replicas=
"""

PREFERRED = """
m-0 leader=3
"""

LEADER_MOVED = """
m-1 replicas=1,3,2 adding_replicas=1 removing_replicas=2
m-1 isr=1,3 leader=1 replicas=1,3 adding_replicas= removing_replicas=
"""

REORDERED = """
m-1 replicas=3,1
"""

WAITS_FOR_THE_DEAD = """
m-1 replicas=3,2,1 adding_replicas=2 removing_replicas=1
"""

CANCELLED = """
m-1 leader=1 replicas=3,1 adding_replicas= removing_replicas=
"""

ALONE = """
m-0 isr=3
m-1 isr=3 leader=3
"""

NO_LEADER = """
m-0 isr= leader=-1 elr=3 last_known_elr=3
m-1 isr= leader=-1 elr=3 last_known_elr=3
"""

UNCLEAN = """
m-0 isr=1 leader=1 leader_recovery_state=1 elr= last_known_elr=
m-1 isr=1 leader=1 leader_recovery_state=1 elr= last_known_elr=
"""
"""Broker 1 was in sync when it stopped, and lacks the records that came after."""

RECOVERED = """
m-0 isr=1,3 leader_recovery_state=0
m-1 isr=1,3 leader_recovery_state=0
"""


class Moves(Written):
    """The reassignments, with the replicas of partitions in their order."""

    def _line(self, record: Any) -> str:
        if type(record).__name__ != "PartitionChangeRecord":
            return super()._line(record) if type(record).__name__ == "TopicRecord" else ""
        names = ("replicas", "adding_replicas", "removing_replicas")
        fields = {name: getattr(record, name) for name in names if getattr(record, name) is not None}
        moved = "".join(f" {name}={','.join(map(str, value))}" for name, value in fields.items())
        return (self._partition(record) or f"{self._topics[record.topic_id]}-{record.partition_id}") + moved


@pytest.fixture
def cluster(ours: Kind, real: Kafka, tmp_path: Path) -> Iterator[Mixed]:
    """One controller, three brokers."""
    brokers = [broker(number, real) for number in range(3)]
    with mixed(tmp_path, controller(0, ours), *brokers, overrides=KEPT) as running:
        yield running


def move(bootstrap: str, index: int, replicas: Sequence[int] | None, **fields: Any) -> str:
    """Reassigns a partition; returns the error's name."""
    of = AlterPartitionReassignmentsRequest
    partition = of.ReassignablePartition(partition_index=index, replicas=replicas)
    response = ask(bootstrap, of(topics=[of.ReassignableTopic(name=TOPIC, partitions=[partition])], **fields), 1)
    return error_codes.name(response.responses[0].partitions[0].error_code)


def test_the_records_of_their_moves(cluster: Mixed) -> None:
    one, two, three = cluster.brokers
    written, ledger = Moves(cluster.controllers[0].metadata), Ledger(cluster.bootstrap)
    placed.create(one.bootstrap, TOPIC, REPLICAS)
    ledger.topics[TOPIC], ledger.configs[TOPIC] = 2, {}
    ledger.produce(TOPIC)
    assert move(one.bootstrap, 0, [3, 1]) == "NONE"
    written.expect(MOVED)
    assert [placed.elect(two.bootstrap, TOPIC, placed.PREFERRED, 0) for _ in range(2)] == [
        "NONE",
        "ELECTION_NOT_NEEDED",
    ]
    written.expect(PREFERRED)
    assert move(three.bootstrap, 1, [1, 3]) == "NONE"
    written.expect(LEADER_MOVED)
    assert move(three.bootstrap, 1, [3, 1]) == "NONE"
    written.expect(REORDERED)
    assert move(three.bootstrap, 1, [3], allow_replication_factor_change=False) == "INVALID_REPLICATION_FACTOR"
    two.kill()
    eventually(lambda: admin.registered(one.bootstrap), lambda found: found == {1: False, 2: True, 3: False})
    assert move(one.bootstrap, 1, [3, 2]) == "NONE"
    assert admin.reassigning(one.bootstrap) == {TOPIC: 1}
    written.expect(WAITS_FOR_THE_DEAD)
    assert [move(one.bootstrap, 1, None) for _ in range(2)] == ["NONE", "NO_REASSIGNMENT_IN_PROGRESS"]
    written.expect(CANCELLED)
    ledger.produce(TOPIC)
    one.kill()
    written.expect(ALONE)
    three.kill()
    written.expect(NO_LEADER)
    one.start()
    for index in range(2):
        assert placed.elect(one.bootstrap, TOPIC, placed.PREFERRED, index) == "PREFERRED_LEADER_NOT_AVAILABLE"
        assert [placed.elect(one.bootstrap, TOPIC, placed.UNCLEAN, index) for _ in range(2)] == [
            "NONE",
            "ELECTION_NOT_NEEDED",
        ]
    written.expect(UNCLEAN)
    three.start()
    written.expect(RECOVERED)
    ledger.produce(TOPIC)
    ledger.check()
