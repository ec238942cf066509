"""A metadata log, its image and its snapshots, without a node."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages.framed import encode_record
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.metadata import image_snapshots
from kafkadouble.server.metadata.record_versions import record_version
from kafkadouble.server.metadata.replay import MetadataDelta
from kafkadouble.server.raft import control_records
from kafkadouble.server.raft.raft_log import RaftLog
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.server.raft.snapshots.snapshot_reader import RecordsSnapshotReader
from kafkadouble.server.raft.voters import VoterSet
from tests.server.raft.quorum import dynamic_voters
from tests.server.raft.snapshots.making import NOW

from .cluster_story import made


class Cluster:
    """A log, its delta, and the snapshots."""

    def __init__(self, *, dynamic: bool = False) -> None:
        self.store, self.delta = MemorySnapshotStore(), MetadataDelta()
        self.log = RaftLog(PartitionLog("__cluster_metadata", 0), VoterSet.from_static("1@here:1"), self.store)
        self.log.begin_epoch(1)
        if dynamic:
            message = [control_records.kraft_version(1), control_records.voters(dynamic_voters((1, 2)))]
            self.log.append_control(message, 1, NOW)

    def append(self, *records: Any) -> OffsetAndEpoch:
        """One batch, committed and folded."""
        self.log.append_values([encode_record(record, record_version(record)) for record in records], 1, NOW)
        self.log.commit(self.log.end_offset)
        for record in records:
            self.delta.replay(record)
        return self.log.end

    def write(self, end: OffsetAndEpoch) -> bool:
        """Whether a snapshot was written."""
        steps = image_snapshots.start_writing(self.delta, end, self.log, self.store, NOW - 1, NOW)
        if steps is None:
            return False
        list(steps)
        return True

    def load(self, id: OffsetAndEpoch) -> RecordsSnapshotReader:
        reader = self.store.open(id)
        assert reader is not None
        return reader


def topic(number: int) -> Any:
    return made("TopicRecord", name=f"t{number}", topic_id=Uuid(number.to_bytes(16, "big")))
