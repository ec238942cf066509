"""Checks the log directories of a node that is down or idle: whether they are valid, and how large
they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from kafkadouble.dump.checking import check
from kafkadouble.dump.checks.verdict import Rules, Verdict
from kafkadouble.server.log.formats import names
from kafkadouble.server.metadata.internal_topics import METADATA_TOPIC
from tests.server.log.files.lossy_disk import LossyDisk

STRAY = "-stray"
IN_MEMORY = "/dev/shm"


def checked(disk: LossyDisk, *, gaps: bool) -> Verdict:
    """The verdict of `kafkadouble check` on the directory; `gaps` is its flag of this name."""
    with TemporaryDirectory(dir=IN_MEMORY if Path(IN_MEMORY).is_dir() else None) as folder:
        for name in disk.folders():
            (Path(folder) / name).mkdir(parents=True, exist_ok=True)
        for path, contents in disk.contents.items():
            (Path(folder) / path).write_bytes(contents.data)
        return check(Path(folder), Rules(gaps=gaps))


def partitions(disk: LossyDisk) -> list[tuple[str, int]]:
    """The partitions of topics that have a folder there, without that of the metadata."""
    found = map(names.parse_partition_folder, disk.folders())
    return sorted(each for each in found if each is not None and each[0] != METADATA_TOPIC)


def files(disk: LossyDisk, topic: str, index: int) -> dict[str, int]:
    """The size of each file of a partition, by its name."""
    folder = names.partition_folder(topic, index)
    return {name: disk.size(f"{folder}/{name}") for name in disk.names(folder)}


def deleted(disk: LossyDisk) -> Iterator[str]:
    """The files that only wait for their deletion, without those in a folder that was set aside."""
    contents = (path for path in (*disk.contents, *disk.folders()) if path.endswith((".deleted", "-delete")))
    return (path for path in contents if STRAY not in path)
