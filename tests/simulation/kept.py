"""The promises of snapshots: each stands for a prefix of what was committed, and everything that
was deleted from a log is in one (KIP-630).

- A snapshot is the state at its offset, has the epoch of the record before it, and the voters in
  force there.
- The log starts at or before the newest snapshot, that snapshot is at or before the high watermark,
  and the high watermark is at or before the end of the log.
- The second topic's snapshot is a view of the same state.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.raft_log import BOOTSTRAP
from kafkadouble.server.raft.snapshots.file_store import FileSnapshotStore
from kafkadouble.server.raft.snapshots.snapshot_reader import RecordsSnapshotReader

from .committed import Committed
from .state import State
from .world import Broken

if TYPE_CHECKING:
    from .node import Node
    from .process import Process


class Kept:
    """The snapshots of one node, in one run, that were already checked."""

    def __init__(self) -> None:
        self._ids: list[OffsetAndEpoch] = []
        self._begun = False

    def look(self, node: Node, process: Process, committed: Committed) -> int:
        """Checks everything that has changed; returns how many snapshots came from another node.
        Raises Broken if a snapshot should not exist."""
        log, ids, came = process.log, process.store.ids(), 0
        latest = ids[-1].offset if ids else 0
        if not (log.start_offset <= latest <= log.high_watermark <= log.end_offset):
            raise Broken(f"node {node.id} has snapshots {ids!r}, and {log!r}")
        if ids != self._ids:
            fresh = [id for id in ids if id not in self._ids]
            for id in fresh:
                check(f"node {node.id}", process.store, id, committed)
            came = len([id for id in fresh if id not in process.written]) if self._begun else 0
        self._ids, self._begun = ids, True
        return came


def _open(store: FileSnapshotStore, id: OffsetAndEpoch) -> RecordsSnapshotReader:
    reader = store.open(id)
    if reader is None:
        raise Broken(f"{store!r} have {id!r} in their list, and it is not there")
    return reader


def values_in(reader: RecordsSnapshotReader) -> list[bytes]:
    return [value for values in reader.values() for value in values]


def check(name: str, store: FileSnapshotStore, id: OffsetAndEpoch, committed: Committed) -> None:
    """One snapshot of the metadata log."""
    if id == BOOTSTRAP:
        return
    if committed.epochs.get(id.offset) != id.epoch:
        raise Broken(
            f"{name} has a snapshot up to {id!r}, and what was committed has epoch {committed.epochs.get(id.offset)} there"
        )
    with _open(store, id) as reader:
        if State.loaded(values_in(reader)) != committed.states[id.offset]:
            raise Broken(f"{name} has {reader!r}, which is not what was committed up to there")
        voters, version = reader.voters
    known = committed.voters[id.offset]
    if version != committed.kraft_versions[id.offset] or (version and voters != known):
        raise Broken(f"{name} has a snapshot up to {id!r} with {voters!r}, where {known!r} were in force")
