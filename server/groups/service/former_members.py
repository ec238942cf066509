"""The members that groups had before a node was emptied, as long as they do not know of it.

No Kafka loses a group that has members, so no client expects it: `commitSync` of the Java client
throws, and the application ends.

Rules. Such a member gets REBALANCE_IN_PROGRESS, or FENCED_MEMBER_EPOCH in a newer protocol
(KIP-848), so that it joins again. Until then its commits succeed and are not stored: they are of
records that are gone. It is forgotten when it joins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatResponse
from kafkadouble.messages.generated.heartbeat import HeartbeatRequest, HeartbeatResponse
from kafkadouble.messages.generated.join_group import JoinGroupRequest
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from kafkadouble.messages.generated.share_group_heartbeat import ShareGroupHeartbeatResponse
from kafkadouble.messages.generated.streams_group_heartbeat import StreamsGroupHeartbeatResponse
from kafkadouble.messages.generated.sync_group import SyncGroupRequest, SyncGroupResponse
from kafkadouble.messages.message import Message

from ...requests.request import Request
from .group_coordinator import GroupCoordinator

Key = tuple[str, str]
"""A group id and a member id."""


class FormerMembers:
    """Those of some nodes that were emptied; the members of `before` that did not join since are
    among them."""

    def __init__(self, coordinators: Iterable[GroupCoordinator], before: FormerMembers | None = None) -> None:
        self._keys: set[Key] = set() if before is None else set(before._keys)
        self._keys |= {
            (group.group_id, member)
            for coordinator in coordinators
            for shard in coordinator
            for group in shard.groups.values()
            for member in group.member_ids
        }

    def answer(self, request: Request[Any]) -> Message | None:
        """What one of them gets; None for every other request, which is handled."""
        answer = ANSWERS.get(request.api_key)
        if answer is None or (key := (request.body.group_id, request.body.member_id)) not in self._keys:
            return None
        found = answer(request.body)
        if found is None:
            self._keys.discard(key)
        return found

    def __bool__(self) -> bool:
        return bool(self._keys)

    def __repr__(self) -> str:
        return f"{len(self._keys)} members that do not know yet that their groups are gone"


def _heartbeat(body: HeartbeatRequest) -> HeartbeatResponse:
    return HeartbeatResponse(error_code=error_codes.REBALANCE_IN_PROGRESS)


def _sync(body: SyncGroupRequest) -> SyncGroupResponse:
    return SyncGroupResponse(error_code=error_codes.REBALANCE_IN_PROGRESS)


def _commit(body: OffsetCommitRequest) -> OffsetCommitResponse:
    of = OffsetCommitResponse
    return of(
        topics=[
            of.OffsetCommitResponseTopic(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    of.OffsetCommitResponsePartition(partition_index=each.partition_index) for each in topic.partitions
                ],
            )
            for topic in body.topics
        ]
    )


def _join(body: JoinGroupRequest) -> None:
    """It is handled: the coordinator does not know the member."""


def _fenced(response: Any) -> Callable[[Any], Message | None]:
    """The answer to the heartbeat of a newer protocol. One with which a member joins or leaves, in
    epoch 0 or below, is handled."""

    def answer(body: Any) -> Message | None:
        if body.member_epoch <= 0:
            return None
        code = error_codes.FENCED_MEMBER_EPOCH
        found: Message = response(error_code=code, error_message=error_codes.meaning(code))
        return found

    return answer


ANSWERS: dict[int, Callable[[Any], Message | None]] = {
    ApiKeys.HEARTBEAT: _heartbeat,
    ApiKeys.SYNC_GROUP: _sync,
    ApiKeys.OFFSET_COMMIT: _commit,
    ApiKeys.JOIN_GROUP: _join,
    ApiKeys.CONSUMER_GROUP_HEARTBEAT: _fenced(ConsumerGroupHeartbeatResponse),
    ApiKeys.SHARE_GROUP_HEARTBEAT: _fenced(ShareGroupHeartbeatResponse),
    ApiKeys.STREAMS_GROUP_HEARTBEAT: _fenced(StreamsGroupHeartbeatResponse),
}
"""What one of them gets, by API; None if it is handled."""
