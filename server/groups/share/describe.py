"""ShareGroupDescribe: the members of a share group, and what they have (KIP-932)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages.generated.share_group_describe import ShareGroupDescribeResponse

from ..assignor.assignment import Assignment
from ..assignor.simple_assignor import SimpleAssignor
from .share_group import ShareGroup
from .share_group_member import ShareGroupMember

if TYPE_CHECKING:
    from ...metadata.image import Image

DescribedGroup = ShareGroupDescribeResponse.DescribedGroup


def describe(group: ShareGroup) -> DescribedGroup:
    image = group.shard.node.image
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state_name,
        group_epoch=group.group_epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=SimpleAssignor.name,
        members=[_member(member, image) for member in group.members.values()],
    )


def _member(member: ShareGroupMember, image: Image) -> ShareGroupDescribeResponse.Member:
    return ShareGroupDescribeResponse.Member(
        member_id=member.member_id,
        rack_id=member.rack_id,
        member_epoch=member.member_epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.subscribed_topic_names),
        assignment=_assignment(member.assigned_partitions, image),
    )


def _assignment(assignment: Assignment, image: Image) -> ShareGroupDescribeResponse.Assignment:
    topics = ((image.topic(topic_id), indexes) for topic_id, indexes in assignment.items())
    return ShareGroupDescribeResponse.Assignment(
        topic_partitions=[
            ShareGroupDescribeResponse.TopicPartitions(
                topic_id=topic.id, topic_name=topic.name, partitions=sorted(indexes)
            )
            for topic, indexes in topics
            if topic is not None
        ]
    )
