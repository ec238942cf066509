"""Quorums of our controllers and Apache Kafka's: two of ours and one of theirs, and one and two.
Ours lead, then Kafka's, then ours again, while a real broker runs. In the end the logs are equal
byte for byte, Kafka's own tool reads the same from all, and every snapshot equals the replayed log.

    pytest interop/controllers/test_mixed.py --broker local
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from interop.observing import tool
from interop.tools import dump_log
from tests.support.waiting import eventually

from .deeds import Ledger
from .kinds import DOUBLE, Kafka, Kind
from .load import Load
from .logs import same, snapshot_ids, true_snapshots
from .mixed import Mixed, mixed
from .plan import broker, controller

QUORUM = "MetadataQuorumCommand"

pytestmark = pytest.mark.timeout(900)

SNAPSHOTS = {"metadata.log.max.record.bytes.between.snapshots": "4000"}
RELEASE = "4.3"
"""The metadata version of the cluster: the newest that Kafka's tools know, since those of 4.4 were
not published."""


class Sides(NamedTuple):
    """The ids of our controllers, and of Kafka's."""

    ours: list[int]
    theirs: list[int]


class Quorum(NamedTuple):
    """A cluster, and the ids of its controllers by kind."""

    cluster: Mixed
    sides: Sides


SHAPES = [
    "two-ours-dynamic",
    pytest.param("two-theirs-dynamic", marks=pytest.mark.long),
    pytest.param("two-ours-static", marks=pytest.mark.long),
    pytest.param("two-theirs-static", marks=pytest.mark.long),
]


@pytest.fixture(scope="module", params=SHAPES)
def quorum(request: pytest.FixtureRequest, real: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Quorum]:
    _, majority, voters = request.param.split("-")
    kinds: list[Kind] = [DOUBLE, DOUBLE, real] if majority == "ours" else [DOUBLE, real, real]
    members = [controller(number, kind) for number, kind in enumerate(kinds)]
    folder, dynamic = tmp_path_factory.mktemp("mixed"), voters == "dynamic"
    with mixed(folder, *members, broker(0, real), dynamic=dynamic, release=RELEASE, overrides=SNAPSHOTS) as cluster:
        ids = [member.id for member in members]
        count = kinds.count(DOUBLE)
        yield Quorum(cluster, Sides(ids[:count], ids[count:]))


def test_leadership_of_a_mixed_quorum_goes_back_and_forth(quorum: Quorum) -> None:
    """Leaders are killed under load until the other side leads; what one leader acknowledged is
    there under the next."""
    cluster, sides = quorum
    ledger = Ledger(cluster.bootstrap)
    topic = ledger.all("begin")
    for side in (sides.ours, sides.theirs, sides.ours):
        with Load(ledger, topic) as load:
            cluster.led_by(side)
            load.goes_on()
        ledger.all("under")
        cluster.caught_up()
    assert cluster.led().voters == (3000, 3001, 3002)
    ledger.check()


@pytest.mark.flaky(reruns=0)  # it stops the nodes, so a second try would only hide the cause
def test_logs_are_equal_and_snapshots_true(quorum: Quorum) -> None:
    """The last test that needs running nodes."""
    cluster, sides = quorum
    end = cluster.caught_up()
    cluster.stop()
    found = same(cluster.controllers, end)
    assert len(found.epochs) >= 3
    assert true_snapshots(cluster.controllers) >= 3
    assert {node.id for node in cluster.controllers if snapshot_ids(node)} >= {sides.ours[0], sides.theirs[0]}


def test_kafka_reads_the_same_of_all(quorum: Quorum) -> None:
    """The output of kafka-dump-log for all logs and snapshots."""
    cluster, _ = quorum
    cluster.stop()
    logs = {node.id: sorted(node.metadata.glob("*.log")) for node in cluster.controllers}
    every = [path for paths in logs.values() for path in paths]
    checkpoints = [path for node in cluster.controllers for path in node.metadata.glob("*[1-9]-*.checkpoint")]
    rows, output = dump_log.dump([*every, *checkpoints], "metadata")
    assert "Exception" not in output
    bad = [(path, row) for path, found in rows.items() for row in found if row.get("isvalid") is False]
    assert bad == []
    assert all(rows[path] for path in checkpoints)
    shown = {id: [_plain(row) for path in paths for row in rows[path]] for id, paths in logs.items()}
    length = min(map(len, shown.values()))
    one, *others = shown.values()
    for other in others:
        assert other[:length] == one[:length]


def _plain(row: dump_log.Row) -> dump_log.Row:
    """Without the position in the file."""
    return {key: value for key, value in row.items() if key != "position"}


@pytest.mark.long
@pytest.mark.parametrize("side", ["theirs", "ours"])
def test_a_voter_of_either_side_is_taken_away_and_added(real: Kafka, tmp_path: Path, side: str) -> None:
    """kafka-metadata-quorum removes and adds a voter while the other side leads (KIP-853). The
    voter returns with its settings and its directory."""
    kinds: list[Kind] = [DOUBLE, DOUBLE, real] if side == "theirs" else [real, real, DOUBLE]
    members = [controller(number, kind) for number, kind in enumerate(kinds)]
    with mixed(tmp_path, *members, broker(0, real), dynamic=True, release=RELEASE, overrides=SNAPSHOTS) as cluster:
        ledger, node = Ledger(cluster.bootstrap), cluster.node(3002)
        ledger.all("before")
        cluster.led_by([3000, 3001])
        at = ("--bootstrap-controller", cluster.bootstrap_controllers)
        words = ("--controller-id", str(node.id), "--controller-directory-id", node.directory_id)
        tool(QUORUM, *at, "remove-controller", *words)
        eventually(lambda: cluster.led().voters, lambda voters: voters == (3000, 3001))
        ledger.all("without")
        tool(QUORUM, *at, "--command-config", str(node.config), "add-controller")
        eventually(lambda: cluster.led().voters, lambda voters: voters == (3000, 3001, 3002))
        cluster.led_by([node.id])
        ledger.all("led")
        ledger.check()
        end = cluster.caught_up()
        cluster.stop()
        same(cluster.controllers, end)
        true_snapshots(cluster.controllers)
