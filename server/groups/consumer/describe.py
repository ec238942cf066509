"""ConsumerGroupDescribe: the members of a consumer group, what they have and their target
(KIP-848)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.consumer_group_describe import ConsumerGroupDescribeResponse
from kafkadouble.messages.uuid import Uuid

from ..assignor.assignment import EMPTY_ASSIGNMENT
from .assignors import default_assignor_name
from .consumer_group import ConsumerGroup
from .consumer_group_member import ConsumerGroupMember
from .membership import owned_partitions

if TYPE_CHECKING:
    from ...metadata.image import Image

DescribedGroup = ConsumerGroupDescribeResponse.DescribedGroup
Assignment = ConsumerGroupDescribeResponse.Assignment

CLASSIC_MEMBER, CONSUMER_MEMBER = 0, 1


def describe(group: ConsumerGroup) -> DescribedGroup:
    assignor = group.preferred_server_assignor() or default_assignor_name(group.shard.node.settings)
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=assignor,
        members=[_member(group, member) for member in group.members.values()],
    )


def _member(group: ConsumerGroup, member: ConsumerGroupMember) -> ConsumerGroupDescribeResponse.Member:
    image = group.shard.node.image
    current: dict[Uuid, list[int]] = {}
    for topic_id, partitions in owned_partitions(member):
        current.setdefault(topic_id, []).extend(partitions)
    return ConsumerGroupDescribeResponse.Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.subscribed_topic_names),
        subscribed_topic_regex=member.subscribed_topic_regex,
        assignment=_assignment(current, image),
        target_assignment=_assignment(group.target_assignment.get(member.member_id, EMPTY_ASSIGNMENT), image),
        member_type=CLASSIC_MEMBER if member.uses_classic_protocol else CONSUMER_MEMBER,
    )


def _assignment(partitions: Mapping[Uuid, Iterable[int]], image: Image) -> Assignment:
    topics = ((image.topic(topic_id), indexes) for topic_id, indexes in partitions.items())
    return Assignment(
        topic_partitions=[
            ConsumerGroupDescribeResponse.TopicPartitions(
                topic_id=topic.id, topic_name=topic.name, partitions=sorted(indexes)
            )
            for topic, indexes in topics
            if topic is not None
        ]
    )
