"""One program continues with a data directory that the other wrote: kafkadouble with Apache
Kafka's, and Apache Kafka with kafkadouble's.

Covers records, transactions, offsets of groups, configurations, and leader epochs; after a stop and
after a kill; and a quorum's nodes one by one.

    pytest interop/controllers/test_takeover.py --broker local

Needs Java, and Kafka from Maven's cache, or Maven.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.waiting import eventually

from . import admin
from .deeds import Ledger
from .kinds import DOUBLE, KAFKA, Kafka, Kind
from .load import Load
from .logs import same, true_snapshots
from .mixed import mixed
from .plan import broker, combined, controller

pytestmark = pytest.mark.timeout(900)


ORDERS = [
    pytest.param(KAFKA, DOUBLE, "kill", id="ours-on-theirs-kill"),
    pytest.param(DOUBLE, KAFKA, "stop", id="theirs-on-ours-stop", marks=pytest.mark.long),
    pytest.param(DOUBLE, KAFKA, "kill", id="theirs-on-ours-kill", marks=pytest.mark.long),
    pytest.param(KAFKA, DOUBLE, "stop", id="ours-on-theirs-stop", marks=pytest.mark.long),
]
"""The program that begins, the one that continues and hands back, and how each ends."""


@pytest.mark.parametrize(("first", "then", "ends"), ORDERS)
def test_a_node_goes_on_where_another_ended(tmp_path: Path, first: Kind, then: Kind, ends: str) -> None:
    with mixed(tmp_path, combined(0, first)) as cluster:
        (node,) = cluster.nodes
        ledger = Ledger(node.bootstrap)
        topics = [ledger.all("first")]
        known: dict[tuple[str, int, int], int] = {}
        for kind in (then, first):
            getattr(node, ends)()
            node.become(kind)
            node.start()
            ledger.check()
            epochs = _epochs(node.bootstrap, topics, len(known))
            assert {each: epochs[each] for each in known} == known, "an epoch of before ends elsewhere now"
            known = epochs
            topics.append(ledger.all("more"))
            ledger.check()


def _epochs(bootstrap: str, topics: list[str], known: int) -> dict[tuple[str, int, int], int]:
    """The end offsets of the epochs that have ended; a node that continues begins new epochs."""
    return eventually(lambda: admin.ended_epochs(bootstrap, topics), lambda found: len(found) > known)


@pytest.mark.long
def test_controllers_are_exchanged_one_by_one(real: Kafka, tmp_path: Path) -> None:
    """From ours to Kafka's and back again, each with the directory that the other left, while
    clients run."""
    members = [controller(number, DOUBLE) for number in range(3)]
    often = {"metadata.log.max.record.bytes.between.snapshots": "4000"}
    with mixed(tmp_path, *members, broker(0, real), release="4.3", overrides=often) as cluster:
        ledger = Ledger(cluster.bootstrap)
        topic = ledger.all("begin")
        for kind in (real, DOUBLE):
            with Load(ledger, topic) as load:
                for node in cluster.controllers:
                    node.kill()
                    node.become(kind)
                    node.start()
                    cluster.caught_up()
                    load.goes_on()
            ledger.all("exchanged")
        ledger.check()
        end = cluster.caught_up()
        cluster.stop()
        assert len(same(cluster.controllers, end).epochs) >= 3
        assert true_snapshots(cluster.controllers) >= 3
