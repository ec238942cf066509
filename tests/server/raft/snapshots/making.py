"""Snapshots for tests: some records, their bytes, and stores of every kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafkadouble.messages import registry
from kafkadouble.messages.framed import encode_record
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.replica_key import ReplicaKey
from kafkadouble.server.raft.snapshots.memory_store import MemorySnapshotStore
from kafkadouble.server.raft.snapshots.snapshot_header import SnapshotHeader
from kafkadouble.server.raft.snapshots.snapshot_writer import BATCH_SIZE_BYTES, write_at_once
from kafkadouble.server.raft.voters import Voter, VoterEndpoint, VoterSet

NOW = 1_795_000_000_000
ID = OffsetAndEpoch(100, 3)
VOTERS = VoterSet([Voter(ReplicaKey(1, Uuid(bytes([7]) * 16)), {"CONTROLLER": VoterEndpoint("here", 9093)})])
HEAD = SnapshotHeader(NOW - 10, 1, VOTERS)


def made(kind: str, /, **fields: Any) -> Any:
    """A metadata record by its name."""
    return registry.message(kind)(**fields)


def value(number: int) -> bytes:
    """The value of some record."""
    return encode_record(made("FeatureLevelRecord", name=f"feature.{number}", feature_level=1), 0)


def values(count: int) -> list[bytes]:
    return [value(number) for number in range(count)]


def data(
    of: Iterable[bytes] = (),
    id: OffsetAndEpoch = ID,
    head: SnapshotHeader = HEAD,
    now: int = NOW,
    most: int = BATCH_SIZE_BYTES,
) -> bytes:
    store = MemorySnapshotStore()
    write_at_once(part_of(store, id), head, of, now, most=most)
    return store.bytes_of(id)


def part_of(store: Any, id: OffsetAndEpoch = ID) -> Any:
    """The writer of a new snapshot."""
    part = store.create(id)
    assert part is not None
    return part
