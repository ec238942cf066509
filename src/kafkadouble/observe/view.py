"""The content of a quorum's committed log: the metadata image, and each change that led to it.

A `Listener` of the replica: it receives committed records and snapshots, in order. Records in a
metadata transaction apply when the transaction ends, and never if it is aborted (KIP-868). A record
that is unknown, or does not fit the image, is skipped and reported, so that an observer of a newer
Kafka shows what it can. `changes` is a queue for the caller.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from kafkadouble.messages import framed
from kafkadouble.messages.generated.kraft_version_record import KRaftVersionRecord
from kafkadouble.messages.generated.leader_change_message import LeaderChangeMessage
from kafkadouble.messages.generated.voters_record import VotersRecord
from kafkadouble.messages.message import Message
from kafkadouble.server.log.formats.errors import BadFile
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.log.storage import Slice
from kafkadouble.server.metadata.broken_log import BrokenLog
from kafkadouble.server.metadata.image import EMPTY, Image
from kafkadouble.server.metadata.replay import replay
from kafkadouble.server.raft.snapshots.snapshot_reader import RecordsSnapshotReader
from kafkadouble.wire.batch import (
    KRAFT_VERSION,
    KRAFT_VOTERS,
    LEADER_CHANGE,
    Record,
    control_type,
    iter_batches,
    records_of,
)
from kafkadouble.wire.errors import WireError

from . import describing
from .change import CONTROL, RECORD, SNAPSHOT, UNKNOWN, Change, Place
from .history import MetadataHistory

CONTROLS: dict[int, type[Message]] = {
    LEADER_CHANGE: LeaderChangeMessage,
    KRAFT_VERSION: KRaftVersionRecord,
    KRAFT_VOTERS: VotersRecord,
}


class _Held(NamedTuple):
    """A record of a transaction that has not ended."""

    place: Place
    message: Message
    version: int


class View:
    """The image and its changes. `end` is the offset up to which the log was read; `snapshot` is
    the last snapshot that was loaded, if any."""

    def __init__(self) -> None:
        self.image: Image = EMPTY
        self.end = OffsetAndEpoch(0, 0)
        # The base offset of the last batch.
        self.last_batch = 0
        self.snapshot: OffsetAndEpoch | None = None
        self.history = MetadataHistory()
        self.changes: deque[Change] = deque()
        # The number of records that were skipped.
        self.unknown = 0
        self._held: list[_Held] | None = None

    def committed(self, batches: Slice) -> None:
        """Applies the next batches of the log."""
        for position, header in iter_batches(batches.records):
            place = Place(header.base_offset, header.partition_leader_epoch, header.max_timestamp)
            try:
                records = records_of(batches.records, position, header)
            except WireError as problem:
                self._unknown(place, str(problem), b"")
                records = []
            for record in records:
                at = place._replace(offset=record.offset, timestamp=record.timestamp)
                (self._control if header.is_control else self._record)(at, record)
            self.last_batch = header.base_offset
            self.end = OffsetAndEpoch(header.next_offset, header.partition_leader_epoch)

    def snapshot_loaded(self, reader: RecordsSnapshotReader) -> None:
        """Replaces the image by the content of a snapshot."""
        before, self._held, self.image = self.image, None, EMPTY
        id = reader.id
        place = Place(id.offset, id.epoch, -1, id)
        with reader:
            try:
                place = place._replace(timestamp=reader.head.timestamp)
                self.changes.append(Change(SNAPSHOT, place, text=f"a snapshot of everything before offset {id.offset}"))
                for values in reader.values():
                    for value in values:
                        self._value(place, value)
            except BadFile as problem:
                self._unknown(place, str(problem), b"")
        self.history.compare(place, before, self.image)
        self.end = self.snapshot = id

    def became_leader(self, epoch: int) -> None:
        """Is never called: an observer has no vote."""

    def lost_leadership(self, epoch: int) -> None:
        """Is never called."""

    def _record(self, place: Place, record: Record) -> None:
        self._value(place, record.value or b"")

    def _value(self, place: Place, value: bytes) -> None:
        try:
            message, version = framed.decode_record(value)
        except WireError as problem:
            self._unknown(place, str(problem), value)
            return
        kind = type(message).__name__
        if kind == "BeginTransactionRecord":
            self._held = []
        elif kind == "AbortTransactionRecord":
            self._held = None
        elif kind == "EndTransactionRecord":
            held, self._held = self._held or [], None
            for each in held:
                self._apply(*each)
        elif self._held is not None:
            self._held.append(_Held(place, message, version))
        else:
            self._apply(place, message, version)

    def _apply(self, place: Place, message: Message, version: int) -> None:
        if type(message).__name__ == "NoOpRecord":
            return
        before = self.image
        try:
            self.image = replay(before, message)
        except BrokenLog as problem:
            self._unknown(place, str(problem), framed.encode_record(message, version))
            return
        self.changes.append(
            Change(RECORD, place, message, version, describing.description(before, self.image, message))
        )
        if place.snapshot is None:
            self.history.heed(place, before, self.image, message)

    def _control(self, place: Place, record: Record) -> None:
        try:
            of = CONTROLS.get(control_type(record)[1])
            if of is None:
                return
            message = of.decode(record.value or b"", 0)
        except WireError as problem:
            self._unknown(place, str(problem), record.value or b"")
            return
        self.changes.append(Change(CONTROL, place, message, 0, describing.description(self.image, self.image, message)))

    def _unknown(self, place: Place, problem: str, data: bytes) -> None:
        self.unknown += 1
        text = f"passed over, as it cannot be understood: {problem}"
        self.changes.append(Change(UNKNOWN, place, text=text, data=data))

    def __repr__(self) -> str:
        return f"{self.image!r}, read to {self.end!r}"
