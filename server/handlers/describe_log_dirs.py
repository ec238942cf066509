"""DescribeLogDirs: the log directories of this broker, and the replicas in them (KIP-113, KIP-827).

Named replicas that are not here are left out; without names every replica except the metadata is
returned. The lag is the distance from the log end offset to the high watermark, which is 0 for a
log in use. The future replica of a partition that moves here is marked; its lag is what it still
has to copy (KIP-113). Cordoned directories are marked (KIP-1066).

Difference from Apache Kafka: in memory there is one directory, with the name of the first in the
settings, on a volume of unknown size.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_log_dirs import DescribeLogDirsRequest, DescribeLogDirsResponse

from ..log.log import PartitionLog
from ..logs.log_dir_description import cordoned_dirs, described_dirs
from ..requests.request import Request
from ..requests.slices import begun, ordered
from ..requests.waiting import OTHERS_FIRST, Slices, Wait
from ..security.authorizer import DESCRIBE
from ..security.client_rights import client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext
    from ..logs.log_dir_description import LogDirDescription

UNKNOWN_LAG = -1

ERROR_FROM = 3
"""The first version with an error of the whole response; before, only a directory has one."""

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


@begun
def answer(node: HandlerContext, request: Request[DescribeLogDirsRequest]) -> Wait[DescribeLogDirsResponse]:
    named = request.body.topics
    requested = None if named is None else {(topic.topic, index) for topic in named for index in topic.partitions}
    dirs = described_dirs(node.logs.log_dirs(), node.settings)
    ends = {key: log.log_end_offset for place in dirs.values() for key, log in place.logs.items()}
    cordoned = cordoned_dirs(node.settings, dirs)
    results = []
    for path, place in dirs.items():
        results.append((yield from _describe(path, place, path in cordoned, requested, ends)))
    return DescribeLogDirsResponse(results=results)


def _describe(
    path: str, description: LogDirDescription, is_cordoned: bool, requested: set[Key] | None, ends: Mapping[Key, int]
) -> Wait[Result]:
    if description.failed or description.space is None:
        code = error_codes.KAFKA_STORAGE_ERROR if description.failed else error_codes.UNKNOWN_SERVER_ERROR
        return Result(error_code=code, log_dir=path)
    total, usable = description.space
    return Result(
        log_dir=path,
        topics=(yield from _topics(description, requested, ends)),
        total_bytes=total,
        usable_bytes=usable,
        is_cordoned=is_cordoned,
    )


def _topics(description: LogDirDescription, requested: set[Key] | None, ends: Mapping[Key, int]) -> Wait[list[Topic]]:
    """The replicas that there were when the request began."""
    found: dict[str, list[Partition]] = {}
    here = description.logs.keys() | description.futures.keys()
    slices = Slices()
    for key in (yield from ordered(here if requested is None else here & requested)):
        if slices.end():
            yield OTHERS_FIRST
        future = description.futures.get(key)
        partition = _partition(key[1], description.logs[key]) if future is None else _future(key, future, ends)
        found.setdefault(key[0], []).append(partition)
    return [Topic(name=name, partitions=partitions) for name, partitions in found.items()]


def _partition(index: int, log: PartitionLog) -> Partition:
    lag = max(0, log.high_watermark - log.log_end_offset)
    return Partition(partition_index=index, partition_size=log.size, offset_lag=lag)


def _future(key: Key, log: PartitionLog, ends: Mapping[Key, int]) -> Partition:
    lag = ends[key] - log.log_end_offset if key in ends else UNKNOWN_LAG
    return Partition(partition_index=key[1], partition_size=log.size, offset_lag=lag, is_future_key=True)


def refuse(request: Request[DescribeLogDirsRequest], code: int, message: str | None) -> DescribeLogDirsResponse:
    if request.version < ERROR_FROM:
        return DescribeLogDirsResponse(results=[Result(error_code=code)])
    return DescribeLogDirsResponse(error_code=code)
