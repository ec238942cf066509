"""What the five APIs of share-group state have in common: a request names share partitions by
topic, and each has its own result (KIP-932).

Every share partition is given to the shard that coordinates it. The answer is sent when everything
is committed; a shard whose commit fails fails its share partitions alone. As in Kafka, a request
without a group id, or with a topic without partitions, has an answer without results, and of a
share partition that is named twice the answer has the last result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid

from ..coordinator.response_future import ResponseFuture
from ..requests.request import Refusal
from ..requests.waiting import OTHERS_FIRST, Slices, Wait
from .persister import SharePartitionKey

if TYPE_CHECKING:
    from .share_coordinator import ShareCoordinator
    from .share_coordinator_shard import ShareCoordinatorShard

R = TypeVar("R")

TopicResults = dict[Uuid, list[R]]


class RequestedTopic(Protocol):
    """The share partitions of one topic in a request."""

    topic_id: Uuid
    partitions: Sequence[Any]


class StateRequest(NamedTuple):
    """One request, and what it does with a share partition."""

    group_id: str
    topics: Sequence[RequestedTopic]
    operate: Callable[[ShareCoordinatorShard, SharePartitionKey, Any], Any]
    """Returns the result of a share partition; raises Refusal."""
    failed: Callable[[int, int, str | None], Any]
    """Makes the result of a share partition with an error code and a message."""
    name: str
    """What it does, such as "write share group state"."""


def partition_results(coordinator: ShareCoordinator, request: StateRequest) -> Wait[TopicResults[Any]]:
    """Returns the results by topic id."""
    results: dict[SharePartitionKey, Any] = {}
    written: dict[SharePartitionKey, ShareCoordinatorShard] = {}
    slices = Slices()
    if request.group_id and all(topic.partitions for topic in request.topics):
        for topic in request.topics:
            for partition in topic.partitions:
                key = SharePartitionKey(request.group_id, topic.topic_id, partition.partition)
                written.pop(key, None)
                results[key] = _operate(coordinator, request, key, partition, written)
                if slices.end():
                    yield OTHERS_FIRST
    commits = {shard: _commit(shard) for shard in dict.fromkeys(written.values())}
    for shard, future in commits.items():
        if code := (yield from future.wait()):
            lost = [key for key, each in written.items() if each is shard]
            results |= {key: _failed_operation(request, key, Refusal(code)) for key in lost}
    return _by_topic(results)


def _operate(
    coordinator: ShareCoordinator,
    request: StateRequest,
    key: SharePartitionKey,
    partition: Any,
    written: dict[SharePartitionKey, ShareCoordinatorShard],
) -> Any:
    try:
        # A negative partition has a coordinator, too, which then refuses it.
        shard = coordinator.shard(key)
    except Refusal as refusal:
        return _failed_operation(request, key, refusal)
    try:
        result = request.operate(shard, key, partition)
    except Refusal as refusal:
        return request.failed(key.partition, refusal.code, refusal.message or error_codes.meaning(refusal.code))
    written[key] = shard
    return result


def _failed_operation(request: StateRequest, key: SharePartitionKey, refusal: Refusal) -> Any:
    reason = refusal.message or error_codes.meaning(refusal.code)
    message = f"Unable to {request.name}: {reason}"
    return request.failed(key.partition, refusal.code, message)


def _commit(shard: ShareCoordinatorShard) -> ResponseFuture[int]:
    future: ResponseFuture[int] = ResponseFuture()
    shard.after_commit(future.complete)
    return future


def _by_topic(results: dict[SharePartitionKey, Any]) -> TopicResults[Any]:
    topics: TopicResults[Any] = {}
    for key, result in results.items():
        topics.setdefault(key.topic_id, []).append(result)
    return topics


def all_failed(
    topics: Iterable[RequestedTopic], failed: Callable[[int, int, str | None], R], code: int, message: str | None
) -> TopicResults[R]:
    """The results of a request that failed as a whole."""
    found: TopicResults[R] = {}
    for topic in topics:
        found.setdefault(topic.topic_id, []).extend(failed(each.partition, code, message) for each in topic.partitions)
    return found
