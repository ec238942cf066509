"""Formats log directories, as `kafka-storage format` does, and checks them when a node starts.

Rules. A directory is formatted once: one with a `meta.properties`, or with any other file, is not
touched. `meta.properties` is written last, so a directory that has it has everything. The directory
of a controller's metadata also has a snapshot at offset 0 and epoch 0: the first records of the
cluster, which its first leader writes, and the voters of a dynamic quorum (KIP-853). This snapshot
is never sent to other nodes. Apache Kafka before 4.4 has those records in `bootstrap.checkpoint`,
which is read as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.errors import UsageError

from ..log.files.disk import Disk
from ..log.formats import meta_properties, names
from ..log.formats.meta_properties import MetaProperties
from ..metadata.metadata_log import encoded_records
from ..metadata.record_versions import batch_level
from ..raft.raft_log import BOOTSTRAP
from ..raft.snapshots.file_store import FileSnapshotStore
from ..raft.voters import VoterSet
from .log_dir import METADATA_FOLDER, LogDir, properties_of


class BootstrapMetadata(NamedTuple):
    """The first records of a cluster, the `kraft.version` of its quorum, and, if that is not 0, the
    voters as far as they are known."""

    records: Sequence[Message]
    kraft_version: int = 0
    voters: VoterSet | None = None


def format_directory(
    disk: Disk,
    path: str,
    cluster_id: str,
    node_id: int,
    directory_id: Uuid,
    now: int,
    beginning: BootstrapMetadata | None = None,
) -> None:
    """Makes `path` the log directory of a node; with a `beginning`, that of a controller's
    metadata. UsageError when the directory is not empty."""
    if disk.folders() or any(name not in (names.LOCK, "lost+found") for name in disk.names("")):
        raise UsageError(f"{path} is not empty, and no log directory: nothing was written there")
    if beginning is not None:
        disk.make_folder(METADATA_FOLDER)
        from ..raft.snapshots.snapshot_header import SnapshotHeader  # formatting is rare
        from ..raft.snapshots.snapshot_writer import write_at_once

        part = FileSnapshotStore(disk, METADATA_FOLDER).create(BOOTSTRAP)
        assert part is not None, "a new folder has no snapshot"
        values = encoded_records(beginning.records, batch_level(beginning.records, None))
        write_at_once(part, SnapshotHeader(now, beginning.kraft_version, beginning.voters), values, now)
    properties = MetaProperties(cluster_id, node_id, directory_id)
    disk.write_whole(names.META_PROPERTIES, meta_properties.write(properties))


def opened(disks: Mapping[str, Disk], node_id: int) -> list[LogDir]:
    """The formatted directories of one node, by path. UsageError when one is not formatted, belongs
    to another node or cluster, or is a copy of another."""
    found: list[tuple[str, MetaProperties]] = []
    for path, disk in disks.items():
        properties = properties_of(disk, path)
        if properties is None:
            raise UsageError(f"{path} is not formatted: `kafkadouble format` makes it a log directory")
        found.append((path, properties))
    _check_together(found, node_id)
    return [LogDir(disks[path], path, properties) for path, properties in found]


def _check_together(found: Sequence[tuple[str, MetaProperties]], node_id: int) -> None:
    first, expected = found[0]
    ids: dict[Uuid | None, str] = {}
    for path, properties in found:
        if properties.node_id != node_id:
            raise UsageError(f"{path} belongs to node {properties.node_id}, and this is node {node_id}")
        if properties.cluster_id != expected.cluster_id:
            raise UsageError(f"{path} belongs to cluster {properties.cluster_id}, and {first} to {expected.cluster_id}")
        if properties.directory_id is None:
            raise UsageError(f"{path}: its {names.META_PROPERTIES} has no directory.id")
        if properties.directory_id in ids:
            raise UsageError(f"{path} is a copy of {ids[properties.directory_id]}: both have the same directory.id")
        ids[properties.directory_id] = path
