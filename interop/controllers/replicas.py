"""The replicas of a partition on stopped brokers: they must have the same batches byte for byte,
and the same leader epochs.

Rules. A leader stores an epoch when it is elected, a follower with its first batch. So a test must
write to the partition in the last epoch before it compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kafkadouble.server.log.formats import epoch_checkpoint
from kafkadouble.wire.batch import records_of

from .logs import Stored, batches
from .node import Node

EPOCHS = "leader-epoch-checkpoint"


def folder(node: Node, topic: str, index: int = 0) -> Path:
    return node.data / f"{topic}-{index}"


def values(node: Node, topic: str, index: int = 0) -> list[bytes | None]:
    """The values of the records that a replica holds now, in order."""
    return [value for stored in batches(folder(node, topic, index)) for value in values_in(stored)]


def values_in(stored: Stored) -> list[bytes | None]:
    return [record.value for record in records_of(stored.data, 0, stored.header)]


def epochs(node: Node, topic: str, index: int = 0) -> list[tuple[int, int]]:
    """Each leader epoch and its start offset, from the checkpoint file."""
    path = folder(node, topic, index) / EPOCHS
    return [(each.epoch, each.offset) for each in epoch_checkpoint.check(path.read_bytes(), str(path))]


def equal(nodes: Sequence[Node], topic: str, partitions: int = 1) -> int:
    """Asserts that the replicas of these stopped nodes are equal; returns their number of
    batches."""
    count = 0
    for index in range(partitions):
        one, *others = nodes
        first, began = batches(folder(one, topic, index)), epochs(one, topic, index)
        for other in others:
            found = batches(folder(other, topic, index))
            for ours, theirs in zip(first, found, strict=False):
                assert ours.data == theirs.data, (
                    f"{topic}-{index}: {one} has {ours.header!r}, {other} has {theirs.header!r}"
                )
            assert len(first) == len(found), (
                f"{topic}-{index}: {one} has {len(first)} batches, {other} has {len(found)}"
            )
            noted = epochs(other, topic, index)
            assert noted == began, f"{topic}-{index}: {one} has the epochs {began}, {other} has {noted}"
        count += len(first)
    return count
