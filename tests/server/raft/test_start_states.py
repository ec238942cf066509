"""A metadata log opens from every state that a stop can leave: any log start offset, any subset of
flushed files (KIP-630).

Each state is opened four times: after the stop, after a kill during the start, after an append and
a stop, and after a stop with nothing new. All find the same log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest

from kafkadouble.dump.checking import check as checked
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.formats import names
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.logs.files import FileLogs
from kafkadouble.server.logs.formatting import format_directory, opened
from kafkadouble.server.raft.raft_log import RaftLog
from kafkadouble.server.raft.snapshots.cleaner import forget_old
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_writer import write_at_once
from kafkadouble.wire.batch import read_header
from tests.server.log.files.lossy_disk import Contents, LossyDisk

from .quorum import static_voters
from .snapshots.making import NOW, values

CONFIG = LogConfig({"segment.bytes": 250})
FOLDER = "__cluster_metadata-0"
EPOCHS = {1: 3, 2: 1, 4: 4}
"""Epoch -> batches of two records in it: offsets 0 to 5, 6 to 7, 8 to 15."""


class Opened(NamedTuple):
    logs: FileLogs
    raft: RaftLog

    @property
    def seen(self) -> tuple[object, ...]:
        """What the quorum sees of it."""
        raft = self.raft
        return raft.start_offset, raft.end, raft.log.epochs.entries, raft.snapshots.ids(), raft.high_watermark


def started(disk: LossyDisk) -> Opened:
    """As a node does it, up to the mark of a clean stop."""
    logs = FileLogs(opened({"disk": disk}, 1), lambda: Uuid(b"n" * 16))
    log = logs.metadata(CONFIG, NOW)
    raft = RaftLog(log, static_voters([1]), logs.snapshots, log)
    forget_old(raft, logs.snapshots, NOW)
    logs.begin()
    return Opened(logs, raft)


def snapshot(of: Opened, offset: int, epoch: int) -> OffsetAndEpoch:
    id = OffsetAndEpoch(offset, epoch)
    part = of.logs.snapshots.create(id)
    assert part is not None
    write_at_once(part, SnapshotHeader(NOW), values(2), NOW)
    return id


def move(of: Opened, offset: int, epoch: int) -> None:
    of.raft.move_start(snapshot(of, offset, epoch))
    forget_old(of.raft, of.logs.snapshots, NOW)


def take_over(of: Opened) -> None:
    of.raft.start_from_snapshot(snapshot(of, 20, 5))
    forget_old(of.raft, of.logs.snapshots, NOW)


SHAPES: dict[str, tuple[Callable[[Opened], object], OffsetAndEpoch, int]] = {
    "from its beginning": (lambda of: None, OffsetAndEpoch(16, 4), 0),
    "inside a segment": (lambda of: move(of, 10, 4), OffsetAndEpoch(16, 4), 10),
    "inside an epoch": (lambda of: move(of, 4, 1), OffsetAndEpoch(16, 4), 4),
    "at a boundary": (lambda of: move(of, 8, 2), OffsetAndEpoch(16, 4), 8),
    "at its end": (lambda of: move(of, 16, 4), OffsetAndEpoch(16, 4), 16),
    "empty behind a snapshot": (take_over, OffsetAndEpoch(20, 5), 20),
    "ends before a snapshot": (lambda of: snapshot(of, 20, 5), OffsetAndEpoch(20, 5), 20),
}
"""Where the log begins -> what brings it there, its end, and where it begins at the latest."""

SMALL_FILES = (f"{FOLDER}/{names.LEADER_EPOCH}", names.LOG_START, names.RECOVERY_POINT)
MISSING, EMPTY, BEFORE, AFTER = "missing", "empty", "before", "after"


NOTHING, SNAPSHOTS, NEWEST, ALL = (
    "nothing",
    "snapshots",
    "snapshots and the newest segment",
    "snapshots and all segments",
)
"""What a power loss restored of deleted files: segments are deleted first, from the oldest on."""


class Left(NamedTuple):
    """The disk when the log has moved, and its files as they were before."""

    disk: LossyDisk
    before: Mapping[str, bytes]


def left_by(bring: Callable[[Opened], object]) -> Left:
    disk = LossyDisk()
    format_directory(disk, "disk", "a-cluster", 1, Uuid(b"d" * 16), NOW)
    of = started(disk)
    for epoch, batches in EPOCHS.items():
        of.raft.begin_epoch(epoch)
        for _ in range(batches):
            of.raft.append_values(values(2), epoch, NOW)
    of.raft.flush()
    of.raft.commit(of.raft.end_offset)
    snapshot(of, 2, 1)
    of.logs.checkpoint(NOW)
    before = {path: bytes(content.data) for path, content in disk.contents.items()}
    bring(of)
    of.raft.flush()
    of.logs.close(NOW, 7)
    return Left(disk, before)


def states(left: Left) -> Iterator[tuple[str, LossyDisk]]:
    """Each small file as before, as now, empty, or missing; with and without the clean shutdown
    file; with all or some of the deleted files; with and without the indexes. Every third state:
    they have all pairs of such conditions.
    """
    versions = [(AFTER, MISSING), (AFTER, BEFORE, MISSING), (AFTER, BEFORE, MISSING, EMPTY)]
    conditions = (*reversed(versions), (True, False), (NOTHING, SNAPSHOTS, NEWEST, ALL), (True, False))
    for message in product(*conditions):
        if sum(values.index(value) for values, value in zip(conditions, message, strict=True)) % 3:
            continue
        *files, is_marked, back, has_indexes = message
        disk = left.disk.copy()
        for path, version in zip(SMALL_FILES, files, strict=True):
            put(disk, path, str(version), left.before)
        if not is_marked:
            disk.contents.pop(names.CLEAN_SHUTDOWN)
        bring_back(disk, str(back), left.before)
        for path in () if has_indexes else [content for content in disk.contents if content.endswith("index")]:
            del disk.contents[path]
        yield f"{message}", disk


def put(disk: LossyDisk, path: str, version: str, before: Mapping[str, bytes]) -> None:
    if version == MISSING or (version == BEFORE and path not in before):
        disk.contents.pop(path, None)
    elif version != AFTER:
        disk.contents[path] = Contents(before[path] if version == BEFORE else b"")


def bring_back(disk: LossyDisk, what: str, before: Mapping[str, bytes]) -> None:
    bases = sorted(path.removesuffix(names.LOG) for path in before if path.endswith(names.LOG))
    deleted = [base for base in bases if base + names.LOG not in disk.contents]
    stems = {NEWEST: deleted[-1:], ALL: deleted}.get(what, [])
    for path, data in before.items():
        is_snapshot = what != NOTHING and path.endswith(names.CHECKPOINT)
        if is_snapshot or (path.startswith(tuple(stems)) and path not in disk.contents):
            disk.contents[path] = Contents(data)


def lives_of(disk: LossyDisk) -> Iterator[Opened]:
    """After the stop; after a kill; after a clean stop with one more batch; after one with nothing
    more.
    """
    yield started(disk)
    disk = disk.copy()
    again = started(disk)
    yield again
    again.raft.begin_epoch(9)
    again.raft.append_values(values(1), 9, NOW)
    again.raft.flush()
    again.raft.commit(again.raft.end_offset)
    for _ in range(2):
        again.logs.close(NOW, 8)
        disk = disk.copy()
        again = started(disk)
        yield again


@pytest.mark.parametrize("shape", SHAPES)
def test_replica_starts_from_every_quorum_state(shape: str) -> None:
    bring, end, latest_start = SHAPES[shape]
    count = 0
    for state, disk in states(left_by(bring)):
        first, killed, appended, stopped = [check(life, state) for life in lives_of(disk)]
        assert first == killed, state
        assert first[1] == end, state
        assert int(str(first[0])) <= latest_start, state
        assert appended[1] == OffsetAndEpoch(end.offset + 1, 9), state
        assert appended == stopped, state
        count += 1
    assert count == 128


def check(of: Opened, state: str) -> tuple[object, ...]:
    """Every batch is in the epoch that the log has for it, and deleted records are in a
    snapshot.
    """
    raft = of.raft
    for batch in raft.log.batches(raft.start_offset):
        header = read_header(batch)
        known = raft.log.epochs.epoch_for(max(header.base_offset, raft.start_offset))
        assert known == header.partition_leader_epoch, state
    latest = raft.latest_snapshot
    assert latest is not None
    assert raft.start_offset <= latest.offset <= raft.end_offset, state
    return of.seen


@pytest.mark.parametrize("is_marked", [True, False])
@pytest.mark.parametrize("starts", [AFTER, BEFORE, MISSING])
@pytest.mark.parametrize("shape", SHAPES)
def test_check_accepts_the_metadata_log_of_kafka(tmp_path: Path, shape: str, starts: str, is_marked: bool) -> None:
    """Apache Kafka writes no log start offset and no recovery point of its metadata log."""
    left = left_by(SHAPES[shape][0])
    disk = left.disk.copy()
    for name in (names.LOG_START, names.RECOVERY_POINT):
        put(disk, name, starts, left.before)
    for path, contents in disk.contents.items():
        if is_marked or path != names.CLEAN_SHUTDOWN:
            (tmp_path / path).parent.mkdir(exist_ok=True)
            (tmp_path / path).write_bytes(contents.data)
    assert checked(tmp_path).word == "good"
