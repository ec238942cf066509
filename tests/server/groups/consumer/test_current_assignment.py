"""Each state of a member, and each case of its next step (KIP-848)."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.groups.assignor.assignment import PartitionSet
from kafkadouble.server.groups.consumer.consumer_group_member import ConsumerGroupMember
from kafkadouble.server.groups.consumer.current_assignment import NO_EPOCH, ReconciliationTarget, reconcile
from kafkadouble.server.groups.modern.modern_group_member import MemberState
from kafkadouble.server.requests.request import Refusal
from tests.server.groups.consumer.random_member import Owned

STABLE, UNREVOKED, UNRELEASED, UNKNOWN = MemberState
T, U = Uuid(bytes([1]) * 16), Uuid(bytes([2]) * 16)
EPOCH, NEXT = 4, 5


class Case(NamedTuple):
    """A member in epoch EPOCH with partitions of T, and what is expected of it.

    `others` are partitions that other members have. `owned` is None if the heartbeat does not say.
    """

    name: str
    state: MemberState
    assigned: set[int]
    pending: set[int]
    target: set[int]
    owned: set[int] | None
    then: MemberState
    then_epoch: int
    then_assigned: set[int]
    then_pending: set[int]
    target_epoch: int = NEXT
    others: frozenset[int] = frozenset()
    subscribes: bool = True
    changed: bool = False


CASES = (
    Case("stable and current", STABLE, {0, 1}, set(), {0, 1}, None, STABLE, EPOCH, {0, 1}, set(), target_epoch=EPOCH),
    Case("nothing to do but advance", STABLE, {0, 1}, set(), {0, 1}, None, STABLE, NEXT, {0, 1}, set()),
    Case("gets a free partition", STABLE, {0}, set(), {0, 1}, None, STABLE, NEXT, {0, 1}, set()),
    Case("must revoke first", STABLE, {0, 1}, set(), {0, 2}, None, UNREVOKED, EPOCH, {0}, {1}),
    Case("does not own what it must revoke", STABLE, {0, 1}, set(), {0, 2}, {0}, STABLE, NEXT, {0, 2}, set()),
    Case("still owns it", STABLE, {0, 1}, set(), {0, 2}, {0, 1}, UNREVOKED, EPOCH, {0}, {1}),
    Case(
        "waits for what another has",
        STABLE,
        {0},
        set(),
        {0, 1},
        None,
        UNRELEASED,
        NEXT,
        {0},
        set(),
        others=frozenset({1}),
    ),
    Case(
        "gets one and waits for another",
        STABLE,
        {0},
        set(),
        {0, 1, 2},
        None,
        UNRELEASED,
        NEXT,
        {0, 2},
        set(),
        others=frozenset({1}),
    ),
    Case(
        "unsubscribed in the same epoch",
        STABLE,
        {0},
        set(),
        {0},
        None,
        UNREVOKED,
        EPOCH,
        set(),
        {0},
        target_epoch=EPOCH,
        subscribes=False,
        changed=True,
    ),
    Case(
        "unsubscribed and owns nothing",
        STABLE,
        {0},
        set(),
        {0},
        set(),
        STABLE,
        EPOCH,
        set(),
        set(),
        target_epoch=EPOCH,
        subscribes=False,
        changed=True,
    ),
    Case(
        "a target of a topic without subscription",
        STABLE,
        {0},
        set(),
        {0, 1},
        None,
        UNREVOKED,
        EPOCH,
        set(),
        {0},
        subscribes=False,
    ),
    Case("says nothing of what it revokes", UNREVOKED, {0}, {1}, {0}, None, UNREVOKED, EPOCH, {0}, {1}),
    Case("has not revoked", UNREVOKED, {0}, {1}, {0}, {0, 1}, UNREVOKED, EPOCH, {0}, {1}),
    Case("has revoked", UNREVOKED, {0}, {1}, {0, 2}, {0}, STABLE, NEXT, {0, 2}, set()),
    Case("gets back what it revokes", UNREVOKED, {0}, {1}, {0, 1}, {0}, STABLE, NEXT, {0, 1}, set()),
    Case("has revoked, and must revoke more", UNREVOKED, {0, 2}, {1}, {0}, {0, 2}, UNREVOKED, EPOCH, {0}, {2}),
    Case(
        "unsubscribed while it revokes",
        UNREVOKED,
        {0},
        {1},
        {0},
        {0, 1},
        UNREVOKED,
        EPOCH,
        set(),
        {0, 1},
        subscribes=False,
        changed=True,
    ),
    Case(
        "another still has it",
        UNRELEASED,
        {0},
        set(),
        {0, 1},
        None,
        UNRELEASED,
        EPOCH,
        {0},
        set(),
        target_epoch=EPOCH,
        others=frozenset({1}),
    ),
    Case("another released it", UNRELEASED, {0}, set(), {0, 1}, None, STABLE, EPOCH, {0, 1}, set(), target_epoch=EPOCH),
    Case("must revoke while it waits", UNRELEASED, {0}, set(), {1}, {0}, UNREVOKED, EPOCH, set(), {0}),
    Case("unknown, and gave up all", UNKNOWN, {0}, set(), {0, 1}, set(), STABLE, NEXT, {0, 1}, set()),
)


def epochs(partitions: set[int]) -> dict[Uuid, dict[int, int]]:
    return {T: dict.fromkeys(sorted(partitions), EPOCH)} if partitions else {}


def member_of(case: Case) -> ConsumerGroupMember:
    return ConsumerGroupMember(
        member_id="m",
        member_epoch=EPOCH,
        previous_member_epoch=EPOCH - 1,
        state=case.state,
        assigned_partitions=epochs(case.assigned),
        partitions_pending_revocation=epochs(case.pending),
    )


def target_of(case: Case) -> ReconciliationTarget:
    has = {*case.assigned, *case.pending, *case.others}
    owned = [Owned(T, sorted(case.owned)), Owned(U, [0])] if case.owned else None if case.owned is None else []
    return ReconciliationTarget(
        case.target_epoch,
        {T: PartitionSet(sorted(case.target))},
        frozenset((T,)) if case.subscribes else frozenset(),
        case.changed,
        owned,
        lambda id, partition: EPOCH if id == T and partition in has else NO_EPOCH,
    )


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_next_step(case: Case) -> None:
    after = reconcile(member_of(case), target_of(case))
    assigned, pending = (
        {*each.get(T, ())} for each in (after.assigned_partitions, after.partitions_pending_revocation)
    )
    assert (after.state, after.member_epoch) == (case.then, case.then_epoch)
    assert (assigned, pending) == (case.then_assigned, case.then_pending)


def test_each_partition_keeps_the_epoch_in_which_it_was_assigned() -> None:
    case = next(case for case in CASES if case.name == "gets a free partition")
    assert reconcile(member_of(case), target_of(case)).assigned_partitions == {T: {0: EPOCH, 1: NEXT}}


def test_the_previous_epoch_is_the_one_before_the_step() -> None:
    case = next(case for case in CASES if case.name == "nothing to do but advance")
    assert reconcile(member_of(case), target_of(case)).previous_member_epoch == EPOCH


@pytest.mark.parametrize("owned", [None, {0}])
def test_a_member_in_an_unknown_state_must_give_up_its_partitions(owned: set[int] | None) -> None:
    case = CASES[-1]._replace(owned=owned)
    with pytest.raises(Refusal) as refused:
        reconcile(member_of(case), target_of(case))
    assert refused.value.code == error_codes.FENCED_MEMBER_EPOCH


def test_every_state_is_a_case() -> None:
    assert {case.state for case in CASES} == set(MemberState)
    assert {case.then for case in CASES} == {STABLE, UNREVOKED, UNRELEASED}
