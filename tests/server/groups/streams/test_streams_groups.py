"""Streams groups on one node: joins, revocation, static members, standby tasks, and the loading of
the log."""

from __future__ import annotations

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.requests.request import Refusal
from tests.server.groups.asking import commit, fetched, listed
from tests.server.groups.bench import GROUP, Bench

from .streams_client import AWAY, StreamsClient, alter_group, described, settle, streams_group_of

TASKS = {("0", 0), ("0", 1), ("1", 0), ("1", 1)}


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.create_topic("lines", 2)
    return bench


def two_members(bench: Bench) -> tuple[StreamsClient, StreamsClient]:
    clients = StreamsClient(bench, "a"), StreamsClient(bench, "b")
    settle(bench, clients)
    return clients


def test_the_group_is_what_its_log_says(bench: Bench) -> None:
    a, b = two_members(bench)
    a.beat(user_endpoint=None, client_tags=[])
    before, offsets = described(bench), commit(bench, {"lines": {0: 5}}, member="a", generation=a.epoch)
    assert set(offsets.values()) == {0}
    bench.fail_over()
    after = described(bench)
    # The configured topology is only in memory: until a heartbeat the requested one is shown.
    assert after.topology != before.topology
    assert a.beat().error_code == 0
    assert described(bench) == before
    assert b.beat().active_tasks is None, "it has what it had"
    assert fetched(bench)["lines", 0][0] == 5


def test_sessions_go_on_after_loading(bench: Bench) -> None:
    a, b = two_members(bench)
    bench.fail_over()
    bench.advance(30_000)
    a.beat()
    bench.advance(15_000)
    assert [member.member_id for member in described(bench).members] == ["a"]
    settle(bench, [a])
    assert a.owned() == TASKS
    assert b.beat().error_code == error_codes.UNKNOWN_MEMBER_ID


def test_the_rebalance_timeout_goes_on_after_loading(bench: Bench) -> None:
    a = StreamsClient(bench, "a")
    settle(bench, [a])
    bench.advance(1000)
    StreamsClient(bench, "b").beat(rebalance_timeout_ms=7000)
    assert a.beat().active_tasks is not None, "it must revoke"
    bench.fail_over()
    for _ in range(3):
        bench.advance(20_000)
        a.send(active_tasks=None, standby_tasks=None, warmup_tasks=None)
    assert "a" not in streams_group_of(bench).members


@pytest.mark.parametrize("fails_over", [False, True])
def test_a_static_member_that_comes_back_has_its_tasks(bench: Bench, fails_over: bool) -> None:
    a, b = StreamsClient(bench, "a", instance="i"), StreamsClient(bench, "b")
    settle(bench, [a, b])
    had, epoch = a.owned(), streams_group_of(bench).metadata.epoch
    assert a.leave(AWAY).member_epoch == AWAY
    assert described(bench).group_state == "Reconciling"
    if fails_over:
        bench.fail_over()
    again = StreamsClient(bench, "a2", process="a", instance="i")
    assert again.beat().error_code == 0
    assert again.owned() == had
    assert streams_group_of(bench).metadata.epoch == epoch, "nothing was assigned"
    assert b.beat().active_tasks is None
    assert {member.member_id for member in described(bench).members} == {"a2", "b"}


def test_a_static_member_that_stays_away_leaves_its_tasks(bench: Bench) -> None:
    a, b = StreamsClient(bench, "a", instance="i"), StreamsClient(bench, "b")
    settle(bench, [a, b])
    a.leave(AWAY)
    for _ in range(5):
        bench.advance(10_000)
        b.beat()
    settle(bench, [b])
    assert b.owned() == TASKS


