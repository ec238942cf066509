"""Administration of groups: commits, resets and deletes offsets, deletes groups, ends
the session of a member, lets a group rebalance. Run everything here on the loop's thread.

Rules. Offsets and groups change by the requests that an admin client sends, at the coordinator of
the group; so a group with members is refused as Kafka refuses it. A coordinator that is being
loaded gets the request again, as from clients.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from kafkadouble.arguments.parameters import ARGUMENTS, check, check_one
from kafkadouble.common.errors import KafkaError, raise_for
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.delete_groups import DeleteGroupsRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.coordinator.coordinator_lookup import GROUP
from kafkadouble.server.groups.assignor.assignment import PartitionSet
from kafkadouble.server.network.clock import stands_still
from kafkadouble.server.requests.request import Refusal
from kafkadouble.topics.placement import partitions_of
from kafkadouble.topics.topic_description import offsets as topic_offsets

from .group_values import Committed

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import BrokerApi, ClusterApi
    from kafkadouble.messages.uuid import Uuid
    from kafkadouble.server.groups.coordinator_group import CoordinatorGroup

    TopicPartition = tuple[str, int]

T = TypeVar("T")

RETRIABLE = {
    error_codes.COORDINATOR_LOAD_IN_PROGRESS,
    error_codes.COORDINATOR_NOT_AVAILABLE,
    error_codes.NOT_COORDINATOR,
}
"""The errors after which a client asks again."""

RETRY_S, RETRIES_END_S, FEW_ATTEMPTS = 0.005, 10.0, 5
"""The interval in which a coordinator gets the request again, and how long, by the machine's clock;
and how often with a clock that stands still."""


async def _ask(broker: ClusterApi, body: Message, at: BrokerApi | None = None) -> Any:
    return await asyncio.wrap_future(broker.ask(body, at))


async def _coordinator(broker: ClusterApi, group: str) -> BrokerApi:
    broker.settle()
    answer = (await _ask(broker, FindCoordinatorRequest(key_type=GROUP, coordinator_keys=[group]))).coordinators[0]
    member = next((member for member in broker.members if member.node.id == answer.node_id), None)
    if member is None:
        raise KafkaError(answer.error_code or error_codes.COORDINATOR_NOT_AVAILABLE, f"no broker coordinates {group!r}")
    return member


async def _retried(broker: ClusterApi, attempt: Callable[[], Awaitable[T]]) -> T:
    """The result of an attempt, which is repeated while there is no coordinator. With a clock that
    stands still nothing changes after a few attempts."""
    end, left = time.monotonic() + RETRIES_END_S, FEW_ATTEMPTS
    while True:
        try:
            return await attempt()
        except KafkaError as error:
            left -= stands_still(broker.clock)
            if error.code not in RETRIABLE or not left or time.monotonic() > end:
                raise
            await asyncio.sleep(RETRY_S)
        finally:
            broker.settle()


async def _at_coordinator(
    broker: ClusterApi, group: str, body: Message, codes: Callable[[Any], Iterator[tuple[str, int]]]
) -> None:
    """Sends a request to the coordinator. `codes` gives what each part of the answer is about, and
    its error code. KafkaError for the first that is one."""

    async def attempt() -> None:
        answer = await _ask(broker, body, await _coordinator(broker, group))
        for what, code in codes(answer):
            raise_for(code, f"{what}: {error_codes.meaning(code)}")

    await _retried(broker, attempt)


async def commit(broker: ClusterApi, group: str, offsets: Mapping[TopicPartition, int | Committed]) -> None:
    """Commits offsets as an admin client does, outside of the group's protocol."""
    check(group=group, offsets=offsets)
    by_topic: dict[str, list[tuple[int, Committed]]] = {}
    for (topic, index), given in offsets.items():
        partitions_of(broker, topic, index)
        offset = given if isinstance(given, Committed) else Committed(given, "")
        by_topic.setdefault(topic, []).append((index, offset))
    topics = [
        OffsetCommitRequest.OffsetCommitRequestTopic(
            name=topic,
            topic_id=broker.image.topic_ids[topic],
            partitions=[
                OffsetCommitRequest.OffsetCommitRequestPartition(
                    partition_index=index, committed_offset=offset.offset, committed_metadata=offset.metadata
                )
                for index, offset in partitions
            ],
        )
        for topic, partitions in by_topic.items()
    ]
    names = {broker.image.topic_ids[topic]: topic for topic in by_topic}

    def codes(answer: Any) -> Iterator[tuple[str, int]]:
        for topic in answer.topics:
            name = topic.name or names.get(topic.topic_id, "")
            yield from ((f"{group}, {name}-{one.partition_index}", one.error_code) for one in topic.partitions)

    await _at_coordinator(broker, group, OffsetCommitRequest(group_id=group, topics=topics), codes)


