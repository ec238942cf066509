"""The records that a controller writes while real brokers register, shut down, are killed, lose a
directory and are unregistered: ours must write the same as Apache Kafka's.

    # our controller
    pytest interop/controllers/test_broker_lives.py --broker local
    # Apache Kafka's, which must pass too
    pytest interop/controllers/test_broker_lives.py --broker local --controllers local
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.waiting import eventually

from . import admin, placed
from .broker_lives import KEPT, Written, directory_id
from .kinds import Kafka, Kind
from .mixed import Mixed, mixed
from .plan import broker, controller

pytestmark = pytest.mark.timeout(900)

TOPICS = {"t": [[1, 2], [2, 1]], "s": [[1], [2]], "u": [[3, 1], [3, 2]]}
"""Topic -> replicas of its partitions. Each partition of `s` has only one replica; `u` is in the
one directory of broker 3 that is not cordoned."""


BEGIN = """
broker 1 registers
broker 1 cordoned_log_dirs=
broker 1 fenced=-1
broker 2 registers
broker 2 cordoned_log_dirs=
broker 2 fenced=-1
broker 3 registers
broker 3 cordoned_log_dirs=data
broker 3 fenced=-1
"""

LEAVES = """
broker 1 in_controlled_shutdown=1
s-0 isr= leader=-1 elr=1 last_known_elr=1
t-0 isr=2 leader=2
t-1 isr=2
u-0 isr=3
broker 1 fenced=1
broker 1 fenced=1
"""
"""The broker is fenced when it shuts down, and again when its session is over."""

COMES_BACK = """
broker 1 registers
broker 1 cordoned_log_dirs=
broker 1 fenced=-1
s-0 isr=1 leader=1 elr= last_known_elr=
t-0 isr=1,2
t-1 isr=1,2
u-0 isr=1,3
"""
"""The broker has proven a clean shutdown: it was an eligible leader all the time."""

FENCED = """
s-1 isr= leader=-1 elr=2 last_known_elr=2
t-0 isr=1 leader=1
t-1 isr=1 leader=1
u-1 isr=3
broker 2 fenced=1
"""

COMES_BACK_FROM_THE_DEAD = """
s-1 elr=
broker 2 registers
broker 2 cordoned_log_dirs=
broker 2 fenced=-1
s-1 isr=2 leader=2 leader_recovery_state=1 last_known_elr=
t-0 isr=1,2
t-1 isr=1,2
u-1 isr=2,3
"""
"""The broker may have lost records that were not flushed: no replica is eligible, so the last known
leader is elected (KIP-966)."""

LOSES_A_DIRECTORY = """
u-0 isr=1 leader=1
u-1 isr=2 leader=2
broker 3 log_dirs=data
"""

LEAVES_WITH_NOTHING = """
broker 3 fenced=1
broker 3 fenced=1
"""
"""The broker leads nothing: there is no controlled shutdown to begin."""

IS_FORGOTTEN = """
broker 3 is unregistered
"""


@pytest.fixture
def cluster(ours: Kind, real: Kafka, tmp_path: Path) -> Iterator[Mixed]:
    """One controller, and three brokers, the last with two directories of which one is cordoned."""
    first, second = (str(tmp_path / "node-3" / name) for name in ("data", "more"))
    own = {"log_dirs": f"{first},{second}", "cordoned_log_dirs": first}
    members = (controller(0, ours), broker(0, real), broker(1, real), broker(2, real, **own))
    with mixed(tmp_path, *members, overrides=KEPT) as running:
        yield running


def test_the_records_of_starts_and_stops(cluster: Mixed) -> None:
    first, second, third = cluster.brokers
    written = Written(cluster.controllers[0].metadata)
    more = third.data.parent / "more"
    written.directories = {directory_id(third.data): "data", directory_id(more): "more"}
    written.expect(BEGIN)
    for topic, assigned in TOPICS.items():
        placed.create(first.bootstrap, topic, assigned)
    eventually(lambda: sorted(path.name for path in more.glob("?-?")), lambda found: found == ["u-0", "u-1"])
    first.stop()
    written.expect(LEAVES)
    first.start()
    written.expect(COMES_BACK)
    second.kill()
    written.expect(FENCED)
    second.start()
    written.expect(COMES_BACK_FROM_THE_DEAD)
    shutil.move(more, more.with_name("removed"))
    written.expect(LOSES_A_DIRECTORY)
    third.stop()
    written.expect(LEAVES_WITH_NOTHING)
    assert admin.unregister(first.bootstrap, 3) == 0
    assert admin.unregister(first.bootstrap, 3) == 102
    written.expect(IS_FORGOTTEN)
