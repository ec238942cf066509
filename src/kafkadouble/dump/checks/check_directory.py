"""Checks a log directory: its partitions, and whether each checkpoint names existing partitions and
offsets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kafkadouble.dump.contents.file import FileBytes
from kafkadouble.dump.contents.kinds import METADATA_TOPIC
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.formats import BadFile, clean_shutdown, meta_properties, names
from kafkadouble.wire.errors import UsageError

from .check_partition import CheckedPartition, check_partition, read_offsets
from .check_snapshot import check_snapshot
from .compacted import compacted_topics
from .verdict import Rules, Tally


def check_directory(folder: Path, rules: Rules, tally: Tally) -> None:
    """Checks a directory. Raises BadFile; torn tails are added to the tally. Raises UsageError for
    a folder without any file of Kafka."""
    folders = {found: path for path in sorted(folder.iterdir()) if path.is_dir() and (found := _partition(path))}
    if not folders and not (folder / names.META_PROPERTIES).exists():
        raise UsageError(f"{folder} is no file, no partition's folder and no log directory of Kafka")
    is_clean = _own_files(folder, tally)
    if folders.keys() - {(METADATA_TOPIC, 0)}:
        _no_other_folders(folder)
    compacted = compacted_topics(folder)
    partitions = {
        found: check_partition(path, rules, tally, compacted=found[0] in compacted, may_be_empty=True)
        for found, path in folders.items()
    }
    seen: dict[str, Uuid] = {}
    for (topic, _), partition in partitions.items():
        if partition.topic_id is not None and seen.setdefault(topic, partition.topic_id) != partition.topic_id:
            problem = f"topic id {partition.topic_id}, where another partition of {topic} has {seen[topic]}"
            raise BadFile(problem, file=str(partition.folder / names.PARTITION_METADATA), offset=0)
    _checkpoints(folder, partitions, rules, is_clean=is_clean)
    if is_clean and not rules.live:
        _recovery_points(folder, partitions)


def _no_other_folders(folder: Path) -> None:
    """Checks that every folder is of a partition; a controller that is no broker ignores others."""
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not names.is_of_log(path.name):
            raise BadFile("it is not the folder of a partition: no broker starts with it", file=str(path), offset=0)


def _partition(path: Path) -> tuple[str, int] | None:
    return names.parse_partition_folder(path.name)


def _own_files(folder: Path, tally: Tally) -> bool:
    """Checks the files about the directory itself. Returns whether the node shut down cleanly."""
    properties, clean, bootstrap = (
        folder / name for name in (names.META_PROPERTIES, names.CLEAN_SHUTDOWN, names.BOOTSTRAP)
    )
    if properties.exists():
        with FileBytes(properties) as data:
            meta_properties.read(data.whole(), str(properties))
    if bootstrap.exists():
        check_snapshot(bootstrap, tally)
    if not clean.exists():
        return False
    with FileBytes(clean) as data:
        clean_shutdown.read(data.whole(), str(clean))
    return True


def _checkpoints(
    folder: Path, partitions: Mapping[tuple[str, int], CheckedPartition], rules: Rules, *, is_clean: bool
) -> None:
    """Checks that no checkpoint is beyond the end of its log.

    After an unclean shutdown, only recovery points are compared with the end of the log: the log
    was flushed up to there. It may have lost records that the other checkpoints still include; a
    node that starts moves those checkpoints back.
    """
    marked = {
        (found.topic, found.partition) for path in folder.iterdir() if (found := names.parse_marked_folder(path.name))
    }
    for name in names.OFFSET_CHECKPOINTS:
        for (topic, index), offset in read_offsets(folder / name).items():
            partition = partitions.get((topic, index))
            if rules.live or (topic, index) in marked:
                continue
            if partition is None:
                raise BadFile(f"{topic}-{index} is not in this directory", file=str(folder / name), offset=0)
            is_promised = is_clean or name == names.RECOVERY_POINT
            if is_promised and partition.whole and offset > partition.end:
                problem = f"offset {offset} of {topic}-{index}, which ends before {partition.end}"
                raise BadFile(problem, file=str(folder / name), offset=0)
            if (topic, name) == (METADATA_TOPIC, names.LOG_START) and offset > max(0, partition.newest_snapshot):
                problem = f"the log begins at {offset}, and no snapshot reaches there"
                raise BadFile(problem, file=str(folder / name), offset=0)


def _recovery_points(folder: Path, partitions: Mapping[tuple[str, int], CheckedPartition]) -> None:
    """Checks that after a clean shutdown every recovery point is at the end of its log."""
    path = folder / names.RECOVERY_POINT
    for (topic, index), offset in read_offsets(path).items():
        partition = partitions.get((topic, index))
        if topic != METADATA_TOPIC and partition is not None and partition.whole and offset != partition.end:
            problem = f"{offset} of {topic}-{index}, which ends before {partition.end} after a clean stop"
            raise BadFile(problem, file=str(path), offset=0)
