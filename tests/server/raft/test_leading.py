"""What a leader counts: the end of each replica, what is committed, and if it may still lead."""

import pytest

from kafkadouble.messages import error_codes as e
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft.kafka_raft_client import KafkaRaftClient
from kafkadouble.server.raft.leader_state import MAX_OBSERVERS, OBSERVER_SESSION_MS, LeaderState
from kafkadouble.server.raft.replica_key import ReplicaKey
from tests.server.raft.asking import ask, code, fetch, key, sole
from tests.server.raft.quorum import START, Quorum, elected, static_voters


def led() -> tuple[Quorum, KafkaRaftClient]:
    """A leader of three whose followers are silent from now on."""
    quorum, leader = elected()
    quorum.run(600)
    quorum.isolate(leader.key.id)
    return quorum, leader


def others(leader: KafkaRaftClient) -> list[int]:
    return [id for id in (1, 2, 3) if id != leader.key.id]


def state_of(leader: KafkaRaftClient) -> LeaderState:
    assert isinstance(leader.state, LeaderState)
    return leader.state


def test_49_a_leader_that_a_majority_does_not_fetch_from_resigns() -> None:
    quorum, leader = led()
    since = quorum.now
    assert quorum.run(10_000, until=lambda: not isinstance(leader.state, LeaderState))
    assert 2400 <= quorum.now - since <= 3000


def test_49_one_of_two_followers_is_enough() -> None:
    quorum, leader = elected()
    quorum.kill(others(leader)[0])
    quorum.run(20_000)
    assert quorum.leader is leader
    assert leader.epoch == 1


def test_49_a_sole_voter_leads_alone() -> None:
    quorum = Quorum([1])
    quorum.run(60_000)
    assert isinstance(quorum[1].state, LeaderState)
    assert quorum[1].epoch == 1


def test_49_observers_do_not_count() -> None:
    quorum, leader = led()
    for _ in range(40):
        quorum.run(100)
        if isinstance(leader.state, LeaderState):
            end = leader.log.end
            ask(quorum.members[leader.key.id], fetch(99, end.offset, end.epoch, epoch=leader.epoch), now=quorum.now)
    assert not isinstance(leader.state, LeaderState)


def leader_of(ids: tuple[int, ...], epoch_start: int = 10) -> LeaderState:
    state = LeaderState(ReplicaKey(ids[0]), 3, epoch_start, {}, 0)
    state.set_voters(static_voters(ids))
    return state


def test_50_nothing_is_committed_before_an_entry_of_the_own_epoch_is() -> None:
    leader = leader_of((1, 2, 3))
    leader.fetched(key(1), 11, 11, 1)
    leader.fetched(key(2), 10, 11, 1)
    assert not leader.advance()
    assert leader.high_watermark is None
    leader.fetched(key(2), 11, 11, 1)
    assert leader.advance()
    assert leader.high_watermark == 11


def test_50_a_follower_that_fetches_from_further_back_takes_nothing_back() -> None:
    leader = leader_of((1, 2, 3))
    for end in (15, 20):
        leader.fetched(key(1), end, end, 1)
        leader.fetched(key(2), end, end, 1)
        assert leader.advance()
    leader.fetched(key(2), 12, 20, 2)
    assert not leader.advance()
    assert leader.high_watermark == 20


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ((20,), 20),
        ((20, 15), 15),
        ((20, 15, 12), 15),
        ((20, 15, 12, 11), 12),
        ((20, 15, 14, 12, 11), 14),
        ((20, 20, -1), 20),
        ((20, -1, -1), None),
    ],
)
def test_50_the_high_watermark_is_what_a_majority_has(ends: tuple[int, ...], expected: int | None) -> None:
    ids = tuple(range(1, len(ends) + 1))
    leader = leader_of(ids)
    for id, offset in zip(ids, ends, strict=True):
        if offset >= 0:
            leader.fetched(key(id), offset, 20, 1)
    leader.advance()
    assert leader.high_watermark == expected


