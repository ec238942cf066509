"""Directory ids with a special meaning: states of a replica whose directory is not known (Kafka's
DirectoryId, KIP-858).

The first hundred ids are reserved; no log directory has one of them.
"""

from __future__ import annotations

from collections.abc import Collection

from kafkadouble.messages.uuid import Uuid

from .image import BrokerImage, PartitionImage

MIGRATING = Uuid.ZERO
"""The replica is from a metadata.version without directories."""

UNASSIGNED = Uuid((1).to_bytes(16, "big"))
"""The broker has not chosen a directory yet."""

LOST = Uuid((2).to_bytes(16, "big"))
"""The directory is offline, or unknown to the broker."""


def is_online(directory: Uuid, online: Collection[Uuid]) -> bool:
    """Whether a broker with these directories can serve a replica in `directory`. A broker that
    registered no directories can serve any.
    """
    if directory in (MIGRATING, UNASSIGNED):
        return True
    return directory != LOST and (not online or directory in online)


def default_directory(broker: BrokerImage | None) -> Uuid:
    """The directory of a new replica on this broker: its only directory, or UNASSIGNED."""
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