def test_tasks_with_state_have_standbys_in_other_processes(bench: Bench) -> None:
    alter_group(bench, "streams.num.standby.replicas", "1")
    clients = [
        StreamsClient(bench, "a", process="p"),
        StreamsClient(bench, "b", process="p"),
        StreamsClient(bench, "c"),
    ]
    settle(bench, clients)
    standby = {client.member_id: client.owned("standby") for client in clients}
    assert set().union(*standby.values()) == {("1", 0), ("1", 1)}, "only tasks with state have copies"
    for client in clients:
        same_process = [other for other in clients if other.process == client.process]
        assert not standby[client.member_id] & set().union(*(other.owned() for other in same_process))


def test_more_standbys_are_another_assignment(bench: Bench) -> None:
    a, b = two_members(bench)
    assert a.owned("standby") == b.owned("standby") == set()
    alter_group(bench, "streams.num.standby.replicas", "1")
    settle(bench, [a, b])
    assert a.owned("standby") | b.owned("standby") == {("1", 0), ("1", 1)}


def test_a_deleted_source_topic_ends_the_tasks(bench: Bench) -> None:
    a = StreamsClient(bench, "a")
    settle(bench, [a])
    bench.delete_topic(bench.node.image.topic_ids["lines"])
    bench.advance(1000)
    answer = a.beat()
    assert [(status.status_code, status.status_detail) for status in answer.status] == [
        (1, "Source topics lines are missing.")
    ]
    assert a.owned() == set()
    assert described(bench).group_state == "NotReady"
    assert listed(bench, states=["not_ready"]).keys() == {GROUP}
    assert listed(bench, states=["NotReady"]) == {}, "as in Kafka"


def test_a_rebalance_and_the_end_of_a_session_by_hand(bench: Bench) -> None:
    a, b = two_members(bench)
    group, epoch = streams_group_of(bench), streams_group_of(bench).metadata.epoch
    group.rebalance()
    a.beat()
    assert group.assignment_epoch == epoch + 1
    group.expire_member("b")
    settle(bench, [a])
    assert a.owned() == TASKS
    assert b.beat().error_code == error_codes.UNKNOWN_MEMBER_ID
    with pytest.raises(Refusal, match="g has the members a"):
        group.expire_member("b")
    with pytest.raises(Refusal, match="it has tasks and no partitions"):
        group.set_target_assignment({})
    a.leave()
    with pytest.raises(Refusal, match="g has no members"):
        group.rebalance()


def test_a_member_that_comes_back_at_once_has_what_was_refined(bench: Bench) -> None:
    """Its target assignment is deleted, but the refined assignment of that epoch is kept: so it is
    in Kafka."""
    a, b = two_members(bench)
    a.leave()
    assert a.beat().member_epoch == streams_group_of(bench).assignment_epoch
    assert len(a.owned()) == 2
    settle(bench, [a, b])
    assert a.owned() | b.owned() == TASKS


def test_a_commit_is_as_new_as_the_assignment_of_its_task(bench: Bench) -> None:
    a = StreamsClient(bench, "a")
    settle(bench, [a])
    first = a.epoch
    streams_group_of(bench).rebalance()
    settle(bench, [a])
    assert a.epoch == first + 1
    stale = error_codes.STALE_MEMBER_EPOCH
    expected = {first - 1: stale, first: 0, first + 1: 0, first + 2: stale}
    for epoch, code in expected.items():
        assert commit(bench, {"lines": {0: 5}}, member="a", generation=epoch) == {("lines", 0): code}


def test_the_last_heartbeat_is_repeated_when_its_answer_was_lost(bench: Bench) -> None:
    a = StreamsClient(bench, "a")
    settle(bench, [a])
    old = a.epoch
    bench.advance(1000)
    b = StreamsClient(bench, "b")
    b.beat()
    a.beat()
    assert a.beat().member_epoch == old + 1
    a.epoch = old
    roles = {f"{role}_tasks": tasks for role, tasks in a.tasks.items()}
    assert a.send(**{name: list(tasks) for name, tasks in roles.items()}).member_epoch == old + 1
    assert a.send(active_tasks=None, standby_tasks=None, warmup_tasks=None).error_code == (
        error_codes.FENCED_MEMBER_EPOCH
    )
