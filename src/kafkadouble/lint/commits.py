"""A member of a group commits offsets of partitions that it does not own; and commits that move one
offset each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kafkadouble.coordinators.groups import assigned_partitions
from kafkadouble.server.tracing.history import SeenRequest

from .finding import FoundHabit, LintContext, finding
from .thresholds import SINGLE_COMMITS, SINGLE_COMMITS_MS

OWNERSHIP, SINGLE = "commit-without-ownership", "commit-per-record"

COMMITS = ("OffsetCommit", "TxnOffsetCommit")

NOT_A_MEMBER = {
    "ILLEGAL_GENERATION": "from a generation of the group that is over",
    "UNKNOWN_MEMBER_ID": "as a member that the group does not have",
    "FENCED_INSTANCE_ID": "as a static member that was replaced",
    "STALE_MEMBER_EPOCH": "from an epoch of the member that is over",
    "FENCED_MEMBER_EPOCH": "as a member that was fenced",
}

NOT_OWNED = "of partitions that it does not own, as a member"
OF_GROUPS = "of {count} groups: {names}"

EAGER = ("range", "roundrobin", "sticky")
"""The assignors with which a member gives up all partitions before it gets others. With any other
one it may commit the partitions that it just lost."""

Owned = frozenset[tuple[str, int]]


class _Membership(NamedTuple):
    """The assignment of a member in a generation, and in the one before if it may still commit
    that."""

    generation: int
    owned: Owned
    earlier: Owned


def find_without_ownership(requests: Sequence[SeenRequest], context: LintContext) -> Iterator[FoundHabit]:
    """Commits that the coordinator refused, and commits of partitions that were not assigned."""
    members: dict[tuple[str, str], _Membership] = {}
    shown: dict[tuple[str, str, str, str], list[SeenRequest]] = {}
    for seen in requests:
        if seen.api == "SyncGroup":
            _learn(members, seen)
        elif seen.api in COMMITS:
            refused, strange = _refused(seen), _not_owned(members, seen)
            if what := refused or strange:
                key = seen.client_id, what, refused or NOT_OWNED, repr(seen.body.group_id)
                shown.setdefault(key, []).append(seen)
    for (_, what, kind, group), found in shown.items():
        sentence, of_many = f"committed offsets {what} of group {group}", f"committed offsets {kind} {OF_GROUPS}"
        yield FoundHabit(OWNERSHIP, sentence, tuple(found), kind, group, of_many)


def _learn(members: dict[tuple[str, str], _Membership], seen: SeenRequest) -> None:
    """The assignment of a member, from the answer to its SyncGroup."""
    if seen.answer is None or seen.error is not None:
        return
    body, key = seen.body, (seen.body.group_id, seen.body.member_id)
    owned = frozenset(assigned_partitions(bytes(seen.answer.assignment)))
    before = members.get(key)
    # Requests before version 5 do not name the assignor; the coordinator's answer always does.
    keeps = before is not None and seen.answer.protocol_name not in EAGER
    members[key] = _Membership(body.generation_id, owned, before.owned if before and keeps else frozenset())


def _refused(seen: SeenRequest) -> str | None:
    """The reason for which the coordinator refused the commit, if a fault rule did not."""
    return None if seen.rules else next((NOT_A_MEMBER[name] for name in seen.errors if name in NOT_A_MEMBER), None)


def _not_owned(members: dict[tuple[str, str], _Membership], seen: SeenRequest) -> str | None:
    membership = members.get((seen.body.group_id, seen.body.member_id))
    if membership is None or membership.generation != seen.body.generation_id_or_member_epoch or seen.error is not None:
        return None
    committed = {(part.topic, part.partition) for part in seen.parts if part.partition is not None}
    strange = sorted(f"{topic}-{index}" for topic, index in committed - membership.owned - membership.earlier)
    return f"for {', '.join(strange[:3])}, which it does not own, as a member" if strange else None


Place = tuple[str, str, str, str | None, int | None]


def find_per_record(requests: Sequence[SeenRequest], context: LintContext) -> Iterator[FoundHabit]:
    """A row of commits of one partition, each one offset after the other, in a short time."""
    if not context.is_timed:
        return
    rows: dict[Place, list[tuple[int, SeenRequest]]] = {}
    reported: set[str] = set()
    for seen in requests:
        for place, offset in _committed(seen):
            row = rows.setdefault(place, [])
            if row and row[-1][0] + 1 != offset:
                row.clear()
            row.append((offset, seen))
            first = row[-SINGLE_COMMITS][1] if len(row) >= SINGLE_COMMITS else None
            if first is not None and seen.time - first.time <= SINGLE_COMMITS_MS and seen.client_id not in reported:
                reported.add(seen.client_id)
                where = f"{place[3]}-{place[4]}"
                sentence = f"committed every offset of {where} by itself, {SINGLE_COMMITS} times in a row"
                yield finding(SINGLE, sentence, [each for _, each in row[-SINGLE_COMMITS:]])


def _committed(seen: SeenRequest) -> Iterator[tuple[Place, int]]:
    if seen.api != "OffsetCommit" or seen.error is not None:
        return
    offsets = [part.committed_offset for topic in seen.body.topics for part in topic.partitions]
    parts = seen.parts
    if len(parts) == len(offsets):
        for part, offset in zip(parts, offsets, strict=True):
            yield (seen.client_id, seen.body.group_id, seen.body.member_id, part.topic, part.partition), offset
