"""What a follower does with time, and with what its leader answers."""

import pytest

from kafkadouble.messages import error_codes as e
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.candidate_state import CandidateState
from kafkadouble.server.raft.follower_state import FollowerState
from kafkadouble.server.raft.leader_discovery import ClusterAuthorizationFailed
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.prospective_state import ProspectiveState
from kafkadouble.server.raft.quorum_state import ElectionState, MemoryQuorumStateStore
from kafkadouble.server.raft.raft_log import DivergedLog
from kafkadouble.server.raft.request_manager import RequestFailure
from kafkadouble.server.raft.unattached_state import UnattachedState
from tests.server.raft.asking import ask, member, shown, sole, vote
from tests.server.raft.followed import Followed, batch, response
from tests.server.raft.quorum import START, Quorum, endpoint


def test_52_a_voter_that_cannot_fetch_asks_for_votes_and_an_observer_never() -> None:
    voter, observer = Followed(), Followed(id=9)
    for followed in (voter, observer):
        followed.tick(followed.fetch_timeout - 1)
        assert isinstance(followed.replica.state, FollowerState)
        followed.tick(1)
    assert isinstance(voter.replica.state, ProspectiveState)
    for _ in range(100):
        observer.tick(1000)
        observer.replica.take_outgoing()
        assert isinstance(observer.replica.state, FollowerState)
        assert observer.replica.epoch == 4


def test_52_every_success_puts_the_timeout_off() -> None:
    followed = Followed()
    for _ in range(3):
        followed.answer(response(), 600)
        assert isinstance(followed.replica.state, FollowerState)
    followed.replica.take_outgoing()
    followed.tick(followed.fetch_timeout)
    assert isinstance(followed.replica.state, ProspectiveState)


def test_52_failed_fetch_does_not_reset_the_fetch_timeout() -> None:
    followed = Followed()
    patience = followed.fetch_timeout
    while isinstance(followed.replica.state, FollowerState):
        for send in followed.replica.take_outgoing():
            followed.replica.answered(send.token, None, followed.now)
        followed.tick(50)
    assert START + patience <= followed.now < START + patience + 50


def test_records_are_appended_and_committed_up_to_the_leaders_high_watermark_and_the_log_end() -> None:
    followed = Followed()
    # a fetch
    assert followed.sent().body.topics[0].partitions[0].fetch_offset == 0  # type: ignore[attr-defined]
    followed = Followed()
    followed.answer(response(batch(0, b"a", b"b") + batch(2, b"c"), high_watermark=2))
    assert followed.replica.log.end == OffsetAndEpoch(3, 4)
    assert followed.member.listener.values == [b"a", b"b"]
    assert followed.fetched() == (3, 4, 4)
    followed = Followed()
    followed.answer(response(batch(0, b"a"), high_watermark=99))
    assert (followed.replica.log.high_watermark, followed.replica.log.known_high_watermark) == (1, 1)
    followed.answer(response(high_watermark=-1))
    assert followed.replica.log.high_watermark == 1


def test_follower_fetches_from_its_end_with_its_last_epoch() -> None:
    followed = Followed()
    followed.answer(response(batch(0, b"a", epoch=2) + batch(1, b"b", epoch=3)))
    body = followed.sent().body
    assert isinstance(body, FetchRequest)
    partition = body.topics[0].partitions[0]
    assert (partition.fetch_offset, partition.last_fetched_epoch, partition.current_leader_epoch) == (2, 3, 4)
    assert (partition.log_start_offset, partition.partition_max_bytes, partition.high_watermark) == (-1, 0, -1)
    assert (body.max_wait_ms, body.min_bytes, body.max_bytes, body.session_epoch) == (500, 0, 1 << 20, -1)
    assert body.replica_state is not None
    assert (body.replica_state.replica_id, body.replica_state.replica_epoch) == (1, -1)


