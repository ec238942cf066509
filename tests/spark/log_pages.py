"""Replicas that differ, for the page of `kafka-log` and the tests of `divergence`."""

from __future__ import annotations

from pathlib import Path

from kafkadouble.server.log.formats import names
from kafkadouble.wire.batch import Record, encode_batch

NOW = 1_700_000_000_000


def batch(first: int, count: int, epoch: int) -> bytes:
    records = [
        Record(first + each, NOW + first + each, None, b"%d of %d" % (first + each, epoch)) for each in range(count)
    ]
    return bytes(encode_batch(records, base_offset=first, partition_leader_epoch=epoch))


def replicas(folder: Path) -> tuple[Path, Path]:
    """The log directories of two brokers. At offset 5 of `orders-0` each broker wrote a batch of
    its own, the second one as the leader of a later epoch."""
    common = batch(0, 3, 0) + batch(3, 2, 0)
    made = (folder / "kafka-1", common + batch(5, 4, 0)), (folder / "kafka-2", common + batch(5, 2, 1) + batch(7, 1, 1))
    for directory, data in made:
        for topic in ("orders-0", "paid-3"):
            (directory / topic).mkdir(parents=True)
            (directory / topic / (names.segment_name(0) + names.LOG)).write_bytes(
                data if topic == "orders-0" else common
            )
    return made[0][0], made[1][0]
