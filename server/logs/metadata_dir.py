"""A directory for the metadata log alone (`metadata.log.dir` that is not in `log.dirs`): partitions
in it are moved to the other directories before anything is opened.

Apache Kafka never looks for partitions there, so it would not see their records. Earlier versions
of kafkadouble put some there. A partition is copied under the name of a deleted one, and gets its
name when all of it is durable: whenever the move is interrupted, one whole copy is found, and the
unfinished one is removed.
"""

from __future__ import annotations

from collections.abc import Sequence

from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.client_log import ClientLog

from ..log.files.disk import Disk
from ..log.formats import names
from .log_dir import METADATA_FOLDER, LogDir

log = ClientLog("kafkadouble.server.logs")

PIECE = 1 << 20
"""Bytes that are copied at once."""


def move_partitions_out(metadata_dir: LogDir, dirs: Sequence[LogDir]) -> None:
    """Moves the partitions of a directory that is only for the metadata log to `dirs`, each to the
    one with the fewest. DiskFailure."""
    counts = {log_dir.path: len([*log_dir.partitions()]) for log_dir in dirs}
    for partition in sorted(metadata_dir.partitions()):
        folder = names.partition_folder(*partition)
        if folder == METADATA_FOLDER:
            continue
        holder = next((each for each in dirs if each.disk.exists(folder)), None)
        if holder is None:
            holder = min(dirs, key=lambda each: counts[each.path])
            counts[holder.path] += 1
            _copy(metadata_dir.disk, holder, folder)
            log.warning("%s is moved to %s: it is for the metadata log alone", metadata_dir.at(folder), holder.path)
        holder.take_over(partition, metadata_dir)
        metadata_dir.disk.remove_folder(folder)


def _copy(source: Disk, target: LogDir, folder: str) -> None:
    # An unfinished copy has a name that a start removes, Kafka's too.
    found = names.parse_partition_folder(folder)
    assert found is not None, f"{folder} is no partition"
    unfinished, disk = names.deleted_folder(*found, Uuid.ZERO.hex()), target.disk
    disk.remove_folder(unfinished)
    disk.make_folder(unfinished)
    for name in source.names(folder):
        read, written = source.open(f"{folder}/{name}"), disk.open(f"{unfinished}/{name}")
        for position in range(0, read.size, PIECE):
            written.append([read.read(position, PIECE)])
        written.flush()
        written.close()
        read.close()
    disk.flush_folder(unfinished)
    disk.rename(unfinished, folder)
    disk.flush_folder("")
