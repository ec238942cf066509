"""A quorum that changes: voters are added, one at a time (KIP-853)."""

from typing import Any

import pytest

from kafkadouble.messages import error_codes as e
from kafkadouble.messages.generated.add_raft_voter import AddRaftVoterRequest
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.raft import reconfiguration
from kafkadouble.server.raft.request_manager import RaftPeer, RequestFailure
from tests.server.raft.asking import begin, key
from tests.server.raft.changing import Changing, add, known, remove, update
from tests.server.raft.quorum import (
    KRAFT_VERSION,
    KRAFT_VOTERS,
    LISTENER,
    control_kinds,
    endpoint,
)


def test_the_first_batch_of_an_epoch_names_the_version_and_the_voters() -> None:
    changing = Changing()
    assert control_kinds(changing.leader.log.log)[:3] == [2, KRAFT_VERSION, KRAFT_VOTERS]
    assert changing.leader.kraft_version == 1
    assert changing.leader.log.history.voters_offset >= 0
    assert control_kinds(Changing(dynamic=False).leader.log.log)[:2] == [2]


def test_57_a_voter_is_added() -> None:
    changing = Changing()
    joining = changing.observer()
    answer = changing.done(add())
    assert (answer.error_code, answer.error_message) == (0, None)
    changing.quorum.run(1000)
    for id in (1, 2, 3, 4):
        assert set(changing.quorum[id].voters.ids) == {1, 2, 3, 4}
    voter = changing.leader.voters.get(4)
    assert voter is not None
    assert (voter.key, voter.endpoints, voter.kraft_versions) == (key(4), {LISTENER: endpoint(4)}, (0, 1))
    assert joining.replica.is_voter
    assert 4 in changing.state.voters
    assert changing.state.observers == {}
    changing.quorum.kill(changing.others[0])
    changing.quorum.write(b"with three of four")
    assert joining.listener.values == [b"with three of four"]


def test_57_with_the_new_voter_the_majority_is_larger() -> None:
    changing = Changing()
    changing.observer()
    changing.done(add())
    changing.quorum.run(1000)
    changing.quorum.kill(changing.others[0])
    changing.quorum.kill(changing.others[1])
    before = changing.leader.log.high_watermark
    changing.leader.append([b"never"], changing.quorum.now)
    changing.quorum.run(1000)
    assert changing.leader.log.high_watermark == before


def test_57_a_voter_that_lags_behind_is_not_added() -> None:
    changing = Changing()
    answer = changing_answer = changing.ask(add())
    assert answer == []
    for send in changing.leader.take_outgoing():
        if isinstance(send.body, ApiVersionsRequest):
            changing.leader.answered(send.token, known(0, 1), changing.quorum.now)
    changing.quorum.run(10)
    assert changing_answer[0].error_code == e.REQUEST_TIMED_OUT
    assert "lagging" in changing_answer[0].error_message
    assert 4 not in changing.leader.voters
    assert changing.state.change is None


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (known(0, 0), e.INVALID_REQUEST),
        (known(2, 3), e.INVALID_REQUEST),
        (known(0, 1, code=35), e.REQUEST_TIMED_OUT),
        (None, e.REQUEST_TIMED_OUT),
        (RequestFailure.LOST, e.REQUEST_TIMED_OUT),
        (RequestFailure.NOT_AUTHENTICATED, e.REQUEST_TIMED_OUT),
    ],
)
def test_57_a_voter_without_api_versions_or_with_too_old_versions(response: Any, code: int) -> None:
    changing = Changing()
    changing.observer()
    found = changing.ask(add())
    for send in changing.leader.take_outgoing():
        if isinstance(send.body, ApiVersionsRequest):
            assert send.to.endpoint == endpoint(4)
            changing.leader.answered(send.token, response, changing.quorum.now)
    changing.quorum.run(10)
    assert found[0].error_code == code
    assert 4 not in changing.leader.voters
    assert changing.state.change is None


