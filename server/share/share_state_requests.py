"""The common parts of the five APIs of share-group state: a request names share partitions by
topic, and each has its own result (KIP-932).

Every share partition is given to the shard that coordinates it. The answer is sent when everything
is committed; a shard whose commit fails fails its share partitions alone. As in Kafka, a request
without a group id, or with a topic without partitions, has an answer without results, and of a
share partition that is named twice the answer has the last result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid

from ..coordinator.response_future import ResponseFuture
from ..requests.request import Refusal, Request
from ..requests.waiting import OTHERS_FIRST, Slices, Wait
from .persister import SharePartitionKey

if TYPE_CHECKING:
    from .share_coordinator import ShareCoordinator
    from .share_coordinator_shard import ShareCoordinatorShard


class ShareStateHost(Protocol):
    """A node with a share coordinator."""

    @property
    def share_coordinator(self) -> ShareCoordinator: ...


class ShareStateApi(NamedTuple):
    """The differences between these APIs. Its methods are those of a handler."""

    operate: Callable[[ShareCoordinatorShard, SharePartitionKey, Any], Any]
    """Returns the result of a share partition; raises Refusal."""
    name: str
    """What it does, such as "write share group state"."""
    response: Any
    of_topic: Any
    of_partition: Any
    """The classes of the response, and of the results in it."""

    def answer(self, node: ShareStateHost, request: Request[Any]) -> Wait[Any]:
        """Returns the results; all is committed then."""
        return self.answer_for(node, request.body.group_id, request.body.topics)

    def answer_for(self, node: ShareStateHost, group_id: str, topics: Sequence[Any]) -> Wait[Any]:
        """The same, for these topics of a request."""
        coordinator = node.share_coordinator
        results: dict[SharePartitionKey, Any] = {}
        written: dict[SharePartitionKey, ShareCoordinatorShard] = {}
        slices = Slices()
        if group_id and all(topic.partitions for topic in topics):
            for topic in topics:
                for partition in topic.partitions:
                    key = SharePartitionKey(group_id, topic.topic_id, partition.partition)
                    written.pop(key, None)
                    results[key] = self._operate(coordinator, key, partition, written)
                    if slices.end():
                        yield OTHERS_FIRST
        commits = {shard: _commit(shard) for shard in dict.fromkeys(written.values())}
        for shard, future in commits.items():
            if code := (yield from future.wait()):
                lost = [key for key, each in written.items() if each is shard]
                results |= {key: self._failed_operation(key, Refusal(code)) for key in lost}
        return self._response((key.topic_id, result) for key, result in results.items())

    def _operate(
        self,
        coordinator: ShareCoordinator,
        key: SharePartitionKey,
        partition: Any,
        written: dict[SharePartitionKey, ShareCoordinatorShard],
    ) -> Any:
        try:
            # A negative partition has a coordinator, too, which then refuses it.
            shard = coordinator.shard(key)
        except Refusal as refusal:
            return self._failed_operation(key, refusal)
        try:
            result = self.operate(shard, key, partition)
        except Refusal as refusal:
            return self._failed(key.partition, refusal.code, refusal.message or error_codes.meaning(refusal.code))
        written[key] = shard
        return result

    def _failed_operation(self, key: SharePartitionKey, refusal: Refusal) -> Any:
        reason = refusal.message or error_codes.meaning(refusal.code)
        return self._failed(key.partition, refusal.code, f"Unable to {self.name}: {reason}")

    def _failed(self, partition: int, code: int, message: str | None) -> Any:
        return self.of_partition(partition=partition, error_code=code, error_message=message)

    def refuse(self, request: Request[Any], code: int, message: str | None) -> Any:
        """The response to a request that failed as a whole."""
        return self._response(
            (topic.topic_id, self._failed(each.partition, code, message))
            for topic in request.body.topics
            for each in topic.partitions
        )

    def _response(self, results: Iterable[tuple[Uuid, Any]]) -> Any:
        topics: dict[Uuid, list[Any]] = {}
        for topic_id, result in results:
            topics.setdefault(topic_id, []).append(result)
        return self.response(results=[self.of_topic(topic_id=id, partitions=topic) for id, topic in topics.items()])


def _commit(shard: ShareCoordinatorShard) -> ResponseFuture[int]:
    future: ResponseFuture[int] = ResponseFuture()
    shard.after_commit(future.complete)
    return future
