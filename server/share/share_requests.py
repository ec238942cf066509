"""The common parts of ShareFetch and ShareAcknowledge: the checks of a request, and the
acknowledgements that it carries (KIP-932, KIP-1222)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid

from ..metadata.features import SHARE_VERSION
from ..requests.request import Refusal
from ..requests.waiting import OTHERS_FIRST, Slices, Until, Wait, Waiters
from .acknowledgement import AcknowledgementBatch
from .record_state import AcknowledgeType
from .share_partition_manager import SharePartitionManager
from .share_session import ShareSessionKey, TopicIdPartition

if TYPE_CHECKING:
    from ..metadata.image import Image

MAX_MEMBER_ID = 36
"""The longest member id, in characters: a UUID in its longest form."""

RENEW_FROM = 2
"""The first version with AcknowledgeType.RENEW."""

WRONG_LEADER = (error_codes.NOT_LEADER_OR_FOLLOWER, error_codes.FENCED_LEADER_EPOCH)
"""Errors after which the response has the current leader."""


MayRead = Callable[[str], bool]
"""Whether the client may read the topic with this name. None if it may read every topic."""


class RequestedBatch(Protocol):
    """An acknowledgement batch of either request."""

    first_offset: int
    last_offset: int
    acknowledge_types: Sequence[int]


class PartitionToAcknowledge(Protocol):
    """A partition of either request."""

    @property
    def partition_index(self) -> int: ...

    @property
    def acknowledgement_batches(self) -> Sequence[RequestedBatch]: ...


class TopicToAcknowledge(Protocol):
    """A topic of either request."""

    @property
    def topic_id(self) -> Uuid: ...

    @property
    def partitions(self) -> Sequence[PartitionToAcknowledge]: ...


def check_group(image: Image, group_id: str | None) -> None:
    """Refusal(UNSUPPORTED_VERSION) if the cluster has no share groups, Refusal(INVALID_REQUEST)
    without a group id."""
    if not image.features.get(SHARE_VERSION, 0):
        raise Refusal(error_codes.UNSUPPORTED_VERSION)
    if group_id is None:
        raise Refusal(error_codes.INVALID_REQUEST)


def session_key(group_id: str | None, member_id: str | None) -> ShareSessionKey:
    """The member that sends the request. Refusal(INVALID_REQUEST) without a group id or a valid
    member id."""
    if group_id is None or not member_id or len(member_id) > MAX_MEMBER_ID:
        raise Refusal(error_codes.INVALID_REQUEST)
    return ShareSessionKey(group_id, member_id)


def requested_partitions(
    image: Image, topics: Sequence[TopicToAcknowledge]
) -> Iterator[tuple[TopicIdPartition, Sequence[RequestedBatch]]]:
    """The partitions of a request, with what it acknowledges of each."""
    for topic in topics:
        known = image.topic(topic.topic_id)
        name = None if known is None else known.name
        for partition in topic.partitions:
            requested = TopicIdPartition(topic.topic_id, partition.partition_index, name)
            yield requested, partition.acknowledgement_batches


def readable_code(image: Image, partition: TopicIdPartition, may_read: MayRead | None) -> int:
    """The error for a partition that the client may not read, or that the cluster does not have;
    NONE for others."""
    if may_read is not None and partition.topic is not None and not may_read(partition.topic):
        return error_codes.TOPIC_AUTHORIZATION_FAILED
    if partition.topic is None:
        return error_codes.UNKNOWN_TOPIC_ID
    topic = image.topic_named(partition.topic)
    is_known = topic is not None and partition.partition in topic.partitions
    return error_codes.NONE if is_known else error_codes.UNKNOWN_TOPIC_OR_PARTITION


def is_valid(batches: Sequence[RequestedBatch], version: int, *, is_renew_ack: bool) -> bool:
    """Whether the acknowledgements of one partition are well-formed: in order, with one type or one
    for each offset, and with types that this request may have."""
    most, end = (AcknowledgeType.RENEW if version >= RENEW_FROM else AcknowledgeType.REJECT), -1
    for batch in batches:
        count, types = batch.last_offset - batch.first_offset + 1, batch.acknowledge_types
        if count < 1 or batch.first_offset < end or not types or len(types) not in (1, count):
            return False
        if min(types) < 0 or max(types) > most or (AcknowledgeType.RENEW in types and not is_renew_ack):
            return False
        end = batch.last_offset
    return True


class Acknowledgements:
    """The acknowledgements of one request. `results` has the error of each partition, or None, when
    `run` has ended."""

    def __init__(
        self, manager: SharePartitionManager, image: Image, key: ShareSessionKey, may_read: MayRead | None = None
    ) -> None:
        self._manager, self._image, self._key, self._may_read = manager, image, key, may_read
        self.results: dict[TopicIdPartition, Refusal | None] = {}
        self._waiters = Waiters()
        self._pending = 0

    def begin(
        self,
        requested: Mapping[TopicIdPartition, Sequence[RequestedBatch]],
        version: int,
        *,
        is_renew_ack: bool,
    ) -> Wait[None]:
        """Acknowledges everything; the writes may end later."""
        slices, empty, is_any = Slices(), list[TopicIdPartition](), False
        for partition, batches in requested.items():
            code = readable_code(self._image, partition, self._may_read)
            if code != error_codes.UNKNOWN_TOPIC_ID and not is_valid(batches, version, is_renew_ack=is_renew_ack):
                code = error_codes.INVALID_REQUEST
            if code:
                self.results[partition] = Refusal(code)
            elif not batches:
                empty.append(partition)
            else:
                is_any = True
                self._acknowledge(partition, batches)
            if slices.end(1 + sum(len(batch.acknowledge_types) for batch in batches)):
                yield OTHERS_FIRST
        if is_any:  # otherwise Kafka leaves out the partitions without acknowledgements
            self.results |= dict.fromkeys(empty)

    def _acknowledge(self, partition: TopicIdPartition, requested: Sequence[RequestedBatch]) -> None:
        batches = [
            AcknowledgementBatch(batch.first_offset, batch.last_offset, batch.acknowledge_types) for batch in requested
        ]

        def done(error: Refusal | None) -> None:
            self.results[partition] = error
            self._pending -= 1
            self._waiters.wake_all()

        self._pending += 1
        self._manager.acknowledge(self._key, partition, batches, done)

    def end(self) -> Wait[None]:
        """Waits until every write has ended."""
        while self._pending:
            yield Until(None, (self._waiters,))
