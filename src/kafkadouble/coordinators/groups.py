"""The groups of a broker, read from its answers to ListGroups, the Describe APIs and
OffsetFetch; the lag is computed with the bounds of the partitions' logs (`group_lag.py`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.messages.generated.consumer_group_describe import ConsumerGroupDescribeRequest
from kafkadouble.messages.generated.consumer_protocol_assignment import ConsumerProtocolAssignment
from kafkadouble.messages.generated.describe_groups import DescribeGroupsRequest
from kafkadouble.messages.generated.describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from kafkadouble.messages.generated.list_groups import ListGroupsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest
from kafkadouble.messages.generated.share_group_describe import ShareGroupDescribeRequest
from kafkadouble.messages.generated.streams_group_describe import StreamsGroupDescribeRequest
from kafkadouble.messages.message import Message
from kafkadouble.wire.errors import WireError

from . import group_lag
from .group_values import Committed, Group, Member, TopicPartition

if TYPE_CHECKING:
    from .group_lag import Bounds

Ask = Callable[[Message], Any]


def groups(ask: Ask, bounds: Bounds, only: str | None = None) -> dict[str, Group]:
    """All groups, or the one with this id, by id."""
    found = ask(ListGroupsRequest()).groups
    listed = sorted((one for one in found if only in (None, one.group_id)), key=lambda one: str(one.group_id))
    return {one.group_id: _group(one, ask, bounds) for one in listed}


def _group(listed: Any, ask: Ask, bounds: Bounds) -> Group:
    kind = listed.group_type.lower() or "classic"
    described = _DESCRIBE[kind](listed.group_id, ask)
    read = _share_offsets if kind == "share" else _offsets
    offsets, known = read(listed.group_id, ask)
    group = Group(
        listed.group_id,
        kind,
        listed.group_state,
        described.protocol,
        described.members,
        offsets,
        {},
        described.epoch,
        described.assignment_epoch,
    )
    others = () if group_lag.assigned(group) else _all_partitions({topic for topic, _ in offsets}, ask)
    return group._replace(lags=group_lag.lags(group, others, bounds, known))


def _all_partitions(topics: set[str], ask: Ask) -> list[TopicPartition]:
    counts = _partition_counts(topics, ask) if topics else {}
    return [(topic, index) for topic, count in counts.items() for index in range(count)]


class Described(NamedTuple):
    """The answer of a Describe API for a group."""

    protocol: str
    members: tuple[Member, ...]
    epoch: int | None = None
    assignment_epoch: int | None = None


def _classic(group_id: str, ask: Ask) -> Described:
    group = ask(DescribeGroupsRequest(groups=[group_id])).groups[0]
    members = tuple(
        Member(
            one.member_id,
            one.group_instance_id,
            one.client_id,
            one.client_host,
            assigned_partitions(bytes(one.member_assignment)) if group.protocol_type == "consumer" else (),
        )
        for one in group.members
    )
    return Described(group.protocol_data, members)


def assigned_partitions(data: bytes) -> tuple[TopicPartition, ...]:
    """The assignment that the leader of a classic consumer group sent. Empty when the bytes are not
    an assignment of a consumer."""
    if len(data) < 2:
        return ()
    version = min(int.from_bytes(data[:2], "big"), ConsumerProtocolAssignment.versions[1])
    try:
        assignment, _ = ConsumerProtocolAssignment.read(data, version, 2)
    except WireError:
        return ()
    return _flat((one.topic, one.partitions) for one in assignment.assigned_partitions)


def _consumer(group_id: str, ask: Ask) -> Described:
    group = ask(ConsumerGroupDescribeRequest(group_ids=[group_id])).groups[0]
    members = tuple(_modern(one, one.instance_id) for one in group.members)
    return Described(group.assignor_name, members, group.group_epoch, group.assignment_epoch)


def _share(group_id: str, ask: Ask) -> Described:
    group = ask(ShareGroupDescribeRequest(group_ids=[group_id])).groups[0]
    members = tuple(_modern(one, None) for one in group.members)
    return Described(group.assignor_name, members, group.group_epoch, group.assignment_epoch)


def _share_offsets(group_id: str, ask: Ask) -> tuple[dict[TopicPartition, Committed], dict[TopicPartition, int]]:
    """The start offsets of the share partitions that were read, and their lags."""
    requested = DescribeShareGroupOffsetsRequest.DescribeShareGroupOffsetsRequestGroup(group_id=group_id, topics=None)
    group = ask(DescribeShareGroupOffsetsRequest(groups=[requested])).groups[0]
    found = [(topic.topic_name, one) for topic in group.topics for one in topic.partitions]
    offsets = {
        (name, one.partition_index): Committed(one.start_offset, "") for name, one in found if one.start_offset >= 0
    }
    return offsets, {(name, one.partition_index): one.lag for name, one in found if one.lag >= 0}


def _modern(one: Any, instance_id: str | None) -> Member:
    assigned = _flat((part.topic_name, part.partitions) for part in one.assignment.topic_partitions)
    return Member(one.member_id, instance_id, one.client_id, one.client_host, assigned, one.member_epoch)


def _streams(group_id: str, ask: Ask) -> Described:
    """A member of a streams group has the partitions that its active tasks read."""
    group = ask(StreamsGroupDescribeRequest(group_ids=[group_id])).groups[0]
    topics = _topics_of(group)
    counts = _partition_counts({topic for names in topics.values() for topic in names}, ask)

    def assigned(one: Any) -> tuple[TopicPartition, ...]:
        return _flat(
            (topic, [partition for partition in tasks.partitions if partition < counts.get(topic, 0)])
            for tasks in one.assignment.active_tasks
            for topic in topics.get(tasks.subtopology_id, ())
        )

    members = tuple(
        Member(one.member_id, one.instance_id, one.client_id, one.client_host, assigned(one), one.member_epoch)
        for one in group.members
    )
    return Described(group.assignor_name or "", members, group.group_epoch, group.assignment_epoch)


def _topics_of(group: Any) -> dict[str, list[str]]:
    """The topics that each subtopology of a streams group reads, by its id."""
    subtopologies = () if group.topology is None else group.topology.subtopologies or ()
    return {subtopology.subtopology_id: _sources(subtopology) for subtopology in subtopologies}


def subtopologies(group_id: str, ask: Ask) -> dict[str, str]:
    """The id of the subtopology that reads a topic, for each topic that a streams group reads."""
    group = ask(StreamsGroupDescribeRequest(group_ids=[group_id])).groups[0]
    return {topic: id for id, topics in _topics_of(group).items() for topic in topics}


def _sources(subtopology: Any) -> list[str]:
    return [*subtopology.source_topics, *(topic.name for topic in subtopology.repartition_source_topics)]


def _partition_counts(names: set[str], ask: Ask) -> dict[str, int]:
    requested = [MetadataRequest.MetadataRequestTopic(name=name) for name in sorted(names)]
    topics = ask(MetadataRequest(topics=requested, allow_auto_topic_creation=False)).topics
    return {topic.name: len(topic.partitions) for topic in topics}


def _flat(topics: Iterable[tuple[str, Iterable[int]]]) -> tuple[TopicPartition, ...]:
    return tuple(sorted((topic, partition) for topic, partitions in topics for partition in partitions))


_DESCRIBE = {"classic": _classic, "consumer": _consumer, "share": _share, "streams": _streams}


def _offsets(group_id: str, ask: Ask) -> tuple[dict[TopicPartition, Committed], dict[TopicPartition, int]]:
    """The committed offsets. Their lags are not in the answer."""
    requested = OffsetFetchRequest.OffsetFetchRequestGroup(group_id=group_id, topics=None)
    group = ask(OffsetFetchRequest(groups=[requested])).groups[0]
    return {
        (topic.name, one.partition_index): Committed(one.committed_offset, one.metadata or "")
        for topic in group.topics
        for one in topic.partitions
    }, {}