def test_diverging_logs_are_cut_to_where_they_agree() -> None:
    followed = Followed()
    followed.answer(response(batch(0, b"a", epoch=1) + batch(1, b"b", epoch=2) + batch(2, b"c", epoch=3)))
    followed.answer(response(diverging=(1, 1)))
    assert followed.replica.log.end == OffsetAndEpoch(1, 1)
    assert followed.fetched() == (1, 1, 4)


def test_an_epoch_that_the_leader_does_not_have_goes_as_a_whole() -> None:
    followed = Followed()
    followed.answer(response(batch(0, b"a", epoch=1) + batch(1, b"b", epoch=2) + batch(2, b"c", epoch=3)))
    followed.answer(response(diverging=(2, 2)))
    assert followed.replica.log.end == OffsetAndEpoch(2, 2)


def test_a_cut_inside_a_batch_takes_the_whole_batch() -> None:
    followed = Followed()
    followed.answer(response(batch(0, b"a", epoch=1) + batch(1, b"b", b"c", b"d", epoch=1)))
    followed.answer(response(diverging=(3, 1)))
    assert followed.replica.log.end == OffsetAndEpoch(1, 1)
    assert len(list(followed.replica.log.log.batches(0))) == 1


def test_committed_records_are_never_truncated() -> None:
    followed = Followed()
    followed.answer(response(batch(0, b"a", b"b", epoch=1), high_watermark=2))
    followed.answer(response(diverging=(1, 1)))
    assert isinstance(followed.replica.failure, DivergedLog)
    assert followed.replica.log.end == OffsetAndEpoch(2, 1)
    assert followed.replica.take_outgoing() == []


@pytest.mark.parametrize("at", [(-1, 1), (1, -1)])
def test_incomplete_diverging_epoch_is_ignored(at: tuple[int, int]) -> None:
    followed = Followed()
    followed.answer(response(batch(0, b"a", epoch=1)))
    before = shown(followed.replica)
    followed.answer(response(diverging=at))
    assert shown(followed.replica) == before
    assert followed.replica.failure is None


@pytest.mark.parametrize("id", [(-1, 3), (5, -1), (5, 3)])
def test_without_a_way_to_fetch_a_snapshot_its_id_changes_nothing(id: tuple[int, int]) -> None:
    followed = Followed()
    before = shown(followed.replica)
    followed.answer(response(snapshot=id))
    assert shown(followed.replica) == before
    followed.tick(20)
    assert followed.fetched() == (0, 0, 4)


def test_56_unknown_leader_epoch_is_retried() -> None:
    followed = Followed()
    state = followed.replica.state
    followed.answer(response(code=e.UNKNOWN_LEADER_EPOCH, epoch=3))
    assert followed.replica.state is state
    followed.tick(20)
    assert followed.fetched() == (0, 0, 4)


@pytest.mark.parametrize("code", [e.NONE, e.FENCED_LEADER_EPOCH, e.NOT_LEADER_OR_FOLLOWER, e.UNKNOWN_SERVER_ERROR])
def test_a_later_epoch_is_believed_whatever_comes_with_it(code: int) -> None:
    followed = Followed()
    followed.answer(response(batch(0, b"a", epoch=6), leader=3, epoch=6, code=code))
    assert isinstance(followed.replica.state, FollowerState)
    assert (followed.replica.epoch, followed.replica.leader_id) == (6, 3)
    assert followed.replica.log.end == OffsetAndEpoch(0, 0), "the answer was to a question of an older epoch"
    assert followed.sent().to.id == 3


def test_a_later_epoch_without_a_leader_is_believed() -> None:
    followed = Followed()
    followed.answer(response(leader=-1, epoch=6, code=e.NOT_LEADER_OR_FOLLOWER))
    assert isinstance(followed.replica.state, UnattachedState)
    assert followed.replica.epoch == 6


def test_a_later_epoch_that_names_us_as_the_leader_is_only_an_epoch() -> None:
    followed = Followed()
    followed.answer(response(leader=1, epoch=6))
    assert isinstance(followed.replica.state, UnattachedState)
    assert (followed.replica.epoch, followed.replica.leader_id) == (6, None)


