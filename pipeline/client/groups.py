"""Commits and fetches the offsets of a group without joining it: FindCoordinator, OffsetCommit,
OffsetFetch.

Rules. When the coordinator moved, is loading or cannot be reached, it is looked up again, as long
as there is time. A group with members refuses commits from outside (UNKNOWN_MEMBER_ID), which is
reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest, OffsetFetchResponse

from .connection import BrokerConnection
from .errors import ApiError, ClientError, ConnectionLost, refusal
from .names import BrokerEndpoint, OffsetAndEpoch, TopicPartition
from .network import Network
from .offsets import by_topic
from .patience import Patience

LAST_WITH_NAMES = 9
HAS_MEMBERS = "the group has members, and only they can commit: give another group"

T = TypeVar("T")


def commit(network: Network, group: str, offsets: Mapping[TopicPartition, OffsetAndEpoch], metadata: str) -> None:
    """Commits these offsets for a group."""
    partition = OffsetCommitRequest.OffsetCommitRequestPartition
    topics = [
        OffsetCommitRequest.OffsetCommitRequestTopic(
            name=name,
            partitions=[
                partition(
                    partition_index=each.partition,
                    committed_offset=at.offset,
                    committed_leader_epoch=at.epoch,
                    committed_metadata=metadata,
                )
                for each, at in found
            ],
        )
        for name, found in by_topic(offsets).items()
    ]
    body = OffsetCommitRequest(group_id=group, topics=topics)

    def send(connection: BrokerConnection) -> dict[TopicPartition, int]:
        answer = connection.ask(body, connection.version(ApiKeys.OFFSET_COMMIT, 2, LAST_WITH_NAMES))
        assert isinstance(answer, OffsetCommitResponse)
        return {
            TopicPartition(topic.name, each.partition_index): each.error_code
            for topic in answer.topics
            for each in topic.partitions
        }

    _call_coordinator(network, group, f"committing to group {group!r}", send, lambda codes: codes)


def committed(
    network: Network, group: str, partitions: Iterable[TopicPartition]
) -> dict[TopicPartition, OffsetAndEpoch | None]:
    """The committed offsets of a group; None for a partition without one."""
    requested = list(partitions)
    topic = OffsetFetchRequest.OffsetFetchRequestTopics
    topics = [
        topic(name=name, partition_indexes=[each.partition for each, _ in found])
        for name, found in by_topic(dict.fromkeys(requested)).items()
    ]
    body = OffsetFetchRequest(groups=[OffsetFetchRequest.OffsetFetchRequestGroup(group_id=group, topics=topics)])

    def send(connection: BrokerConnection) -> OffsetFetchResponse.OffsetFetchResponseGroup:
        answer = connection.ask(body, connection.version(ApiKeys.OFFSET_FETCH, 8, LAST_WITH_NAMES))
        assert isinstance(answer, OffsetFetchResponse)
        missing = OffsetFetchResponse.OffsetFetchResponseGroup(group_id=group)
        return next((each for each in answer.groups if each.group_id == group), missing)

    def codes(answer: OffsetFetchResponse.OffsetFetchResponseGroup) -> dict[TopicPartition, int]:
        found = {TopicPartition(t.name, p.partition_index): p.error_code for t in answer.topics for p in t.partitions}
        return {TopicPartition("", -1): answer.error_code, **found}

    answer = _call_coordinator(network, group, f"offsets of group {group!r}", send, codes)
    found = {
        TopicPartition(topic.name, at.partition_index): OffsetAndEpoch(at.committed_offset, at.committed_leader_epoch)
        for topic in answer.topics
        for at in topic.partitions
        if at.committed_offset >= 0
    }
    return {each: found.get(each) for each in requested}


def _call_coordinator(
    network: Network,
    group: str,
    what: str,
    send: Callable[[BrokerConnection], T],
    codes: Callable[[T], Mapping[TopicPartition, int]],
) -> T:
    """The first response of the group's coordinator without an error."""
    patience = network.patience(what)
    while True:
        coordinator = _coordinator(network, group, what, patience)
        try:
            with network.links.lent(coordinator, patience.left()) as connection:
                answer = send(connection)
        except ConnectionLost as lost:
            patience.pause(str(lost))
            continue
        wrong = {partition: code for partition, code in codes(answer).items() if code}
        if not wrong:
            return answer
        for partition, code in wrong.items():
            if not error_codes.is_retriable(code):
                raise _refusal(f"{what}: {partition}" if partition.topic else what, code)
        patience.pause(", ".join(sorted(map(error_codes.name, set(wrong.values())))))


def _coordinator(network: Network, group: str, what: str, patience: Patience) -> BrokerEndpoint:
    def send(connection: BrokerConnection) -> FindCoordinatorResponse.Coordinator:
        version = connection.version(ApiKeys.FIND_COORDINATOR, 1)
        body = FindCoordinatorRequest(coordinator_keys=[group]) if version >= 4 else FindCoordinatorRequest(key=group)
        answer = connection.ask(body, version)
        assert isinstance(answer, FindCoordinatorResponse)
        if version >= 4 and answer.coordinators:
            return answer.coordinators[0]
        return FindCoordinatorResponse.Coordinator(
            host=answer.host, port=answer.port, error_code=answer.error_code, error_message=answer.error_message
        )

    while True:
        found = network.metadata.call_any_broker(patience, send)
        if not found.error_code:
            return BrokerEndpoint(found.host, found.port)
        if not error_codes.is_retriable(found.error_code):
            raise refusal(what, found.error_code, found.error_message)
        patience.pause(error_codes.name(found.error_code))


def _refusal(what: str, code: int) -> ClientError:
    if code in (error_codes.UNKNOWN_MEMBER_ID, error_codes.ILLEGAL_GENERATION):
        return ApiError(what, code, HAS_MEMBERS)
    return refusal(what, code)
