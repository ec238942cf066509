"""How Kafka names the files and folders of a log directory.

The folder of a partition is `topic-index`. The name of a segment's file is its base offset in
twenty digits, and a suffix. A uuid and a suffix mark folders that are to be deleted, that are
stray, or that are being moved here from another directory (KIP-113, KIP-858).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..offset_and_epoch import OffsetAndEpoch

LOG, INDEX, TIME_INDEX, TXN_INDEX = ".log", ".index", ".timeindex", ".txnindex"
SNAPSHOT = ".snapshot"
"""A producer snapshot; the number in its name is the offset up to which it holds."""
CHECKPOINT = ".checkpoint"
"""A snapshot of the metadata log (KIP-630); `.checkpoint.part` while it is being written."""
DELETED, CLEANED, SWAP, PART = ".deleted", ".cleaned", ".swap", ".part"
KINDS = (LOG, INDEX, TIME_INDEX, TXN_INDEX, SNAPSHOT)

RECOVERY_POINT = "recovery-point-offset-checkpoint"
REPLICATION_OFFSET = "replication-offset-checkpoint"
"""The high watermarks."""
LOG_START = "log-start-offset-checkpoint"
CLEANER_OFFSET = "cleaner-offset-checkpoint"
OFFSET_CHECKPOINTS = (RECOVERY_POINT, REPLICATION_OFFSET, LOG_START, CLEANER_OFFSET)
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
META_PROPERTIES = "meta.properties"
LOCK = ".lock"
LEADER_EPOCH = "leader-epoch-checkpoint"
PARTITION_METADATA = "partition.metadata"
QUORUM_STATE = "quorum-state"
BOOTSTRAP = "bootstrap.checkpoint"
"""The first records of a new node's metadata, as `kafka-storage format` writes them."""

REMOTE_INDEX_CACHE = "remote-log-index-cache"
"""The only folder of a log directory that is not of a partition."""

DELETE, STRAY, FUTURE = "delete", "stray", "future"
"""The marks of folders."""

LONGEST_NAME = 255
"""The most characters in the name of a file or folder."""
_LARGEST_OFFSET, _LARGEST_INT = 2**63 - 1, 2**31 - 1
_FILE = re.compile(r"([0-9]{20})((?:\.[a-z]+)+)\Z")
_CHECKPOINT = re.compile(r"([0-9]{20})-([0-9]{10})\.checkpoint\Z")
_FOLDER = re.compile(r"([a-zA-Z0-9._-]+)-(0|[1-9][0-9]{0,9})\Z")
_MARKED_LOOSELY = re.compile(r"\S+-\S+\.\S+-(delete|stray|future)\Z")
_INT = re.compile(r"\+?[0-9]+\Z")
_MARKED = re.compile(r"([a-zA-Z0-9._-]+)-(0|[1-9][0-9]{0,9})\.([0-9a-zA-Z]+)-(delete|stray|future)\Z")


class MarkedFolder(NamedTuple):
    """A folder that is no longer a partition, or not yet. A deleted or stray folder may have only
    the first part of the topic's name."""

    topic: str
    partition: int
    uuid: str
    mark: str


def segment_name(base_offset: int) -> str:
    """The base offset in twenty digits: the common part of the names of a segment's files."""
    return f"{base_offset:020d}"


def parse_file(name: str) -> tuple[int, str] | None:
    """The offset in the name of a segment's file or a producer snapshot, and everything after it:
    `.log`, `.index.deleted`, ..."""
    found = _FILE.match(name)
    if found is None or int(found[1]) > _LARGEST_OFFSET or not found[2].startswith(KINDS):
        return None
    kind, _, mark = found[2][1:].partition(".")
    return (int(found[1]), found[2]) if f".{kind}" in KINDS and mark in _MARKS else None


_MARKS = ("", "deleted", "cleaned", "swap")


def checkpoint_name(snapshot_id: OffsetAndEpoch) -> str:
    """The name of a snapshot of the metadata log: its end offset and epoch."""
    return f"{snapshot_id.offset:020d}-{snapshot_id.epoch:010d}{CHECKPOINT}"


def parse_checkpoint(name: str) -> OffsetAndEpoch | None:
    """The snapshot id in the name of a finished snapshot of the metadata log."""
    found = _CHECKPOINT.match(name)
    if found is None or int(found[1]) > _LARGEST_OFFSET or int(found[2]) > _LARGEST_INT:
        return None
    return OffsetAndEpoch(int(found[1]), int(found[2]))


def partition_folder(topic: str, index: int) -> str:
    return f"{topic}-{index}"


def parse_partition_folder(name: str) -> tuple[str, int] | None:
    """The topic and partition of a folder that holds a log in use; None for all others, also marked
    ones."""
    found = _FOLDER.match(name)
    return (found[1], int(found[2])) if found and int(found[2]) <= _LARGEST_INT else None


def deleted_folder(topic: str, index: int, uuid: str) -> str:
    """The name of a folder that waits to be deleted, with `uuid` in 32 hex digits. The topic is cut
    when the name would be too long."""
    return _marked_folder(topic, index, uuid, DELETE)


def stray_folder(topic: str, index: int, uuid: str) -> str:
    """The name of the folder of a partition that is not on this node in the metadata (KIP-858)."""
    return _marked_folder(topic, index, uuid, STRAY)


def future_folder(topic: str, index: int, uuid: str) -> str:
    """The name of the folder of a partition that is being moved here from another log directory
    (KIP-113)."""
    return f"{partition_folder(topic, index)}.{uuid}-future"


def parse_marked_folder(name: str) -> MarkedFolder | None:
    """The partition that a marked folder held, or will hold."""
    found = _MARKED.match(name)
    if found is None or int(found[2]) > _LARGEST_INT:
        return None
    return MarkedFolder(found[1], int(found[2]), found[3], found[4])


def is_deleted(name: str) -> bool:
    """Whether a folder waits to be deleted."""
    return _has_mark(name, DELETE)


def is_stray(name: str) -> bool:
    return _has_mark(name, STRAY)


def is_future(name: str) -> bool:
    return _has_mark(name, FUTURE)


def is_of_log(name: str) -> bool:
    """Whether Kafka takes a folder for that of a log, in use or marked, by its name. It starts with
    no other folder in a log directory."""
    kept = name
    if name.endswith(tuple(f"-{mark}" for mark in (DELETE, STRAY, FUTURE))):
        if _MARKED_LOOSELY.match(name) is None:
            return False
        kept = name.rpartition(".")[0]
    topic, _, index = kept.rpartition("-")
    return name == REMOTE_INDEX_CACHE or bool(topic and _INT.match(index) and int(index) <= _LARGEST_INT)


def _has_mark(name: str, mark: str) -> bool:
    found = parse_marked_folder(name)
    return found is not None and found.mark == mark


def _marked_folder(topic: str, index: int, uuid: str, mark: str) -> str:
    end = f"-{index}.{uuid}-{mark}"
    return topic[: LONGEST_NAME - len(end)] + end
