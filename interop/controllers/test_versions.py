"""Older releases of Apache Kafka on our controllers, and in one quorum with them: 4.3, 4.0 and 3.9.

    pytest interop/controllers/test_versions.py --broker local

Needs Kafka of these releases, from Maven or its cache.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from interop.support import local_kafka
from tests.support.waiting import eventually

from . import admin
from .deeds import Ledger
from .kinds import DOUBLE, Kafka, Kind
from .load import Load
from .logs import same
from .mixed import mixed
from .plan import broker, controller
from .releases import RELEASES

pytestmark = [pytest.mark.timeout(900), pytest.mark.long]


@pytest.mark.parametrize("version", RELEASES)
@pytest.mark.parametrize(
    ("count", "dynamic"), [(1, False), (1, True), (3, True)], ids=["one-static", "one-dynamic", "three-dynamic"]
)
def test_a_broker(
    request: pytest.FixtureRequest, ours: Kind, tmp_path: Path, version: str, count: int, dynamic: bool
) -> None:
    """All deeds, a restart, and a kill of the leading controller."""
    with local_kafka(request):
        kafka = Kafka(version)
        controls = kafka if isinstance(ours, Kafka) else ours
        members = [*(controller(number, controls) for number in range(count)), broker(0, kafka)]
        with mixed(tmp_path, *members, dynamic=dynamic, release=RELEASES[version]) as cluster:
            ledger = Ledger(cluster.bootstrap)
            topic = ledger.all("old")
            assert admin.reassign(cluster.bootstrap, topic, [[1]] * 3) == [0] * 3
            (node,), leader = cluster.brokers, cluster.leader()
            node.stop()
            node.start()
            ledger.check()
            leader.kill()
            leader.start()
            ledger.all("after")
            ledger.check()


@pytest.mark.parametrize("version", RELEASES)
def test_a_quorum_with_an_older_one(request: pytest.FixtureRequest, tmp_path: Path, version: str) -> None:
    """Two controllers of ours and one of Kafka's: Kafka's and ours lead in turn, and the logs are
    equal."""
    with local_kafka(request):
        kafka = Kafka(version)
        members = [controller(0, DOUBLE), controller(1, DOUBLE), controller(2, kafka), broker(0, kafka)]
        with mixed(tmp_path, *members, release=RELEASES[version]) as cluster:
            ledger = Ledger(cluster.bootstrap)
            topic = ledger.all("old")
            for side in ([3002], [3000, 3001]):
                with Load(ledger, topic) as load:
                    cluster.led_by(side)
                    load.goes_on()
                ledger.all("under")
            ledger.check()
            end = cluster.caught_up()
            cluster.stop()
            assert len(same(cluster.controllers, end).epochs) >= 2


def test_brokers_of_several_releases(request: pytest.FixtureRequest, ours: Kind, tmp_path: Path) -> None:
    """4.4, 4.3 and 4.0 replicate from one another on one controller, with the metadata version of
    the oldest."""
    with local_kafka(request):
        kinds = [Kafka("4.4.0"), Kafka("4.3.1"), Kafka("4.0.2")]
        brokers = [broker(number, kind) for number, kind in enumerate(kinds)]
        with mixed(tmp_path, controller(0, ours), *brokers, release="4.0") as cluster:
            eventually(
                lambda: admin.registered(cluster.bootstrap), lambda found: found == dict.fromkeys((1, 2, 3), False)
            )
            ledger = Ledger(cluster.bootstrap)
            topic = ledger.all("several", copies=3)
            admin.settled(cluster.bootstrap, topic, [[1, 2, 3]] * 3)
            cluster.node(1).kill()
            ledger.bootstrap = cluster.node(3).bootstrap
            eventually(lambda: admin.leaders(ledger.bootstrap, topic), lambda found: not {1, -1} & set(found))
            ledger.check()