@pytest.mark.parametrize("epoch", [3, 0, -1, 2**31 - 1])
def test_an_epoch_that_is_over_or_cannot_be_changes_nothing(epoch: int) -> None:
    followed = Followed()
    before = shown(followed.replica)
    followed.answer(response(batch(0, b"a", epoch=1), leader=3, epoch=epoch, code=e.FENCED_LEADER_EPOCH))
    assert shown(followed.replica) == before


def test_another_leader_in_the_same_epoch_is_not_believed() -> None:
    followed = Followed()
    before = shown(followed.replica)
    followed.answer(response(leader=3, epoch=4, code=e.NOT_LEADER_OR_FOLLOWER))
    assert shown(followed.replica) == before


def test_59_cluster_authorization_failed_is_the_end() -> None:
    followed = Followed()
    followed.answer(response(top=e.CLUSTER_AUTHORIZATION_FAILED))
    assert isinstance(followed.replica.failure, ClusterAuthorizationFailed)
    followed.tick(10_000)
    assert followed.replica.take_outgoing() == []


@pytest.mark.parametrize(
    "top", [e.BROKER_NOT_AVAILABLE, e.INVALID_REQUEST, e.INCONSISTENT_CLUSTER_ID, e.UNKNOWN_SERVER_ERROR]
)
def test_other_errors_of_a_fetch_response_are_retried_later(top: int) -> None:
    followed = Followed()
    before = shown(followed.replica)
    followed.answer(response(top=top))
    assert shown(followed.replica) == before
    followed.tick(20)
    assert followed.fetched() == (0, 0, 4)


def test_an_answer_of_another_topic_is_none() -> None:
    followed = Followed()
    followed.answer(response(batch(0, b"a"), topic_id=Uuid.ZERO))
    assert followed.replica.log.end_offset == 0


def test_fetch_response_after_a_state_change_is_dropped() -> None:
    followed = Followed()
    send = followed.sent()
    followed.tick(followed.fetch_timeout)
    assert isinstance(followed.replica.state, ProspectiveState)
    followed.replica.answered(send.token, response(batch(0, b"a"), high_watermark=1), followed.now)
    assert followed.replica.log.end_offset == 0
    followed.replica.answered(send.token, response(batch(0, b"a"), high_watermark=1), followed.now)
    followed.replica.answered(123456, response(batch(0, b"a"), high_watermark=1), followed.now)
    assert followed.replica.log.end_offset == 0


def test_next_request_to_a_peer_follows_the_request_timeout() -> None:
    followed = Followed()
    first = followed.sent()
    followed.tick(500)
    assert followed.replica.take_outgoing() == []
    assert first.version == 18
    assert first.lowest == 13


def test_while_the_leader_cannot_be_reached_others_are_queried() -> None:
    followed = Followed(bootstrap=[endpoint(7), endpoint(8)])
    send = followed.sent()
    followed.replica.answered(send.token, RequestFailure.LOST, followed.now)
    (requested,) = followed.replica.take_outgoing()
    assert requested.to.endpoint in (endpoint(7), endpoint(8))
    followed.replica.answered(requested.token, response(leader=3, epoch=5, code=e.FENCED_LEADER_EPOCH), followed.now)
    assert followed.replica.leader_id == 3


def test_a_leader_that_did_not_answer_is_queried_again() -> None:
    followed = Followed(id=9, bootstrap=[endpoint(7)])  # an observer, for ever
    first = followed.sent()
    requested = []
    for _ in range(5000):
        followed.tick(10)
        requested += [send.to.endpoint for send in followed.replica.take_outgoing()]
    assert requested.count(endpoint(7)) >= 1
    assert requested.count(first.to.endpoint) >= 1, "it may be the only one that has the endpoint"
    assert {endpoint(7), *(endpoint(voter.id) for voter in followed.replica.voters)} == set(requested), (
        "the named voters may all have left the quorum"
    )


