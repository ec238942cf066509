"""Real brokers on three controllers of ours: leaders are killed under load, no acknowledged change
is lost, and the brokers continue.

    pytest interop/controllers/test_three.py --broker local

With `--controllers local` the tests run on Apache Kafka's controllers, which must pass too.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.waiting import eventually

from . import admin
from .deeds import Ledger
from .kinds import Kafka, Kind
from .load import Load
from .logs import same, true_snapshots
from .mixed import Mixed, mixed
from .plan import broker, controller

pytestmark = pytest.mark.timeout(900)

SNAPSHOTS = {"metadata.log.max.record.bytes.between.snapshots": "4000"}


@pytest.fixture(scope="module", params=["dynamic", pytest.param("static", marks=pytest.mark.long)])
def cluster(
    request: pytest.FixtureRequest, ours: Kind, real: Kafka, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mixed]:
    """Three controllers that write a snapshot now and then, and a broker."""
    three = [controller(n, ours) for n in range(3)]
    folder, dynamic = tmp_path_factory.mktemp("three"), request.param == "dynamic"
    with mixed(folder, *three, broker(0, real), dynamic=dynamic, overrides=SNAPSHOTS) as running:
        yield running


def test_controllers_lead_one_after_the_other(cluster: Mixed) -> None:
    """Leaders are killed under load, and restarted."""
    ledger = Ledger(cluster.bootstrap)
    topic = ledger.all("load")
    assert cluster.led().voters == (3000, 3001, 3002)
    with Load(ledger, topic) as load:
        for _ in range(3):
            epoch = cluster.led().epoch
            cluster.fail_over()
            assert cluster.led().epoch > epoch
            load.goes_on()
    ledger.all("after")
    ledger.check()


def test_all_controllers_at_once(cluster: Mixed) -> None:
    """All controllers are killed and restarted; the broker waits."""
    ledger = Ledger(cluster.bootstrap)
    topic = ledger.all("all")
    with Load(ledger, topic) as load:
        for node in cluster.controllers:
            node.kill()
        written = load.written
        eventually(lambda: load.written, lambda now: now > written)  # records need no controller
        for node in cluster.controllers:
            node.begin()
        for node in cluster.controllers:
            node.wait_ready()
        load.goes_on()
    ledger.check()


def test_a_broker_comes_and_goes(cluster: Mixed) -> None:
    """The broker is shut down and started: it finds the leader, whichever controller leads."""
    ledger = Ledger(cluster.bootstrap)
    ledger.all("broker")
    cluster.fail_over()
    (node,) = cluster.brokers
    node.stop()
    node.start()
    eventually(lambda: admin.registered(cluster.bootstrap), lambda found: found == {1: False})
    ledger.check()


def test_controllers_have_equal_logs_and_snapshots(cluster: Mixed) -> None:
    """The logs are equal byte for byte. This test is the last one, since it stops the nodes."""
    end = cluster.caught_up()
    cluster.stop()
    found = same(cluster.controllers, end)
    assert len(found.epochs) > 3
    assert true_snapshots(cluster.controllers) >= 3
