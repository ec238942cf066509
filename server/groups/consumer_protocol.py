"""The metadata and assignments of consumers in the classic protocol: an int16 version, then a
ConsumerProtocolSubscription or a ConsumerProtocolAssignment.

A later version only adds fields at the end, so one that is not known is read as the newest one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from struct import pack

from kafkadouble.messages.generated.consumer_protocol_assignment import ConsumerProtocolAssignment
from kafkadouble.messages.generated.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.errors import BadLength, Truncated

from ..metadata.image import Image

EMPTY_USER_DATA = (None, b"")
"""The user data of assignments that no custom assignor made."""


def version_of(data: bytes) -> int:
    """Returns the version of a subscription or an assignment. Raises WireError."""
    if len(data) < 2:
        raise Truncated("a consumer's metadata begins with a version of 2 bytes", offset=0)
    version = int.from_bytes(data[:2], "big", signed=True)
    if version < 0:
        raise BadLength(f"the version of a consumer's metadata is {version}", offset=0)
    return version


def subscription_of(data: bytes) -> ConsumerProtocolSubscription:
    """Reads a subscription. Raises WireError."""
    version = min(version_of(data), ConsumerProtocolSubscription.versions[1])
    return ConsumerProtocolSubscription.read(data, version, 2)[0]


def assignment_of(data: bytes) -> ConsumerProtocolAssignment:
    """Reads an assignment. Raises WireError."""
    version = min(version_of(data), ConsumerProtocolAssignment.versions[1])
    return ConsumerProtocolAssignment.read(data, version, 2)[0]


def partitions_by_topic_id(assignment: ConsumerProtocolAssignment, image: Image) -> dict[Uuid, list[int]]:
    """Returns the partitions of the topics that exist, by topic id."""
    topics = ((image.topic_ids.get(each.topic), each.partitions) for each in assignment.assigned_partitions)
    return {topic_id: list(partitions) for topic_id, partitions in topics if topic_id is not None}


def encode_assignment(assignment: Mapping[Uuid, Collection[int]], image: Image, version: int) -> bytes:
    """Returns an assignment of the topics that exist, in this version or the newest one."""
    version = min(version, ConsumerProtocolAssignment.versions[1])
    topics = ((image.topic(topic_id), partitions) for topic_id, partitions in assignment.items())
    value = ConsumerProtocolAssignment(
        assigned_partitions=[
            ConsumerProtocolAssignment.TopicPartition(topic=topic.name, partitions=list(partitions))
            for topic, partitions in topics
            if topic is not None
        ]
    )
    return pack(">h", version) + value.encode(version)
