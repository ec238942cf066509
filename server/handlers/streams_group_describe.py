"""StreamsGroupDescribe: state, epochs, topology, members and tasks of streams groups (KIP-1071).

A group that is unknown or of another type is GROUP_ID_NOT_FOUND. Version 1 adds the name of the
assignor and the description of the topology (KIP-1223), which only Apache Kafka with a plugin
stores: the status is always NOT_STORED. With an empty group id the response has INVALID_GROUP_ID
for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.streams_group_describe import (
    StreamsGroupDescribeRequest,
    StreamsGroupDescribeResponse,
)

from ..groups.coordinator_group import STREAMS
from ..groups.features import requires_protocol
from ..groups.service.described_groups import GroupDescription, refusal_of_groups
from ..requests.request import Request
from ..requests.waiting import Wait

if TYPE_CHECKING:
    from ..groups.streams.streams_group import StreamsGroup
    from ..handler_context import HandlerContext

DescribedGroup = StreamsGroupDescribeResponse.DescribedGroup

NOT_STORED = 1
"""The status of a topology description that no plugin keeps."""

HIDDEN_TOPICS = "The described group uses topics that the client is not authorized to describe."


precheck = requires_protocol(STREAMS)


def answer(node: HandlerContext, request: Request[StreamsGroupDescribeRequest]) -> Wait[StreamsGroupDescribeResponse]:
    from ..groups.streams.describe import describe
    from ..groups.streams.streams_group import StreamsGroup

    def described(group: StreamsGroup) -> DescribedGroup:
        shown = describe(group)
        if request.body.include_topology_description:
            shown.topology_description_status = NOT_STORED
        return shown

    description = GroupDescription(DescribedGroup, StreamsGroup, described, _topics_of, HIDDEN_TOPICS)
    return StreamsGroupDescribeResponse(groups=(yield from description.of(node, request)))


def _topics_of(group: DescribedGroup) -> Iterator[str]:
    for subtopology in () if group.topology is None else group.topology.subtopologies or ():
        yield from (*subtopology.source_topics, *subtopology.repartition_sink_topics)
        yield from (topic.name for topic in subtopology.repartition_source_topics)
        yield from (topic.name for topic in subtopology.state_changelog_topics)


refuse = refusal_of_groups(StreamsGroupDescribeResponse)
