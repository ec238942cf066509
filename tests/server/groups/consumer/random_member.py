"""Random members of consumer groups, and what they are reconciled with."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, NamedTuple

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.groups.assignor.assignment import PartitionSet
from kafkadouble.server.groups.consumer.consumer_group_member import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupMember,
)
from kafkadouble.server.groups.consumer.current_assignment import NO_EPOCH, ReconciliationTarget
from kafkadouble.server.groups.modern.modern_group_member import MemberState

TOPICS = {name: Uuid(bytes([index]) * 16) for index, name in enumerate(("t", "u", "v"), 1)}
PARTITIONS = range(4)


class Owned(NamedTuple):
    """A topic of a heartbeat's owned partitions."""

    topic_id: Uuid
    partitions: list[int]


def made_epochs(made: Random, *, least: int = 0) -> dict[Uuid, dict[int, int]]:
    """Returns some partitions of some topics, each with the epoch of its assignment."""
    found = {}
    for id in made.sample(sorted(TOPICS.values()), made.randrange(least, 4)):
        partitions = made.sample(PARTITIONS, made.randrange(1, 4))
        found[id] = {partition: made.randrange(9) for partition in partitions}
    return found


def made_member(made: Random) -> ConsumerGroupMember:
    state = made.choice(list(MemberState))
    pending = made_epochs(made, least=1) if state is MemberState.UNREVOKED_PARTITIONS else {}
    assigned = {
        id: kept
        for id, epochs in made_epochs(made).items()
        if (kept := {each: epoch for each, epoch in epochs.items() if each not in pending.get(id, {})})
    }
    metadata = ClassicMemberMetadata(
        made.choice([6000, 45000]), tuple(ClassicProtocol(name, name.encode()) for name in ("range", "bücher"))
    )
    epoch = made.randrange(-2, 8)
    return ConsumerGroupMember(
        member_id=made.choice(["m", "mémber"]),
        member_epoch=epoch,
        previous_member_epoch=epoch - made.randrange(3),
        state=state,
        instance_id=made.choice([None, "i"]),
        rack_id=made.choice([None, "r"]),
        client_id=made.choice(["", "c"]),
        client_host="/127.0.0.1",
        subscribed_topic_names=frozenset(made.sample([*TOPICS, "nowhere"], made.randrange(5))),
        subscribed_topic_regex=made.choice([None, "", "t.*"]),
        server_assignor_name=made.choice([None, "range"]),
        rebalance_timeout_ms=made.choice([-1, 5000]),
        assigned_partitions=assigned,
        partitions_pending_revocation=pending,
        classic_member_metadata=made.choice([None, None, metadata]),
    )


def made_owned(made: Random, member: ConsumerGroupMember) -> list[Owned] | None:
    """Returns what the member says that it owns: often what it has, with or without what it must
    revoke."""
    kind = made.randrange(5)
    if kind < 2:
        return None if kind else []
    found: dict[Uuid, set[int]] = {}
    sources: list[Mapping[Uuid, Mapping[int, int]]] = [member.assigned_partitions]
    sources += [member.partitions_pending_revocation] * (kind == 3) + [made_epochs(made)] * (kind == 4)
    for source in sources:
        for id, epochs in source.items():
            found.setdefault(id, set()).update(epochs)
    return [Owned(id, sorted(partitions)) for id, partitions in found.items()]


def made_target(made: Random, member: ConsumerGroupMember) -> tuple[ReconciliationTarget, dict[Uuid, dict[int, int]]]:
    """Returns a target assignment, and the epochs of the members that have each partition."""
    current = made_epochs(made)
    for source in (member.assigned_partitions, member.partitions_pending_revocation):
        for id, epochs in source.items():
            current.setdefault(id, {}).update(dict.fromkeys(epochs, member.member_epoch))
    assignment = {id: PartitionSet(epoch) for id, epoch in made_epochs(made).items()}
    if made.random() < 0.3:
        assignment = {id: PartitionSet(each) for id, each in member.assigned_partitions.items()}
    subscribed = frozenset(TOPICS[name] for name in member.subscribed_topic_names if name in TOPICS)
    epoch = made.choice([member.member_epoch, max(member.member_epoch, 0) + 1])
    owned = made_owned(made, member)

    def partition_epoch(id: Uuid, partition: int) -> int:
        return current.get(id, {}).get(partition, NO_EPOCH)

    return ReconciliationTarget(epoch, assignment, subscribed, made.random() < 0.4, owned, partition_epoch), current


def as_json(member: ConsumerGroupMember) -> dict[str, Any]:
    """Returns a member as the witness reads it."""
    classic = member.classic_member_metadata
    names = ("member_id", "member_epoch", "previous_member_epoch", "instance_id", "rack_id", "client_id", "client_host")
    more = ("subscribed_topic_regex", "server_assignor_name", "rebalance_timeout_ms")
    return {
        **{name: getattr(member, name) for name in (*names, *more)},
        "state": int(member.state),
        "subscribed_topic_names": sorted(member.subscribed_topic_names),
        "assigned": epochs_as_json(member.assigned_partitions),
        "pending": epochs_as_json(member.partitions_pending_revocation),
        "classic": None
        if classic is None
        else [classic.session_timeout_ms, [[each.name, each.metadata.hex()] for each in classic.supported_protocols]],
    }


def epochs_as_json(partitions: Mapping[Uuid, Mapping[int, int]]) -> dict[str, dict[str, int]]:
    return {str(id): {str(each): epoch for each, epoch in epochs.items()} for id, epochs in partitions.items()}
