"""The image of what is committed follows the log, also where this node wrote it and no longer knows what."""

from __future__ import annotations

from collections import deque

from kafkadouble.messages.generated.topic_record import TopicRecord
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.producers import Origin
from kafkadouble.server.metadata.committed import Committed
from kafkadouble.server.metadata.metadata_log import batch_of
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshots
from kafkadouble.wire.batch import control_record, encode_batch, read_header

NOW = 1_700_000_000_000
TOPIC = TopicRecord(name="orders", topic_id=Uuid(b"o" * 16))


def test_what_a_leader_wrote_is_read_when_it_is_committed_by_the_next() -> None:
    log = PartitionLog("__cluster_metadata", 0, LogConfig())
    committed = Committed(log, MemorySnapshots())
    opening = encode_batch([control_record(0, NOW, 2, b"")], base_offset=0, is_control=True, seal=False)
    for batch in (opening, batch_of([TOPIC], 1, NOW)):
        log.append_own(batch, leader_epoch=3, now=NOW, origin=Origin.RAFT)
    told = log.read(0, 1 << 20, 2, sealed=False)
    assert read_header(told.records).crc == 0
    [change] = committed.follow(told.records, deque())
    assert change.records == [TOPIC]
    assert committed.image.end.offset == 2
    assert read_header(log.read(0, 1 << 20, 2).records).crc
