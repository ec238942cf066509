"""Members join, sync, send heartbeats, commit, leave, restart and fall silent in any order.

What always holds of their group: the generation only grows; a group with members has one leader, a
member; no request waits for longer than the rules allow; a member has a session timer unless a
request of it waits; and the log describes a stable or empty group as it is.
"""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from kafkadouble.messages import error_codes as codes
from kafkadouble.server.coordinator.coordinator_loader import load
from kafkadouble.server.groups.classic.group import ClassicGroup
from kafkadouble.server.groups.classic.state import ClassicGroupState
from kafkadouble.server.groups.group_coordinator_shard import GroupCoordinatorShard
from kafkadouble.server.requests.timers import Timer
from tests.server.groups.asking import commit
from tests.server.groups.bench import DELAY, GROUP, Bench, Call, Member

SESSION, REBALANCE = 10_000, 30_000
LONGEST_WAIT = REBALANCE + DELAY

OFFERS = (
    [("range", b"r")],
    [("range", b"r"), ("sticky", b"s")],
    [("sticky", b"s"), ("range", b"r2")],
    [("stranger", b"")],
)
ANSWERS = {
    0,
    codes.UNKNOWN_MEMBER_ID,
    codes.ILLEGAL_GENERATION,
    codes.REBALANCE_IN_PROGRESS,
    codes.FENCED_INSTANCE_ID,
    codes.INCONSISTENT_GROUP_PROTOCOL,
    codes.GROUP_MAX_SIZE_REACHED,
    codes.MEMBER_ID_REQUIRED,
    codes.NOT_COORDINATOR,
}

member_numbers = st.integers(0, 5)