def test_a_replica_does_not_query_itself_for_the_leader() -> None:
    observer = member(id=9, voters=(), bootstrap=[endpoint(9), endpoint(2)])
    requested = set()
    for step in range(20):
        observer.replica.tick(START + 100 * step)
        for send in observer.replica.take_outgoing():
            requested.add(send.to.endpoint)
            observer.replica.answered(send.token, None, START + 100 * step)
    assert requested == {endpoint(2)}


def test_a_replica_without_a_leader_finds_it_at_the_bootstrap_servers() -> None:
    observer = member(id=9, voters=(), bootstrap=[endpoint(2)])
    observer.replica.tick(START)
    (send,) = observer.replica.take_outgoing()
    assert (send.to.endpoint, send.body.api_key) == (endpoint(2), 1)
    observer.replica.answered(send.token, response(leader=2, epoch=7, code=e.FENCED_LEADER_EPOCH), START)
    assert (observer.replica.leader_id, observer.replica.epoch) == (2, 7)
    assert observer.replica.take_outgoing()[0].to.endpoint == endpoint(2)


def test_a_leader_without_an_endpoint_after_a_restart_is_followed_when_the_endpoint_is_known() -> None:
    store = MemoryQuorumStateStore(ElectionState(7, leader_id=2))
    observer = member(id=9, voters=(), bootstrap=[endpoint(2)], store=store)
    assert (observer.replica.leader_id, observer.replica.endpoint_of_leader()) == (2, None)
    observer.replica.tick(START)
    (send,) = observer.replica.take_outgoing()
    observer.replica.answered(send.token, response(leader=2, epoch=7), START)
    assert isinstance(observer.replica.state, FollowerState)
    assert observer.replica.take_outgoing()[0].to.endpoint == endpoint(2)


def test_a_leader_without_an_endpoint_is_not_followed() -> None:
    observer = member(id=9, voters=(), bootstrap=[endpoint(2)])
    observer.replica.tick(START)
    (send,) = observer.replica.take_outgoing()
    answer = response(leader=2, epoch=7, code=e.FENCED_LEADER_EPOCH, endpoints=False)
    observer.replica.answered(send.token, answer, START)
    assert isinstance(observer.replica.state, UnattachedState)
    assert observer.replica.epoch == 7
    assert observer.replica.failure is None


def test_a_brokers_observer_gets_every_record_and_never_votes_or_leads() -> None:
    quorum = Quorum()
    broker = quorum.add(9, can_vote=False)
    leader = quorum.elect()
    quorum.write(b"one")
    quorum.kill(leader.key.id)
    quorum.elect()
    quorum.write(b"two")
    quorum.run(3000)
    assert broker.listener.values == [b"one", b"two"]
    assert isinstance(broker.replica.state, FollowerState)
    assert not [body for one, _, body in quorum.sent if one == 9 and body.api_key == ApiKeys.VOTE]


def test_waiting_costs_no_busy_loop() -> None:
    quorum = Quorum()
    quorum.elect()
    ticks = 0

    def count() -> bool:
        nonlocal ticks
        ticks += 1
        return False

    quorum.run(10_000, until=count)
    assert ticks < 400


def test_response_of_another_api_is_dropped() -> None:
    """An answer of another kind than was asked for is no answer."""
    wrong: list[Message] = [sole_vote(), response()]
    for each in wrong:
        followed = Followed()
        followed.tick(followed.fetch_timeout)
        assert isinstance(followed.replica.state, ProspectiveState | CandidateState)
        for send in followed.replica.take_outgoing():
            followed.replica.answered(send.token, each, followed.now)
        assert followed.replica.failure is None


def sole_vote() -> Message:
    response = ask(member(), vote())
    assert sole(response).vote_granted
    assert isinstance(response, Message)
    return response


def test_a_follower_becomes_no_leader_by_answers_alone() -> None:
    followed = Followed()
    for _ in range(5):
        followed.answer(response())
    assert not isinstance(followed.replica.state, LeaderState)
