"""Ids of log directories that are no directory: what a partition says of a replica whose place is not known (KIP-858).

The first hundred ids are reserved; brokers never call a directory so.
"""

from __future__ import annotations

from collections.abc import Collection

from kafkadouble.messages.uuid import Uuid

from .image import BrokerImage, PartitionImage

MIGRATING = Uuid.ZERO
"""Of a replica from before there were directories in the metadata."""

UNASSIGNED = Uuid((1).to_bytes(16, "big"))
"""The broker has still to choose."""

LOST = Uuid((2).to_bytes(16, "big"))
"""In a directory that has failed, or that its broker does not know."""


def is_online(directory: Uuid, online: Collection[Uuid]) -> bool:
    """Whether a replica there can be served by a broker with these directories; one without any is of an older kind, and can."""
    if directory in (MIGRATING, UNASSIGNED):
        return True
    return directory != LOST and (not online or directory in online)


def default_of(broker: BrokerImage | None) -> Uuid:
    """The directory of a new replica on this broker: the only one that there is, or one that it has to choose."""
    if broker is None:
        return UNASSIGNED
    if not broker.log_dirs:
        return MIGRATING
    return broker.log_dirs[0] if len(broker.log_dirs) == 1 else UNASSIGNED


def directories_of(partition: PartitionImage) -> dict[int, Uuid]:
    """The directory of each replica."""
    if not partition.directories:
        return dict.fromkeys(partition.replicas, MIGRATING)
    return dict(zip(partition.replicas, partition.directories, strict=False))
