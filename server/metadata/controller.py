"""The active controller of a quorum of one: it writes the metadata log, and keeps the image that is its fold.

Rules. A decision is a list of records; it is one batch of the log, so that it holds as a whole or not at all. The only voter has what it
appended, so a batch is committed at once, folded, and then shown to those who listen, with the image before and the image after. Nothing
changes an image but a record in the log. What is to be decided stands in files of its own (topics, configs), which make records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import framed
from kafkadouble.messages.generated.leader_change_message import LeaderChangeMessage
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.batch import LEADER_CHANGE, encode_batch, encode_control_batch
from kafkadouble.wire.record import Record

from ..log.config import LogConfig
from ..log.log import PartitionLog
from ..log.offset_and_epoch import OffsetAndEpoch
from . import bootstrap
from .image import EMPTY, Image
from .replay import replay
from .versions import record_version

if TYPE_CHECKING:
    from ..node import Node

METADATA_TOPIC = "__cluster_metadata"
METADATA_TOPIC_ID = Uuid((1).to_bytes(16, "big"))

Listener = Callable[[Image, Image, Sequence[Any]], None]
"""Called with the image before, the image after, and the records that lie between them."""


class Controller:
    """The metadata log and its fold. `epoch` is the leader epoch in which this node writes."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.log = PartitionLog(METADATA_TOPIC, 0, LogConfig())
        self.image: Image = EMPTY
        self.epoch = 1
        self.listeners: list[Listener] = []

    def start(self) -> None:
        """Write what a new cluster begins with."""
        node, (host, port) = self._node, self._node.advertised
        self._append_leader_change()
        self.commit(bootstrap.cluster_records())
        self.commit([bootstrap.controller_record(node.id, self._incarnation(), host, port)])
        epoch = self.log.log_end_offset
        rack = node.settings.text("broker.rack")
        log_dir = self._incarnation()
        record = bootstrap.broker_record(
            node.id, self._incarnation(), host, port, epoch=epoch, rack=rack or None, log_dir=log_dir
        )
        self.commit([record])
        self.commit([bootstrap.unfence_record(node.id, epoch)])

    def _incarnation(self) -> Uuid:
        return Uuid(self._node.random.randbytes(16))

    def _append_leader_change(self) -> None:
        voters = [LeaderChangeMessage.Voter(voter_id=self._node.id)]
        change = LeaderChangeMessage(leader_id=self._node.id, voters=voters, granting_voters=voters)
        batch = encode_control_batch(LEADER_CHANGE, change.encode(version=0), timestamp=self._node.now, seal=False)
        self._append(batch)

    def commit(self, records: Sequence[Any]) -> None:
        """Append a decision, fold it, and show it."""
        now = self._node.now
        values = [framed.encode_record(record, record_version(record)) for record in records]
        first = self.log.log_end_offset
        self._append(
            encode_batch(
                [Record(first + i, now, None, value, ()) for i, value in enumerate(values)],
                base_offset=first,
                seal=False,
            )
        )
        before, after = self.image, self.image
        for record in records:
            after = replay(after, record)
        self.image = after._replace(end=OffsetAndEpoch(self.log.log_end_offset, self.epoch))
        for listener in self.listeners:
            listener(before, self.image, records)

    def _append(self, batch: bytes | bytearray) -> None:
        self.log.append_own(batch, leader_epoch=self.epoch, now=self._node.now)
        self.log.high_watermark = self.log.log_end_offset

    def __repr__(self) -> str:
        return f"controller in epoch {self.epoch}, {self.image!r}"