async def reset(
    broker: ClusterApi, group: str, topic: str, to: str | int, partition: int | None
) -> dict[TopicPartition, int]:
    """Commits the first or the last offset of each partition, or one that is given; as
    kafka-consumer-groups does, the nearest one that the log has. Returns the offsets."""
    check_one("to", ARGUMENTS["reset_offsets.to"], to)
    indexes = partitions_of(broker, topic, partition)
    first, last = topic_offsets(broker, topic, latest=False), topic_offsets(broker, topic)
    given = {"earliest": first, "latest": last}.get(str(to))
    chosen = {
        (topic, index): given[index] if given is not None else min(max(int(to), first[index]), last[index])
        for index in indexes
    }
    await commit(broker, group, chosen)
    return chosen


async def delete(broker: ClusterApi, group: str) -> None:
    """Deletes a group without members, and its offsets."""
    check(group=group)

    def codes(answer: Any) -> Iterator[tuple[str, int]]:
        yield from ((group, result.error_code) for result in answer.results)

    await _at_coordinator(broker, group, DeleteGroupsRequest(groups_names=[group]), codes)


async def _on_group(broker: ClusterApi, group: str, change: Callable[[CoordinatorGroup], None]) -> None:
    """Changes a group at its coordinator, past the requests of clients. Raises KafkaError."""

    async def attempt() -> None:
        member = await _coordinator(broker, group)
        member.node.advance(member.clock.now())
        try:
            found = member.node.groups.shard(group).groups.get(group)
            if found is None:
                raise KafkaError(error_codes.GROUP_ID_NOT_FOUND, f"there is no group {group!r}")
            change(found)
        except Refusal as refusal:
            raise KafkaError(refusal.code, refusal.message) from None
        finally:
            member.settle()

    await _retried(broker, attempt)


async def expire_member(broker: ClusterApi, group: str, member_id: str) -> None:
    """Ends the session of a member."""
    check(group=group, member_id=member_id)
    await _on_group(broker, group, lambda found: found.expire_member(member_id))


async def remove_members(broker: ClusterApi, group: str) -> int:
    """Ends the session of every member."""
    check(group=group)
    ids: list[str] = []
    await _on_group(broker, group, lambda found: ids.extend(found.member_ids))
    for member_id in ids:
        await expire_member(broker, group, member_id)
    return len(ids)


async def rebalance(broker: ClusterApi, group: str) -> None:
    """Starts a rebalance of a group."""
    check(group=group)
    await _on_group(broker, group, lambda found: found.rebalance())


async def set_assignment(broker: ClusterApi, group: str, assignment: Mapping[str, Collection[TopicPartition]]) -> None:
    """Assigns partitions to the members of a group whose coordinator assigns."""
    check(group=group, assignment=assignment)
    by_member: dict[str, dict[Uuid, list[int]]] = {name: {} for name in assignment}
    for name, partitions in assignment.items():
        for topic, index in partitions:
            partitions_of(broker, topic, index)
            by_member[name].setdefault(broker.image.topic_ids[topic], []).append(index)
    targets = {
        name: {topic_id: PartitionSet(sorted(indexes)) for topic_id, indexes in topics.items()}
        for name, topics in by_member.items()
    }
    await _on_group(broker, group, lambda found: found.set_target_assignment(targets))
