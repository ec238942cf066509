"""The active controller of a quorum of one: it writes the metadata log, and keeps the image that is its fold.

Rules. A decision is a list of records; it is one batch of the log, so that it holds as a whole or not at all. The only voter has what it
appended, so a batch is committed at once, folded, and then shown to those who listen, with the image before and the image after. Nothing
changes an image but a record in the log. What is to be decided stands in files of its own (creation, deletion, growth, alteration), which make
records.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.generated.leader_change_message import LeaderChangeMessage
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.batch import LEADER_CHANGE, encode_control_batch

from ..log.offset_and_epoch import OffsetAndEpoch
from ..log.producers import Origin
from ..request import Refusal
from . import bootstrap, comeback
from .auto_creation import creatable
from .creation import create_topics
from .image import BROKER, EMPTY, Image, TopicImage
from .metadata_log import batch_of, image_of
from .producer_ids import ProducerIds
from .replay import Fold

if TYPE_CHECKING:
    from ..node import Node

Listener = Callable[[Image, Image, Sequence[Any]], None]
"""Called with the image before, the image after, and the records that lie between them."""


NEVER_TWICE = ("PartitionChangeRecord", "ProducerIdsRecord")
"""What a loss of power must not take back once somebody has seen it: leader epochs and producer ids would be given to others again."""

FIRST_EPOCH = 1
"""The epoch of the first leader of a quorum."""


class Controller:
    """The metadata log and its fold. `epoch` is the leader epoch in which this node writes."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self.log = node.logs.metadata(node.now)
        self.image: Image = image_of(self.log.batches(self.log.log_start_offset))
        self.epoch = max(FIRST_EPOCH, self.log.epochs.latest + 1)
        self.listeners: list[Listener] = []
        self._unseen: deque[tuple[Image, Image, Sequence[Message]]] = deque()
        self._showing = False
        self.producer_ids = ProducerIds(self, node.id)

    def start(self) -> None:
        """Lead, and register; a new cluster is given what it begins with."""
        node, (host, port) = self._node, self._node.advertised
        self._take_settings(EMPTY)
        self._append_leader_change()
        if not self.image.features:
            self.commit(bootstrap.cluster_records(node.logs.bootstrap, str(node.settings.int("min.insync.replicas"))))
        self.commit([bootstrap.controller_record(node.id, self.new_id(), host, port)])
        epoch = self._register(host, port)
        self.commit([bootstrap.unfence_record(node.id, epoch), *comeback.led_again(self.image, node.id)])
        node.logs.put_aside_strays(comeback.own_partitions(self.image, node.id))

    def _register(self, host: str, port: int) -> int:
        """The broker is there, and fenced; its epoch."""
        node, epoch = self._node, self.log.log_end_offset
        rack = node.settings["broker.rack"]
        record = bootstrap.broker_record(
            node.id,
            self.new_id(),
            host,
            port,
            epoch=epoch,
            rack=rack if isinstance(rack, str) else None,
            log_dirs=node.logs.directories or [self.new_id()],
        )
        self.commit([record, *comeback.leaderless(self.image, node.id)])
        return epoch

    def directory_lost(self, directory: Uuid, partitions: Sequence[tuple[str, int]]) -> None:
        """A log directory of this node has failed: what lay in it has no leader (KIP-858)."""
        broker = self.image.brokers[self._node.id]
        left = [each for each in broker.log_dirs if each != directory]
        changes = comeback.left_alone(self.image, broker.id, partitions, directory)
        self.commit([*changes, bootstrap.directories_record(broker.id, broker.epoch, left)])

    def new_id(self) -> Uuid:
        """A uuid for a topic, an incarnation or a directory."""
        return Uuid.random(self._node.random.randbytes)

    def _append_leader_change(self) -> None:
        voters = [LeaderChangeMessage.Voter(voter_id=self._node.id)]
        change = LeaderChangeMessage(leader_id=self._node.id, voters=voters, granting_voters=voters)
        batch = encode_control_batch(LEADER_CHANGE, change.encode(version=0), timestamp=self._node.now, seal=False)
        self._append(batch)

    def commit(self, records: Sequence[Message]) -> None:
        """Append a decision, fold it, and show it."""
        if not records:
            return
        fold, before = Fold(self.image), self.image
        for record in records:
            fold.apply(record)
        flush = any(type(record).__name__ in NEVER_TWICE for record in records)
        self._append(batch_of(records, self.log.log_end_offset, self._node.now), flush=flush)
        self.image = fold.image._replace(end=OffsetAndEpoch(self.log.log_end_offset, self.epoch))
        self._take_settings(before)
        self._unseen.append((before, self.image, records))
        if not self._showing:
            self._show()

    def _take_settings(self, before: Image) -> None:
        """Dynamic configurations of this broker take effect before anybody sees the image (KIP-226)."""
        resources = [(BROKER, ""), (BROKER, str(self._node.id))]
        if any(before.config_overrides(*of) != self.image.config_overrides(*of) for of in resources):
            cluster, own = (self.image.config_overrides(*of) for of in resources)
            self._node.settings = self._node.settings.altered(cluster, own)

    def _show(self) -> None:
        """Every change is shown to all before the next, also when one who sees it commits another."""
        self._showing = True
        try:
            while self._unseen:
                change = self._unseen.popleft()
                for listener in self.listeners:
                    listener(*change)
        finally:
            self._showing = False

    def create_internal_topic(self, name: str) -> TopicImage:
        """The topic in which a coordinator keeps its state, made now if need be. Refusal when it cannot be made."""
        found = self.image.topic_named(name)
        if found is None:
            decision = create_topics(
                self.image, self._node.settings, [creatable(self._node.settings, name)], self.new_id
            )
            result = decision.results[0]
            if result.error_code:
                raise Refusal(result.error_code, result.error_message)
            self.commit(decision.records)
            found = self.image.topics[result.topic_id]
        return found

    def _append(self, batch: bytes | bytearray, *, flush: bool = False) -> None:
        """With `flush` a decision outlives the machine before it counts, and everybody waits for that: decisions are few. Otherwise it is
        flushed beside the loop, soon."""
        self.log.append_own(batch, leader_epoch=self.epoch, now=self._node.now, origin=Origin.RAFT)
        if not (flush or self._node.settings.int("log.flush.interval.messages") == 1):
            self._node.flushing.want(self)
        elif (work := self.log.unflushed()) is not None:
            work.run()
            self.log.flushed(work.offset)
        self.log.high_watermark = self.log.log_end_offset

    def flushed(self, offset: int) -> None:
        """A flush of the log below `offset` was done."""
        self.log.flushed(offset)

    def __repr__(self) -> str:
        return f"controller in epoch {self.epoch}, {self.image!r}"
