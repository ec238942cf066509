"""Requests under way: one to each peer, given up on in time, and paused after a failure."""

from kafkadouble.messages.generated.vote import VoteRequest
from kafkadouble.server.raft.request_manager import MAX_CONNECTIONS, RaftPeer, RequestManager
from tests.server.raft.quorum import endpoint

PEER, OTHER = RaftPeer(1, endpoint(1)), RaftPeer(2, endpoint(2))


def links() -> RequestManager:
    return RequestManager(timeout=100, backoff=20)


def test_raft_link_has_one_request_in_flight_per_peer() -> None:
    found = links()
    assert found.is_ready(PEER, 0)
    send = found.begin(PEER, VoteRequest(), 2, 0, 0)
    assert not found.is_ready(PEER, 99)
    assert found.is_ready(OTHER, 0)
    assert found.busy_until([PEER, OTHER], 50) == 100
    assert found.end(send.token, 50, failed=False) == send
    assert found.is_ready(PEER, 50)
    assert found.busy_until([PEER, OTHER], 50) is None
    assert found.end(send.token, 50, failed=False) is None, "no request waits for it any more"


def test_after_a_failure_there_is_a_pause() -> None:
    found = links()
    send = found.begin(PEER, VoteRequest(), 2, 0, 0)
    found.end(send.token, 10, failed=True)
    assert not found.is_ready(PEER, 29)
    assert found.is_paused(PEER, 29)
    assert found.is_ready(PEER, 30)
    assert not found.is_paused(PEER, 30)
    found.pause(PEER, 40)
    assert found.ready_at(PEER, 40) == 60


def test_late_response_has_no_request() -> None:
    found = links()
    late = found.begin(PEER, VoteRequest(), 2, 0, 0)
    assert found.is_ready(PEER, 100)
    assert found.is_paused(PEER, 100), "it does not answer"
    assert found.is_paused(PEER, 119)
    assert not found.is_paused(PEER, 120), "or no request would ever go to it again"
    again = found.begin(PEER, VoteRequest(), 2, 0, 100)
    assert found.end(late.token, 110, failed=False) is None
    assert found.end(again.token, 110, failed=False) == again


def test_reset_of_connections_forgets_their_requests() -> None:
    found = links()
    send = found.begin(PEER, VoteRequest(), 2, 0, 0)
    found.reset()
    assert found.is_ready(PEER, 0)
    assert found.end(send.token, 0, failed=False) is None


def test_connections_of_peers_are_bounded() -> None:
    found = links()
    for id in range(5 * MAX_CONNECTIONS):
        send = found.begin(RaftPeer(id, endpoint(id)), VoteRequest(), 2, 0, id)
        found.end(send.token, id, failed=False)
    assert len(found._links) <= MAX_CONNECTIONS + 1
    assert len(found._by_token) == 0
