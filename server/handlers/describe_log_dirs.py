"""DescribeLogDirs: the log directories of this broker, and the replicas in them (KIP-113, KIP-827).

Named replicas that are not here are left out; without names every replica except the metadata is
returned. The lag is the distance from the log end offset to the high watermark, which is 0 for a
log in use. No replica moves between directories. Cordoned directories are marked (KIP-1066).

Difference from Apache Kafka: in memory there is one directory, with the name of the first in the
settings, on a volume of unknown size.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse

from ..log.log import PartitionLog
from ..requests.request import Request
from ..security.authorizer import DESCRIBE
from ..security.client_rights import client_rights

if TYPE_CHECKING:
    from ..configs.settings import Settings
    from ..handler_context import HandlerContext
    from ..logs.log_dir_description import LogDirDescription

ERROR_FROM = 3
"""The first version with an error of the whole response; before, only a directory has one."""

EVERYTHING = "*"
"""The value of `cordoned.log.dirs` for all directories."""

Key = tuple[str, int]
"""Topic and partition."""

Result = DescribeLogDirsResponse.DescribeLogDirsResult
Topic = DescribeLogDirsResponse.DescribeLogDirsTopic
Partition = DescribeLogDirsResponse.DescribeLogDirsPartition


def precheck(node: HandlerContext, request: Request[DescribeLogDirsRequest]) -> DescribeLogDirsResponse | None:
    """Without the right the response has nothing: before version 3 not even an error."""
    rights = client_rights(node, request)
    is_denied = rights is not None and not rights.may_on_cluster(DESCRIBE)
    return DescribeLogDirsResponse() if is_denied and request.version < ERROR_FROM else None


def answer(node: HandlerContext, request: Request[DescribeLogDirsRequest]) -> DescribeLogDirsResponse:
    named = request.body.topics
    requested = None if named is None else {(topic.topic, index) for topic in named for index in topic.partitions}
    return DescribeLogDirsResponse(
        results=[_describe(node.settings, place, requested) for place in node.logs.log_dirs()]
    )


def _describe(settings: Settings, place: LogDirDescription, requested: set[Key] | None) -> Result:
    path = place.path or _first(settings)
    if place.failed or place.space is None:
        code = error_codes.KAFKA_STORAGE_ERROR if place.failed else error_codes.UNKNOWN_SERVER_ERROR
        return Result(error_code=code, log_dir=path)
    total, usable = place.space
    cordoned = settings.list("cordoned.log.dirs")
    return Result(
        log_dir=path,
        topics=_topics(place.logs, requested),
        total_bytes=total,
        usable_bytes=usable,
        is_cordoned=EVERYTHING in cordoned or path in map(os.path.abspath, cordoned),
    )


def _first(settings: Settings) -> str:
    return os.path.abspath((settings.list("log.dirs") if settings["log.dirs"] else settings.list("log.dir"))[0])


def _topics(logs: Mapping[Key, PartitionLog], requested: set[Key] | None) -> list[Topic]:
    found: dict[str, list[Partition]] = {}
    for key in sorted(logs if requested is None else logs.keys() & requested):
        found.setdefault(key[0], []).append(_partition(key[1], logs[key]))
    return [Topic(name=name, partitions=partitions) for name, partitions in found.items()]


def _partition(index: int, log: PartitionLog) -> Partition:
    lag = max(0, log.high_watermark - log.log_end_offset)
    return Partition(partition_index=index, partition_size=log.size, offset_lag=lag)


def refuse(request: Request[DescribeLogDirsRequest], code: int, message: str | None) -> DescribeLogDirsResponse:
    if request.version < ERROR_FROM:
        return DescribeLogDirsResponse(results=[Result(error_code=code)])
    return DescribeLogDirsResponse(error_code=code)
