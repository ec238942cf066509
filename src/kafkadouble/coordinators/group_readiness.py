"""Whether the members of a group get each record that is produced from now on.

Rules. A member gets a record if its client knows its position before, and the broker knows that
when the client fetches the partition (`server/tracing/member_fetches.py`). So a group is ready if
it is stable, has a partition to read, and each partition of each member was fetched since it was
assigned. A client that has paused a partition does not fetch it, and is not ready.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.server.groups.classic.state import ClassicGroupState
from kafkadouble.server.tracing.given_partitions import Place
from kafkadouble.server.tracing.member_fetches import FetchState

from . import groups

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi

    from .group_values import Group, Member, TopicPartition
    from .groups import Ask

STABLE = ClassicGroupState.STABLE.value

MANY = 5
"""So many members or partitions a message names."""


class _Unready(NamedTuple):
    """The partitions of a member that are in the same state."""

    member: Member
    fetched: FetchState
    partitions: list[TopicPartition]

    def __str__(self) -> str:
        member = self.member
        places = _listed([f"{topic}-{index}" for topic, index in self.partitions])
        identity = f"the client id {member.client_id!r} and the host {member.host.removeprefix('/')}"
        if self.fetched is FetchState.UNCLEAR:
            return (
                f"{places} of the member {member.id} may be fetched by another client: several have {identity}; "
                "give each its own client.id"
            )
        return f"{places} not fetched since assigned to the member {member.id}, which has {identity}"


def unready(broker: ClusterApi, group: Group, ask: Ask) -> str:
    """Explains why members of the group may miss records; empty if they get each one."""
    if group.state != STABLE:
        return "it is not stable"
    if not any(member.assignment for member in group.members):
        return "no member has a partition"
    return "; ".join(map(str, _listed_first(list(_unready_members(broker, group, ask)))))


def _listed_first(found: list[_Unready]) -> list[_Unready | str]:
    more = len(found) - MANY
    return [*found[:MANY], *([f"and {more} more"] if more > 0 else [])]


def _listed(names: list[str]) -> str:
    more = len(names) - MANY
    return ", ".join(names[:MANY]) + (f" and {more} more" if more > 0 else "")


def _unready_members(broker: ClusterApi, group: Group, ask: Ask) -> Iterator[_Unready]:
    fetched = _lookup(broker, group, ask)
    for member in group.members:
        by_state: dict[FetchState, list[TopicPartition]] = {}
        for partition in member.assignment:
            by_state.setdefault(fetched(member, partition), []).append(partition)
        yield from (_Unready(member, state, each) for state, each in by_state.items() if state is not FetchState.YES)


def _lookup(broker: ClusterApi, group: Group, ask: Ask) -> Callable[[Member, TopicPartition], FetchState]:
    """A function that looks up a partition of a member."""
    known, image = broker.member_fetches, broker.image

    def places(partition: TopicPartition) -> list[Place]:
        """A topic is named by its id or, in older versions of requests, by its name."""
        topic, index = partition
        id = image.topic_ids.get(topic)
        return [(topic, index)] if id is None else [(id, index), (topic, index)]

    if group.type == "share":
        return lambda member, at: known.of_share_member(group.id, member.id, places(at))
    tasks = groups.subtopologies(group.id, ask) if group.type == "streams" else {}

    def of_member(member: Member, at: TopicPartition) -> FetchState:
        task = (tasks[at[0]], at[1]) if at[0] in tasks else None
        host = member.host.removeprefix("/")
        return known.of_member(group.id, member.id, member.client_id, host, places(at), task)

    return of_member