def test_50_what_older_leaders_wrote_is_committed_with_the_first_entry_of_this_epoch() -> None:
    quorum = Quorum()
    first = quorum.elect()
    quorum.run(600)
    quorum.isolate(first.key.id)
    first.append([b"lost?"], quorum.now)
    quorum.heal()
    quorum.kill(others(first)[0])
    assert quorum.run(3000, until=lambda: quorum.listener(others(first)[1]).values == [b"lost?"])
    quorum.kill(first.key.id)
    quorum.restart(others(first)[0])
    second = quorum.elect()
    assert second.key.id == others(first)[1]
    quorum.run(3000)
    assert quorum.listener(others(first)[0]).values == [b"lost?"]


def test_a_diverging_answer_does_not_move_the_leaders_picture_of_that_follower() -> None:
    quorum, leader = led()
    id = others(leader)[0]
    before = state_of(leader).voters[id].end_offset
    answer = sole(ask(quorum.members[leader.key.id], fetch(id, 500, leader.epoch, epoch=leader.epoch), now=quorum.now))
    assert answer.diverging_epoch is not None
    assert state_of(leader).voters[id].end_offset == before


def test_records_are_appended_after_the_linger() -> None:
    quorum, leader = elected(append_linger_ms=25)
    quorum.run(600)
    leader.append([b"one"], quorum.now)
    leader.append([b"two"], quorum.now)
    assert state_of(leader).flush_at == quorum.now + 25
    own = state_of(leader).voters[leader.key.id]
    before = own.end_offset
    quorum.run(24)
    assert own.end_offset == before
    quorum.run(1)
    assert own.end_offset == leader.log.end_offset
    quorum.run(600)
    assert quorum.listener(leader.key.id).values == [b"one", b"two"]


def test_each_append_is_one_batch() -> None:
    quorum = Quorum([1])
    quorum.run(1)
    replica = quorum[1]
    assert replica.append([b"a", b"b", b"c"], quorum.now) == OffsetAndEpoch(3, 1)
    assert len(list(replica.log.log.batches(0))) == 2


def test_observers_are_forgotten_after_five_minutes_and_never_too_many() -> None:
    leader = leader_of((1, 2, 3))
    leader.fetched(key(50), 3, 20, START)
    leader.fetched(key(51), 3, 20, START + OBSERVER_SESSION_MS - 1)
    assert len(leader.observers) == 2
    leader.fetched(key(51), 3, 20, START + OBSERVER_SESSION_MS)
    assert list(leader.observers) == [key(51)]
    for number in range(2 * MAX_OBSERVERS):
        leader.fetched(ReplicaKey(1000 + number), 3, 20, START + OBSERVER_SESSION_MS + number)
    assert len(leader.observers) == MAX_OBSERVERS
    assert ReplicaKey(999 + 2 * MAX_OBSERVERS) in leader.observers


def test_a_namesake_in_another_directory_is_an_observer() -> None:
    quorum, leader = elected(dynamic=True)
    quorum.run(600)
    id = others(leader)[0]
    end = leader.log.end
    before = state_of(leader).voters[id].last_fetch
    quorum.isolate(leader.key.id)
    quorum.run(10)
    body = fetch(id, end.offset, end.epoch, epoch=leader.epoch, directory_id=key(id, 5).directory_id)
    assert code(ask(quorum.members[leader.key.id], body, now=quorum.now)) == e.NONE
    assert state_of(leader).voters[id].last_fetch == before
    assert list(state_of(leader).observers) == [key(id, 5)]


def test_the_listener_hears_of_the_leadership_after_all_that_was_committed_before() -> None:
    quorum = Quorum()
    first = quorum.elect()
    quorum.write(b"one")
    quorum.kill(first.key.id)
    second = quorum.elect()
    listener = quorum.listener(second.key.id)
    assert listener.events == [("leader", second.epoch)]
    assert listener.values == [b"one"]
    assert listener.offsets == list(range(second.log.high_watermark))


def test_49_a_fetch_that_diverges_is_no_sign_of_a_follower() -> None:
    quorum, leader = led()
    id = others(leader)[0]
    before = state_of(leader).check_at
    quorum.run(10)
    member, epoch, end = quorum.members[leader.key.id], leader.epoch, leader.log.end
    ask(member, fetch(id, 500, epoch, epoch=epoch), now=quorum.now)
    assert state_of(leader).check_at == before
    ask(member, fetch(id, end.offset, end.epoch, epoch=epoch), now=quorum.now)
    assert state_of(leader).check_at == quorum.now + 3000
