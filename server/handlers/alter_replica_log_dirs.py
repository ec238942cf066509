"""AlterReplicaLogDirs: moves replicas of this broker to other log directories (KIP-113).

Each directory of the request has the replicas that are to be there; a replica that is named twice
goes to the last one. The answer comes at once: DescribeLogDirs shows how far the move is. A replica
that is not here is REPLICA_NOT_AVAILABLE, and will be created in that directory. A relative path is
LOG_DIR_NOT_FOUND, as every path that is not exactly that of a directory of this broker.

Difference from Apache Kafka: in memory there is one directory, with the name of the first in the
settings, so that no replica moves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.alter_replica_log_dirs import (
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
)

from ..logs.log_dir_description import described_dirs
from ..requests.request import Request
from ..requests.waiting import OTHERS_FIRST, SLICE, Slices, Wait

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Key = tuple[str, int]
"""Topic and partition."""

TopicResult = AlterReplicaLogDirsResponse.AlterReplicaLogDirTopicResult
PartitionResult = AlterReplicaLogDirsResponse.AlterReplicaLogDirPartitionResult


def answer(node: HandlerContext, request: Request[AlterReplicaLogDirsRequest]) -> Wait[AlterReplicaLogDirsResponse]:
    codes, slices = dict[Key, int](), Slices()
    dirs = described_dirs(node.logs.log_dirs(), node.settings)
    destinations = _destinations(request.body)
    if len(destinations) > SLICE:
        yield OTHERS_FIRST
    for key, path in destinations.items():
        codes[key] = node.replica_alter_log_dirs_manager.alter(key, path, dirs)
        if slices.end():
            yield OTHERS_FIRST
            dirs = described_dirs(node.logs.log_dirs(), node.settings)
    if len(codes) > SLICE:
        yield OTHERS_FIRST
    return _response(codes)


def _destinations(body: AlterReplicaLogDirsRequest) -> dict[Key, str]:
    """The path for each replica."""
    return {
        (topic.name, index): directory.path
        for directory in body.dirs
        for topic in directory.topics
        for index in topic.partitions
    }


def _response(codes: Mapping[Key, int]) -> AlterReplicaLogDirsResponse:
    topics: dict[str, list[PartitionResult]] = {}
    for (topic, index), code in codes.items():
        topics.setdefault(topic, []).append(PartitionResult(partition_index=index, error_code=code))
    return AlterReplicaLogDirsResponse(
        results=[TopicResult(topic_name=topic, partitions=partitions) for topic, partitions in topics.items()]
    )


def refuse(request: Request[AlterReplicaLogDirsRequest], code: int, message: str | None) -> AlterReplicaLogDirsResponse:
    return _response(dict.fromkeys(_destinations(request.body), code))
