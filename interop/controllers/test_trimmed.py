"""A metadata log without its oldest records moves between programs: Apache Kafka deletes records up
to a snapshot and stops, kafkadouble starts, deletes and stops, and back (KIP-630).

    pytest interop/controllers/test_trimmed.py --broker local
"""

from __future__ import annotations

from pathlib import Path

import pytest

from interop.clients import CREATOR
from interop.support import unique
from kafkadouble.dump.checking import check
from kafkadouble.server.log.formats import names
from tests.support.waiting import eventually

from .deeds import Ledger
from .kinds import DOUBLE, Kafka, Kind
from .logs import batches
from .mixed import mixed
from .node import Node
from .plan import combined

pytestmark = [pytest.mark.timeout(900), pytest.mark.long]

SMALL = {
    "metadata.log.max.record.bytes.between.snapshots": "2000",
    "metadata.max.retention.bytes": "5000",
}
SEGMENTS = {"inside a segment": "8388608", "behind deleted segments": "8000"}
PATIENCE = 150
"""Seconds: both programs check their snapshots once a minute."""


@pytest.mark.parametrize("start", SEGMENTS)
def test_controller_starts_on_a_log_that_the_other_trimmed(real: Kafka, tmp_path: Path, start: str) -> None:
    kinds: list[Kind] = [real, DOUBLE, real]
    overrides = SMALL | {"internal.metadata.log.segment.bytes": SEGMENTS[start]}
    with mixed(tmp_path, combined(0, real), overrides=overrides) as cluster:
        [node], ledger = cluster.nodes, Ledger(cluster.bootstrap)
        for number, kind in enumerate(kinds):
            if number:
                node.become(kind)
                node.start()
                ledger.check()
            trim(node, ledger, f"{kind.name}-{number}")
            node.stop()
            assert (batches(node.metadata)[0].header.base_offset > 0) == (start == "behind deleted segments")
            assert check(node.data).word == "good", kind.name


def trim(node: Node, ledger: Ledger, stem: str) -> None:
    """Changes metadata until all snapshots are of the current run: the log then begins at the end
    of one of them."""
    before = max(ends(node))
    ledger.all(stem)

    def is_trimmed() -> bool:
        with CREATOR.admin(ledger.bootstrap) as admin:
            for number in range(10):
                passing = unique(f"passing-{number}")
                admin.create_topic(passing, 1, {}, 1)
                admin.delete_topic(passing)
        return min(ends(node)) > before

    eventually(is_trimmed, bool, pause=1, within=PATIENCE)


def ends(node: Node) -> list[int]:
    """The end offsets of its snapshots, including the one that formatting wrote."""
    found = map(names.parse_checkpoint, (path.name for path in node.metadata.iterdir()))
    return [id.offset for id in found if id is not None]
