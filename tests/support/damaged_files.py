"""Every kind of file in a log directory, the ways to damage it, and what a start then makes of it:
here, and in Apache Kafka where that differs.

Two log directories: `a` has the metadata log and a partition that stays as it is, `b` has the
partition that is damaged, of several segments. Of a name in `TABLE`, `directory/` is `b`, `other/`
is `a`, `partition/` the folder of the damaged partition, and `metadata/` that of the metadata log;
`first` and `last` are segments, and `.snapshot` is the newest snapshot of the producers.
`tests/server/logs/test_damaged_files.py` plays the table here, `interop/test_damaged_files.py` on
both.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from kafkadouble.server.log.formats.names import partition_folder


class Outcome(Enum):
    """What a start makes of damage."""

    WHOLE = "everything is served"
    LESS = "the partition is served without what is lost"
    STRAY = "the folder is put aside as stray, and an empty partition takes its place"
    PARTITION = "the partition is offline, and its directory is in use"
    DIRECTORY = "the log directory is offline"
    NO_START = "the node does not start"


WHOLE, LESS, STRAY, PARTITION, DIRECTORY, NO_START = Outcome


def _cut(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - max(1, len(data) // 3)])


def _garbage(path: Path) -> None:
    path.write_bytes(b"\x07garbage \xff\xfe" * 7 + b"\nmore\n")


def _copied(path: Path) -> None:
    shutil.copytree(path, path.parents[1] / "a" / path.name)


DAMAGES: Mapping[str, Callable[[Path], object]] = {
    "absent": Path.unlink,
    "empty": lambda path: path.write_bytes(b""),
    "garbage": _garbage,
    "cut": _cut,
    "added": Path.mkdir,
    "copied": _copied,
    "removed": shutil.rmtree,
}
"""`cut`: its last third is missing. `added`, `copied` (to the other directory) and `removed` are
for folders."""

Both = Outcome | tuple[Outcome, Outcome]
"""The outcome here, and that in Apache Kafka if it differs."""

_CHECKPOINT: dict[str, Both] = {"absent": WHOLE, "empty": WHOLE, "garbage": DIRECTORY, "cut": DIRECTORY}
_NEEDED: dict[str, Both] = {"absent": NO_START, "empty": NO_START, "garbage": NO_START, "cut": NO_START}
_UNREAD: dict[str, Both] = {"absent": WHOLE, "empty": WHOLE, "garbage": WHOLE, "cut": WHOLE}
_INDEX = _UNREAD

TABLE: Mapping[str, Mapping[str, Both]] = {
    "directory/meta.properties": _NEEDED,
    "directory/recovery-point-offset-checkpoint": _CHECKPOINT,
    "directory/replication-offset-checkpoint": _CHECKPOINT,
    "directory/log-start-offset-checkpoint": {"absent": WHOLE, "empty": WHOLE, "garbage": DIRECTORY},
    "directory/cleaner-offset-checkpoint": {"absent": WHOLE, "empty": WHOLE, "garbage": DIRECTORY},
    "directory/.kafka_cleanshutdown": _UNREAD,
    "directory/my-backup": {"added": NO_START},
    "directory/lost+found": {"added": NO_START},
    "directory/__cluster_metadata-0": {"added": NO_START},
    "directory/gone-0": {"added": WHOLE},
    "directory/remote-log-index-cache": {"added": WHOLE},
    "directory/gone-0.0123456789abcdef0123456789abcdef-delete": {"added": WHOLE},
    "directory/gone-0.0123456789abcdef0123456789abcdef-stray": {"added": WHOLE},
    "directory/gone-0.0123456789abcdef0123456789abcdef-future": {"added": WHOLE},
    "directory/gone.0123456789abcdef0123456789abcdef-delete": {"added": NO_START},
    "partition/": {"copied": NO_START, "removed": STRAY},
    "partition/partition.metadata": {
        "absent": STRAY,
        "empty": (DIRECTORY, NO_START),
        "garbage": DIRECTORY,
        "cut": (DIRECTORY, NO_START),
    },
    "partition/leader-epoch-checkpoint": {
        "absent": WHOLE,
        "empty": WHOLE,
        "garbage": (WHOLE, DIRECTORY),
        "cut": (WHOLE, DIRECTORY),
    },
    "partition/first.log": {"absent": LESS, "empty": (PARTITION, LESS), "garbage": (PARTITION, LESS)},
    "partition/last.log": {
        "absent": (PARTITION, LESS),
        "empty": (PARTITION, LESS),
        "garbage": (PARTITION, LESS),
        "cut": (PARTITION, LESS),
    },
    "partition/first.index": _INDEX,
    "partition/first.timeindex": _INDEX,
    "partition/first.txnindex": {
        "absent": LESS,
        "empty": LESS,
        "garbage": (WHOLE, NO_START),
        "cut": (WHOLE, LESS),
    },
    "partition/.snapshot": _UNREAD,
    "other/bootstrap.checkpoint": {"empty": NO_START, "garbage": NO_START},
    "metadata/partition.metadata": {"absent": WHOLE, "empty": NO_START, "garbage": NO_START, "cut": NO_START},
    "metadata/leader-epoch-checkpoint": {
        "absent": WHOLE,
        "empty": WHOLE,
        "garbage": (WHOLE, NO_START),
        "cut": (WHOLE, NO_START),
    },
    "metadata/quorum-state": {"absent": WHOLE, "empty": NO_START, "garbage": NO_START, "cut": NO_START},
    "metadata/last.log": {"garbage": (NO_START, WHOLE), "cut": (NO_START, WHOLE)},
}


class Row(NamedTuple):
    """One damage, and its outcomes."""

    file: str
    damage: str
    here: Outcome
    kafka: Outcome

    def do(self, folder: Path, topic: str) -> None:
        """Damages the directories in this folder, of which `topic` is the partition in `b`."""
        DAMAGES[self.damage](self._path(folder, partition_folder(topic, 0)))

    def _path(self, folder: Path, partition: str) -> Path:
        place, _, name = self.file.partition("/")
        places = {
            "directory": "b",
            "other": "a",
            "partition": f"b/{partition}",
            "metadata": "a/__cluster_metadata-0",
        }
        at = folder / places[place]
        stem, _, kind = name.partition(".")
        if stem not in ("first", "last") and name != ".snapshot":
            return at / name
        found = sorted(at.glob(f"*.{kind}"))
        return found[0] if stem == "first" else found[-1]

    def __str__(self) -> str:
        return f"{self.file} {self.damage}"


def _rows() -> Iterator[Row]:
    for file, damages in TABLE.items():
        for damage, both in damages.items():
            here, kafka = both if isinstance(both, tuple) else (both, both)
            yield Row(file, damage, here, kafka)


ROWS = [*_rows()]
