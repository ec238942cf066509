"""Which partitions the tasks behind each user endpoint read, for interactive queries (Kafka:
`EndpointToPartitionsManager`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.streams_group_heartbeat import StreamsGroupHeartbeatResponse

from ....metadata.image import Image
from ....requests.request import Refusal
from ..members.streams_group_member import StreamsGroupMember
from .configured_topology import ConfiguredSubtopology, ConfiguredTopology

EndpointToPartitions = StreamsGroupHeartbeatResponse.EndpointToPartitions
TopicPartition = StreamsGroupHeartbeatResponse.TopicPartition

Subtopologies = Mapping[str, ConfiguredSubtopology]


def endpoint_to_partitions(
    member: StreamsGroupMember, configured: ConfiguredTopology | None, image: Image
) -> EndpointToPartitions | None:
    """Returns the partitions of a member; None if it has no endpoint.

    Raises Refusal(UNKNOWN_SERVER_ERROR), as Kafka fails, while the subtopologies are not known, or
    if a source topic was deleted.
    """
    if member.user_endpoint is None:
        return None
    if configured is None or configured.subtopologies is None:
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    tasks = member.assigned_tasks
    endpoint = StreamsGroupHeartbeatResponse.Endpoint(host=member.user_endpoint.host, port=member.user_endpoint.port)
    return EndpointToPartitions(
        user_endpoint=endpoint,
        active_partitions=_topic_partitions(tasks.active, configured.subtopologies, image),
        standby_partitions=_topic_partitions(tasks.standby_and_warmup, configured.subtopologies, image),
    )


def _topic_partitions(
    tasks: Mapping[str, Iterable[int]], subtopologies: Subtopologies, image: Image
) -> list[TopicPartition]:
    found = []
    for id, partitions in sorted(tasks.items()):
        subtopology = subtopologies.get(id)
        if subtopology is None:
            raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
        for name in subtopology.all_source_topics:
            topic = image.topic_named(name)
            if topic is None:
                raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
            read = sorted(partition for partition in partitions if partition < len(topic.partitions))
            if read:
                found.append(TopicPartition(topic=name, partitions=read))
    return found
