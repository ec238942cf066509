"""The clusters of this folder, made of Apache Kafka alone: the assumptions of the other tests hold
without any code of ours, and the checks find what is wrong.

    pytest interop/controllers/test_harness.py --broker local

Needs Java, and Kafka from Maven's cache, or Maven.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkadouble.server.log.formats.errors import BadFile

from .deeds import Ledger
from .kinds import Kafka
from .logs import batches, same, true_snapshots
from .mixed import mixed
from .plan import broker, combined, controller
from .traffic import Traffic

pytestmark = pytest.mark.timeout(900)


def test_ledger_finds_lost_records_and_offsets_of_a_single_node(real: Kafka, tmp_path: Path) -> None:
    with mixed(tmp_path, combined(0, real)) as cluster:
        assert cluster.leader().id == 1
        ledger = Ledger(cluster.bootstrap)
        topic = ledger.all()
        ledger.check()
        partition = next(record for record in ledger.records if record.topic == topic)
        offset, value = ledger.records[partition].popitem()
        ledger.records[partition][offset] = b"something else"
        with pytest.raises(AssertionError):
            ledger.check()
        ledger.records[partition][offset] = value
        group = next(iter(ledger.groups))
        ledger.groups[group][partition] += 1
        with pytest.raises(AssertionError):
            ledger.check()


@pytest.mark.long
def test_traffic_that_finds_what_is_lost_and_what_is_there_twice(real: Kafka, tmp_path: Path) -> None:
    with mixed(tmp_path, combined(0, real)) as cluster:
        topic = Ledger(cluster.bootstrap).topic("traffic", 2)
        with Traffic(cluster.bootstrap, topic, 2) as traffic:
            pass
        traffic.check()
        for found in (traffic.acknowledged[1], traffic.seen[1]):
            found.append(found[-1])
            with pytest.raises(AssertionError):
                traffic.check()
            found.pop()
        for each in (traffic.acknowledged[0], traffic.seen[0]):
            each.pop()
        with pytest.raises(AssertionError):
            traffic.check()


@pytest.mark.long
@pytest.mark.parametrize("dynamic", [True, False], ids=["dynamic", "static"])
def test_three_and_logs_that_are_compared(real: Kafka, tmp_path: Path, dynamic: bool) -> None:
    often = {"metadata.log.max.record.bytes.between.snapshots": "1500"}
    members = [*(controller(number, real) for number in range(3)), broker(0, real)]
    with mixed(tmp_path, *members, dynamic=dynamic, overrides=often) as cluster:
        assert cluster.led().voters == (3000, 3001, 3002)
        old = cluster.leader()
        assert cluster.fail_over() is not old
        Ledger(cluster.bootstrap).all()
        assert cluster.led_by([old.id]) is old
        end = cluster.caught_up()
        cluster.stop()
        nodes = cluster.controllers
        assert len(same(nodes, end).epochs) >= 2
        assert true_snapshots(nodes) > 0
        with pytest.raises(AssertionError, match="was committed"):
            same(nodes, end + 1_000_000)
        path = next(path for path in old.metadata.glob("*.log"))
        whole, last = (
            path.read_bytes(),
            [batch.data for batch in batches(old.metadata) if batch.header.next_offset <= end][-1],
        )
        path.write_bytes(whole.replace(last, last[:-1] + bytes((last[-1] ^ 1,))))
        with pytest.raises(AssertionError, match="node 300"):
            same(nodes, end)
        path.write_bytes(whole)
        one, *others = (path for node in nodes for path in sorted(node.metadata.glob("*[1-9]-*.checkpoint")))
        one.chmod(0o644)
        one.write_bytes(next(path for path in others if path.name != one.name).read_bytes())
        with pytest.raises((AssertionError, BadFile), match=r"is not the fold|in a snapshot of epoch"):
            true_snapshots(nodes)
