"""A controller that lost its disk is restored by a snapshot: Apache Kafka's by our FetchSnapshot,
ours by Kafka's, in one piece and in pieces of 37 bytes.

    pytest interop/controllers/test_disk.py --broker local
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kafkadouble.server.log.formats import names
from tests.support.waiting import eventually

from .deeds import Ledger
from .kinds import DOUBLE, Double, Kafka, Kind
from .logs import batches, same, snapshot_ids, true_snapshots
from .mixed import PATIENT, mixed
from .plan import broker, controller

pytestmark = pytest.mark.timeout(900)

OFTEN = {"metadata.log.max.record.bytes.between.snapshots": "3000"}
WHOLE, PIECES = 1 << 20, 37
TELLING = Double(("--verbose",))


@pytest.mark.parametrize("lost", ["theirs", "ours"])
@pytest.mark.parametrize("pieces", [PIECES, pytest.param(WHOLE, marks=pytest.mark.long)])
def test_a_lost_disk(real: Kafka, tmp_path: Path, lost: str, pieces: int) -> None:
    """Two controllers of one kind form the majority, and lead it; the third, of the other kind,
    starts empty, and later leads itself."""
    holder: Kind = TELLING if lost == "theirs" else real
    loser: Kind = real if lost == "theirs" else DOUBLE
    holders = [controller(number, holder) for number in (0, 1)]
    third = controller(2, loser)._replace(own=PATIENT | {"controller.quorum.fetch.snapshot.max.bytes": str(pieces)})
    with mixed(tmp_path, *holders, third, broker(0, real), overrides=OFTEN) as cluster:
        ledger, node = Ledger(cluster.bootstrap), cluster.node(third.id)
        ledger.all("before")
        leader = cluster.led_by([holder.id for holder in holders])
        ledger.all("meanwhile")
        eventually(lambda: snapshot_ids(leader))
        node.kill()
        node.lose_disk()
        assert not batches(node.metadata)
        node.start()
        # More records than it had: until it fetches, the leader reports its lost end offset.
        ledger.all("after")
        cluster.caught_up()
        by = leader if lost == "theirs" else None
        first = snapshot_ids(node)[0]
        assert batches(node.metadata)[0].header.base_offset >= first.offset
        size = (node.metadata / names.checkpoint_name(first)).stat().st_size
        if by is not None:
            requests = by.log.read_text().count("FetchSnapshot")
            assert requests >= -(-size // pieces), f"{requests} requests for {size} bytes in pieces of {pieces}"
        assert cluster.led_by([node.id]) is node
        ledger.all("led")
        ledger.check()
        end = cluster.caught_up()
        cluster.stop()
        same(cluster.controllers, end)
        true_snapshots(cluster.controllers)
