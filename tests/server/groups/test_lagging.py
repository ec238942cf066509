"""Groups on a partition with a slow follower.

A response never shows what is not committed, and what cannot be committed is undone.
"""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.delete_groups import DeleteGroupsRequest
from kafkadouble.messages.generated.leave_group import LeaveGroupRequest
from kafkadouble.server.metadata.internal_topics import CONSUMER_OFFSETS
from tests.server.coordinator.stub import TIMEOUT, Lagging
from tests.server.groups.asking import commit_request, fetch_request, fetched
from tests.server.groups.bench import GROUP, Bench, Call, Member, gathered, stabilise


class SlowBench(Bench):
    """`lag` begins, and `catch_up` ends it."""

    def lag(self) -> None:
        self.partition(CONSUMER_OFFSETS).__class__ = Lagging

    def catch_up(self) -> None:
        partition = self.partition(CONSUMER_OFFSETS)
        assert isinstance(partition, Lagging)
        partition.replicate()
        self.advance(0)


@pytest.fixture
def bench() -> SlowBench:
    bench = SlowBench()
    bench.create_topic("t")
    return bench


def test_an_assignment_waits_to_be_committed(bench: SlowBench) -> None:
    leader, follower = gathered(bench)
    bench.lag()
    calls = [follower.sync(), leader.sync({follower.id: b"2"})]
    assert not any(call.done for call in calls)
    assert bench.group().state_name == "CompletingRebalance"
    bench.catch_up()
    assert [call.answer.assignment for call in calls] == [b"2", b""]
    assert bench.group().state_name == "Stable"


def test_an_assignment_is_given_out_though_the_leader_hung_up(bench: SlowBench) -> None:
    leader, follower = gathered(bench)
    bench.lag()
    waiting = follower.sync()
    leader.sync({follower.id: b"2"}).close()
    bench.catch_up()
    assert waiting.answer.assignment == b"2"


def test_an_assignment_that_is_not_committed_in_time_makes_every_member_rejoin(bench: SlowBench) -> None:
    leader, follower = gathered(bench)
    bench.lag()
    calls = [follower.sync(), leader.sync({})]
    bench.advance(TIMEOUT)
    assert [call.code for call in calls] == [codes.COORDINATOR_NOT_AVAILABLE] * 2
    assert bench.group().state_name == "PreparingRebalance"
    assert {member.assignment for member in bench.group().members.values()} == {b""}


def test_an_assignment_of_an_old_generation_is_given_to_no_member(bench: SlowBench) -> None:
    leader, follower = gathered(bench)
    bench.lag()
    call = leader.sync({follower.id: b"old"})
    follower.protocols = [("range", b"other")]
    again = follower.join()
    assert call.code == codes.REBALANCE_IN_PROGRESS
    leader.joined(leader.join())
    follower.joined(again)
    waiting = follower.sync()
    bench.catch_up()
    assert not waiting.done
    assert bench.group().state_name == "CompletingRebalance"


def restart(bench: SlowBench) -> tuple[Member, Member, Call]:
    """A stable group of one static leader, which rejoins without its id on a lagging partition."""
    before = Member(bench, "s", instance="i", session=20_000)
    stabilise(before)
    bench.lag()
    after = Member(bench, "s", instance="i", session=20_000, protocols=[("range", b"new"), ("sticky", b"")])
    return before, after, after.send_join()


def test_a_new_id_of_a_static_member_waits_to_be_committed(bench: SlowBench) -> None:
    before, after, call = restart(bench)
    assert not call.done
    bench.advance(TIMEOUT - 1)
    bench.catch_up()
    after.joined(call)
    assert call.answer.skip_assignment
    assert before.beat() == codes.FENCED_INSTANCE_ID
    bench.advance(19_999)
    assert after.beat() == 0, "its session counts from the answer"


def test_a_new_id_that_is_not_committed_in_time_is_taken_back(bench: SlowBench) -> None:
    before, _, call = restart(bench)
    bench.advance(TIMEOUT)
    assert call.code == codes.COORDINATOR_NOT_AVAILABLE
    assert (call.answer.member_id, call.answer.leader, call.answer.generation_id) == ("", before.id, 1)
    assert before.beat() == 0
    (member,) = bench.group().members.values()
    assert (member.member_id, list(member.supported_protocols), bench.group().leader_id) == (
        before.id,
        ["range"],
        before.id,
    )
    assert bench.group().static_members == {"i": before.id}


def test_a_rebalance_overtakes_a_new_id(bench: SlowBench) -> None:
    _, after, call = restart(bench)
    Member(bench, "b").join()
    bench.advance(TIMEOUT)
    after.joined(call)
    assert after.generation == 2
    assert after.beat() == 0, "that the id was noted too late matters no more"


def test_commits_and_fetches_wait(bench: SlowBench) -> None:
    bench.lag()
    commit = bench.send(commit_request({"t": {0: 5}}), 9)
    fetch = bench.send(fetch_request({GROUP: None}), 9)
    assert not commit.done
    assert not fetch.done, "it would show what may yet be lost"
    bench.catch_up()
    assert commit.answer.topics[0].partitions[0].error_code == 0
    assert fetch.answer.groups[0].topics[0].partitions[0].committed_offset == 5


def test_uncommitted_group_record_is_an_error_of_each_api(bench: SlowBench) -> None:
    member = Member(bench, group="h")
    stabilise(member)
    bench.lag()
    late, elsewhere = codes.COORDINATOR_NOT_AVAILABLE, codes.NOT_COORDINATOR
    commit = bench.send(commit_request({"t": {0: 5}}), 9)
    fetch = bench.send(fetch_request({GROUP: None}), 9)
    identity = LeaveGroupRequest.MemberIdentity(member_id=member.id)
    leave = bench.send(LeaveGroupRequest(group_id="h", members=[identity]))
    delete = bench.send(DeleteGroupsRequest(groups_names=[GROUP, "unknown"]))
    bench.advance(TIMEOUT)
    assert commit.answer.topics[0].partitions[0].error_code == late
    assert fetch.answer.groups[0].error_code == elsewhere, "consumers look for the coordinator then"
    assert leave.code == late
    assert {result.error_code for result in delete.answer.results} == {late}


def test_late_group_record_may_still_be_committed(bench: SlowBench) -> None:
    bench.lag()
    bench.send(commit_request({"t": {0: 5}}), 9)
    bench.advance(TIMEOUT)
    bench.catch_up()
    assert fetched(bench) == {("t", 0): (5, -1, "", 0)}