class Groups(RuleBasedStateMachine):
    """Six clients, the last two of them static members, in a group that takes four."""

    def __init__(self) -> None:
        super().__init__()
        self.bench = Bench(group_max_size=4)
        self.bench.create_topic("t")
        self.clients = [
            Member(self.bench, f"c{n}", instance=f"i{n}" if n >= 4 else None, session=SESSION, rebalance=REBALANCE)
            for n in range(6)
        ]
        self.calls: list[tuple[int, Member, Call]] = []
        self.generation = 0

    @property
    def group(self) -> ClassicGroup | None:
        group = self.bench.shard().groups.get(GROUP)
        assert group is None or isinstance(group, ClassicGroup)
        return group

    def take_in(self) -> None:
        """Passes the answers to the clients."""
        for since, member, call in list(self.calls):
            if call.done or call.closed:
                self.calls.remove((since, member, call))
            if call.done:
                self.read(member, call.answer)

    def read(self, member: Member, answer: Any) -> None:
        assert answer.error_code in ANSWERS, answer
        if hasattr(answer, "generation_id") and answer.error_code in (0, codes.MEMBER_ID_REQUIRED):
            member.id = answer.member_id
            if not answer.error_code:
                assert answer.generation_id >= member.generation or member.generation > self.generation
                member.generation, member.leader = answer.generation_id, answer.leader
                member.protocol = answer.protocol_name
        elif answer.error_code in (codes.UNKNOWN_MEMBER_ID, codes.FENCED_INSTANCE_ID):
            member.id, member.generation = "", -1

    def note_call(self, member: Member, call: Call) -> None:
        self.calls.append((self.bench.now, member, call))
        self.take_in()

    @rule(n=member_numbers, offer=st.sampled_from(OFFERS), version=st.sampled_from([0, 3, 5, 9]))
    def join(self, n: int, offer: list[tuple[str, bytes]], version: int) -> None:
        member = self.clients[n]
        member.protocols = offer
        self.note_call(member, member.send_join(max(version, 5) if member.instance else version))

    @rule(n=member_numbers)
    def sync(self, n: int) -> None:
        member, group = self.clients[n], self.group
        shares = {member: member.encode() for member in group.members} if group is not None else {}
        self.note_call(member, member.sync(shares))

    @rule(n=member_numbers)
    def beat(self, n: int) -> None:
        assert self.clients[n].beat() in ANSWERS

    @rule(n=member_numbers)
    def leave(self, n: int) -> None:
        self.clients[n].leave()
        self.clients[n].id = ""
        self.take_in()

    @rule(n=member_numbers)
    def forget_member_id(self, n: int) -> None:
        self.clients[n].id = ""

    @rule(n=member_numbers)
    def commit(self, n: int) -> None:
        member = self.clients[n]
        found = commit(self.bench, {"t": {0: 1}}, member=member.id, generation=member.generation)
        assert set(found.values()) <= ANSWERS | {codes.GROUP_ID_NOT_FOUND}

    @rule(milliseconds=st.sampled_from([0, 1, DELAY, SESSION // 2, SESSION, REBALANCE]))
    def wait(self, milliseconds: int) -> None:
        self.bench.advance(milliseconds)
        self.take_in()

    @precondition(lambda self: self.calls)
    @rule(n=member_numbers)
    def hang_up(self, n: int) -> None:
        _, _, call = self.calls[n % len(self.calls)]
        call.close()
        self.take_in()

    @rule()
    def fail_over(self) -> None:
        self.bench.fail_over()
        self.take_in()
        self.generation = 0
        assert not self.calls, "the old coordinator leaves no request waiting"

    @invariant()
    def the_generation_only_grows(self) -> None:
        if self.group is not None:
            assert self.group.generation_id >= self.generation
            self.generation = self.group.generation_id

    @invariant()
    def members_agree_with_the_state(self) -> None:
        group = self.group
        if group is None:
            return
        assert group.leader_id in group.members if group.members else group.leader_id is None
        assert group.static_members == {
            m.group_instance_id: m.member_id for m in group.members.values() if m.group_instance_id
        }
        assert all(member_id == member.member_id for member_id, member in group.members.items())
        assert not group.members.keys() & group.pending_join_members.keys()
        assert group.pending_sync_members.keys() <= group.members.keys()
        assert group.awaiting_join_count <= 4
        if group.is_empty:
            assert not group.members
        if group.state in (ClassicGroupState.STABLE, ClassicGroupState.COMPLETING_REBALANCE):
            assert len(group.members) > 0
            assert not group.awaiting_join_count
            assert all(group.protocol_name in member.supported_protocols for member in group.members.values())
        if group.state is not ClassicGroupState.COMPLETING_REBALANCE:
            assert not any(member.awaiting_sync_future for member in group.members.values())

    @invariant()
    def no_member_waits_for_ever(self) -> None:
        group = self.group
        for since, member, _ in self.calls:
            assert self.bench.now - since <= LONGEST_WAIT, f"{member!r} waits since {since}"
        if group is None:
            return
        if group.state is ClassicGroupState.PREPARING_REBALANCE:
            assert is_set(group.join_timer)
        if group.pending_sync_members:
            assert is_set(group.sync_timer)
        assert all(is_set(timer) for timer in group.pending_join_members.values())
        for each in group.members.values():
            assert is_set(each.session_timer) or each.has_satisfied_heartbeat, f"{each!r} is not watched"

    @invariant()
    def the_log_holds_the_same_group(self) -> None:
        group = self.group
        if group is None or group.state not in (ClassicGroupState.STABLE, ClassicGroupState.EMPTY):
            return
        shadow = GroupCoordinatorShard(self.bench.node, self.bench.shard().partition, self.bench.node.groups)
        load(shadow)
        assert seen(shadow.groups[GROUP]) == seen(group)

    def teardown(self) -> None:
        self.bench.advance(LONGEST_WAIT)
        self.take_in()
        assert not self.calls, "every request is answered in the end"
        self.bench.advance(10 * 60_000)
        assert self.group is None or self.group.is_empty, "silent members are out in the end"


def is_set(timer: Timer | None) -> bool:
    return timer is not None and timer.action is not None


def seen(group: Any) -> Any:
    """What is persisted of a group."""
    members = {
        member.member_id: (
            member.group_instance_id,
            member.client_id,
            member.session_timeout_ms,
            member.supported_protocols.get(group.protocol_name),
            member.assignment,
        )
        for member in group.members.values()
    }
    return group.state, group.generation_id, group.protocol_type, group.protocol_name, group.leader_id, members


Groups.TestCase.settings = settings(
    max_examples=60, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)
TestGroups = Groups.TestCase