def test_57_the_probe_of_a_silent_voter_times_out() -> None:
    changing = Changing()
    changing.observer()
    changing.quorum.kill(4)
    changing.quorum.members[4].replica.take_outgoing()
    response = changing.ask(add())
    for send in changing.leader.take_outgoing():
        assert isinstance(send.body, ApiVersionsRequest), "and it is never answered"
    changing.quorum.run(1990)
    assert response == []
    changing.quorum.run(20)
    assert response[0].error_code == e.REQUEST_TIMED_OUT
    assert changing.state.change is None


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (add(2), e.DUPLICATE_VOTER),
        (add(2, life=1), e.DUPLICATE_VOTER),
        (add(directory_id=Uuid.ZERO), e.INVALID_REQUEST),
        (add(-1), e.INVALID_REQUEST),
        (add(listener="OTHER"), e.INVALID_REQUEST),
        (add(cluster="other"), e.INCONSISTENT_CLUSTER_ID),
        (remove(9), e.VOTER_NOT_FOUND),
        (remove(2, life=1), e.VOTER_NOT_FOUND),
        (remove(2, life=-1), e.INVALID_REQUEST),
        (remove(-1), e.INVALID_REQUEST),
        (remove(2, cluster="other"), e.INCONSISTENT_CLUSTER_ID),
    ],
)
def test_57_impossible_voter_change_is_refused(body: Any, code: int) -> None:
    changing = Changing()
    before, end = changing.leader.voters, changing.leader.log.end
    answer = changing.now(body)
    assert answer.error_code == code
    assert answer.error_message
    assert changing.leader.voters is before
    assert changing.leader.log.end == end
    assert changing.state.change is None


@pytest.mark.parametrize("name", ["", " "])
def test_57_a_listener_has_a_name(name: str) -> None:
    """Apache Kafka's controller ends over one that has none."""
    body = add()
    body.listeners = [*body.listeners, AddRaftVoterRequest.Listener(name=name, host="h", port=1)]
    changing = Changing()
    assert changing.now(body).error_code == e.INVALID_REQUEST


def test_57_the_name_of_a_listener_is_in_capitals_whatever_it_came_in() -> None:
    changing = Changing()
    changing.observer()
    assert changing.done(add(listener=LISTENER.lower())).error_code == 0
    voter = changing.leader.voters.get(4)
    assert voter is not None
    assert set(voter.endpoints) == {LISTENER}


@pytest.mark.parametrize("body", [add(), remove(2)])
def test_57_only_the_leader_changes_voters(body: Any) -> None:
    changing = Changing()
    follower = changing.quorum.members[changing.others[0]]
    (answer,) = follower.ask(body, 0, changing.quorum.now)
    assert answer.error_code == e.NOT_LEADER_OR_FOLLOWER


@pytest.mark.parametrize("body", [add(), remove(2)])
def test_57_under_kraft_version_0_the_voters_are_fixed(body: Any) -> None:
    changing = Changing(dynamic=False)
    assert changing.now(body).error_code == e.UNSUPPORTED_VERSION


def test_57_second_voter_change_is_refused_while_one_is_pending() -> None:
    changing = Changing()
    changing.observer()
    first = changing.ask(add())
    assert changing.now(remove(changing.others[0])).error_code == e.REQUEST_TIMED_OUT
    assert changing.now(add(5)).error_code == e.REQUEST_TIMED_OUT
    assert changing.now(update(changing.others[0], changing.leader.epoch)).error_code == e.REQUEST_TIMED_OUT
    changing.quorum.run(2000)
    assert first[0].error_code == 0


def test_57_no_change_of_voters_that_are_not_committed() -> None:
    changing = Changing()
    changing.quorum.isolate(changing.id)
    response = changing.ask(remove(changing.others[0]))
    assert response == []
    changing.quorum.run(2010)
    assert response[0].error_code == e.REQUEST_TIMED_OUT
    assert changing.state.change is None
    assert changing.now(remove(changing.others[0])).error_code == e.REQUEST_TIMED_OUT
    assert "not committed" in changing.now(add(9)).error_message


def test_57_no_change_before_something_of_this_epoch_is_committed() -> None:
    changing = Changing()
    changing.state.high_watermark = None
    for body in (add(), remove(2)):
        assert changing.now(body).error_code == e.REQUEST_TIMED_OUT


def test_57_a_change_ends_with_the_leadership() -> None:
    changing = Changing()
    changing.quorum.isolate(changing.id)
    response = changing.ask(remove(changing.others[0]))
    changing.quorum.members[changing.id].ask(begin(changing.others[0], 99, voter=changing.id), 1, changing.quorum.now)
    changing.quorum.run(1)
    assert response[0].error_code == e.NOT_LEADER_OR_FOLLOWER


def test_57_api_versions_of_another_node_do_not_count_for_the_new_voter() -> None:
    changing = Changing()
    changing.observer()
    response = changing.ask(add())
    (probe,) = [send for send in changing.leader.take_outgoing() if isinstance(send.body, ApiVersionsRequest)]
    stray = probe._replace(to=RaftPeer(9, endpoint(9)))
    assert reconfiguration.handle_api_versions_response(changing.leader, stray, known(0, 1))
    changing.quorum.tick()
    assert response == []
    assert 4 not in changing.leader.voters
    changing.leader.answered(probe.token, known(0, 1), changing.quorum.now)
    changing.quorum.run(1000)
    assert response[0].error_code == 0
