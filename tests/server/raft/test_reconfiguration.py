"""A quorum that changes: KIP-853's voters, KIP-1186's joining of its own accord, and the `kraft.version` that allows it."""

from typing import Any

import pytest

from kafkadouble.messages import error_codes as e
from kafkadouble.messages.generated.add_raft_voter import AddRaftVoterRequest
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafkadouble.messages.generated.remove_raft_voter import RemoveRaftVoterRequest
from kafkadouble.messages.generated.update_raft_voter import UpdateRaftVoterRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.raft import reconfiguration
from kafkadouble.server.raft.follower import Follower
from kafkadouble.server.raft.leader import Leader
from kafkadouble.server.raft.links import Failure
from kafkadouble.server.raft.reconfiguration import ChangeRefused
from kafkadouble.server.raft.replica import Replica
from kafkadouble.server.raft.voters import VoterSet
from tests.server.raft.asking import begin, key, member, part
from tests.server.raft.quorum import (
    CLUSTER,
    KRAFT_VERSION,
    KRAFT_VOTERS,
    LISTENER,
    START,
    Member,
    Quorum,
    control_kinds,
    directory,
    endpoint,
)


def add(
    id: int = 4,
    *,
    life: int = 0,
    directory_id: Uuid | None = None,
    listener: str = LISTENER,
    cluster: str | None = CLUSTER,
    committed: bool = True,
) -> AddRaftVoterRequest:
    of, at = AddRaftVoterRequest, endpoint(id & 0x7F)
    return of(
        cluster_id=cluster,
        timeout_ms=1000,
        voter_id=id,
        voter_directory_id=directory(id & 0x7F, life) if directory_id is None else directory_id,
        listeners=[of.Listener(name=listener, host=at.host, port=at.port)],
        ack_when_committed=committed,
    )


def remove(id: int, *, life: int = 0, cluster: str | None = CLUSTER) -> RemoveRaftVoterRequest:
    return RemoveRaftVoterRequest(
        cluster_id=cluster, voter_id=id, voter_directory_id=directory(id & 0x7F, life) if life >= 0 else Uuid.ZERO
    )


def update(
    id: int,
    epoch: int,
    *,
    life: int = 0,
    cluster: str | None = CLUSTER,
    listener: str = LISTENER,
    kraft: tuple[int, int] = (0, 1),
    port: int = 1,
) -> UpdateRaftVoterRequest:
    of = UpdateRaftVoterRequest
    return of(
        cluster_id=cluster,
        current_leader_epoch=epoch,
        voter_id=id,
        voter_directory_id=directory(id & 0x7F, life) if life >= 0 else Uuid.ZERO,
        listeners=[of.Listener(name=listener, host="moved", port=port)],
        kraft_version_feature=of.KRaftVersionFeature(min_supported_version=kraft[0], max_supported_version=kraft[1]),
    )


class Changing:
    """Three voters in the log, one of them leading; observers may be added."""

    def __init__(self, ids: tuple[int, ...] = (1, 2, 3), *, dynamic: bool = True, **changed: Any) -> None:
        self.quorum = Quorum(ids, dynamic=dynamic, **changed)
        self.leader: Replica = self.quorum.elect()
        self.id = self.leader.key.id
        self.quorum.run(600)

    def ask(self, body: Any, version: int | None = None) -> list[Any]:
        found = self.quorum.members[self.id].ask(
            body, body.versions[1] if version is None else version, self.quorum.now
        )
        self.quorum.tick()
        return found

    def now(self, body: Any) -> Any:
        """The answer, which must be there at once."""
        (found,) = self.ask(body)
        return found

    def done(self, body: Any, ms: int = 3000) -> Any:
        """The answer, which may take a while."""
        found = self.ask(body)
        self.quorum.run(ms, until=lambda: bool(found))
        return found[0]

    def observer(self, id: int = 4, **how: Any) -> Member:
        found = self.quorum.add(id, **how)
        self.quorum.run(1000)
        return found

    @property
    def state(self) -> Leader:
        assert isinstance(self.leader.state, Leader)
        return self.leader.state

    @property
    def others(self) -> list[int]:
        return [id for id in self.leader.voters.ids if id != self.id]


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
    assert joining.heard.values == [b"with three of four"]


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


def known(low: int, high: int, code: int = 0) -> ApiVersionsResponse:
    of = ApiVersionsResponse
    feature = of.SupportedFeatureKey(name="kraft.version", min_version=low, max_version=high)
    return of(error_code=code, supported_features=[feature] if high else [])


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (known(0, 0), e.INVALID_REQUEST),
        (known(2, 3), e.INVALID_REQUEST),
        (known(0, 1, code=35), e.REQUEST_TIMED_OUT),
        (None, e.REQUEST_TIMED_OUT),
        (Failure.LOST, e.REQUEST_TIMED_OUT),
        (Failure.NOT_AUTHENTICATED, e.REQUEST_TIMED_OUT),
    ],
)
def test_57_a_voter_that_cannot_say_what_it_knows_or_knows_too_little(response: Any, code: int) -> None:
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
    found = changing.ask(add())
    for send in changing.leader.take_outgoing():
        assert isinstance(send.body, ApiVersionsRequest), "and nobody ever answers it"
    changing.quorum.run(1990)
    assert found == []
    changing.quorum.run(20)
    assert found[0].error_code == e.REQUEST_TIMED_OUT
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
def test_57_what_is_no_change_is_refused_and_nothing_changes(body: Any, code: int) -> None:
    changing = Changing()
    before, end = changing.leader.voters, changing.leader.log.end
    answer = changing.now(body)
    assert answer.error_code == code
    assert answer.error_message
    assert changing.leader.voters is before
    assert changing.leader.log.end == end
    assert changing.state.change is None


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


def test_57_one_change_at_a_time() -> None:
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
    found = changing.ask(remove(changing.others[0]))
    assert found == []
    changing.quorum.run(2010)
    assert found[0].error_code == e.REQUEST_TIMED_OUT
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
    found = changing.ask(remove(changing.others[0]))
    changing.quorum.members[changing.id].ask(begin(changing.others[0], 99, voter=changing.id), 1, changing.quorum.now)
    changing.quorum.run(1)
    assert found[0].error_code == e.NOT_LEADER_OR_FOLLOWER


def test_57_a_voter_is_removed() -> None:
    changing = Changing()
    gone = changing.others[0]
    assert changing.done(remove(gone)).error_code == 0
    changing.quorum.run(2000)
    assert gone not in changing.leader.voters
    assert isinstance(changing.quorum[gone].state, Follower)
    assert not changing.quorum[gone].is_voter
    changing.quorum.kill(gone)
    changing.quorum.write(b"two of two")
    assert changing.quorum.heard(changing.id).values == [b"two of two"]


def test_57_a_leader_that_is_removed_leads_until_that_is_committed() -> None:
    changing = Changing()
    quorum, old = changing.quorum, changing.leader
    found = changing.ask(remove(changing.id))
    assert part(old) is Leader
    quorum.run(3000, until=lambda: bool(found))
    assert found[0].error_code == 0
    assert part(old) is not Leader
    new = quorum.elect()
    assert new is not old
    assert len(new.voters) == 2
    quorum.write(b"without it")
    quorum.run(5000)
    assert part(old) is Follower
    assert quorum.heard(changing.id).values == [b"without it"], "it goes on as an observer"


def test_57_the_last_voter_stays() -> None:
    changing = Changing((1,))
    assert changing.now(remove(1)).error_code == e.VOTER_NOT_FOUND
    assert isinstance(changing.leader.state, Leader)


def test_57_from_one_voter_to_three_and_back() -> None:
    changing = Changing((1,))
    for id in (2, 3):
        changing.observer(id)
        assert changing.done(add(id)).error_code == 0
    changing.quorum.write(b"three")
    assert [changing.quorum.heard(id).values for id in (1, 2, 3)] == [[b"three"]] * 3
    for id in (2, 3):
        assert changing.done(remove(id)).error_code == 0
        changing.quorum.kill(id)
    changing.quorum.write(b"one")
    assert changing.quorum.heard(1).values == [b"three", b"one"]
    changing.quorum.run(20_000)
    assert isinstance(changing.leader.state, Leader)


def test_a_voter_can_be_added_without_waiting_for_the_commit() -> None:
    changing = Changing((1,))
    changing.observer(2)
    found = changing.ask(add(2, committed=False))
    changing.quorum.isolate(1)
    for send in changing.leader.take_outgoing():
        if isinstance(send.body, ApiVersionsRequest):
            changing.leader.answered(send.token, known(0, 1), changing.quorum.now)
    changing.quorum.members[1].driver.run(changing.quorum.now)
    assert [each.error_code for each in found] == [0]
    assert changing.leader.log.high_watermark < changing.leader.log.end_offset
    assert changing.now(remove(2)).error_code == e.REQUEST_TIMED_OUT, "the change is still under way"


def test_57_a_voter_says_where_it_has_moved() -> None:
    changing = Changing()
    mover = changing.others[0]
    assert changing.now(update(mover, changing.leader.epoch)).error_code == 0
    voter = changing.leader.voters.get(mover)
    assert voter is not None
    assert voter.endpoints[LISTENER].host == "moved"


@pytest.mark.parametrize(
    ("how", "code"),
    [
        ({"cluster": "other"}, e.INCONSISTENT_CLUSTER_ID),
        ({"life": 3}, e.VOTER_NOT_FOUND),
        ({"life": -1}, e.INVALID_REQUEST),
        ({"listener": "OTHER"}, e.INVALID_REQUEST),
        ({"kraft": (0, 0)}, e.INVALID_REQUEST),
        ({"kraft": (2, 1)}, e.INVALID_REQUEST),
        ({"kraft": (-1, 1)}, e.INVALID_REQUEST),
        ({"epoch": 0}, e.FENCED_LEADER_EPOCH),
        ({"epoch": 99}, e.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_57_an_update_that_is_none(how: dict[str, Any], code: int) -> None:
    changing = Changing()
    before = changing.leader.voters
    answer = changing.now(update(changing.others[0], **{"epoch": changing.leader.epoch, **how}))
    assert answer.error_code == code
    assert (answer.current_leader.leader_id, answer.current_leader.leader_epoch) == (changing.id, changing.leader.epoch)
    assert changing.leader.voters is before


def test_57_an_update_under_kraft_version_0_is_only_kept_in_mind() -> None:
    changing = Changing(dynamic=False)
    end = changing.leader.log.end
    mover = changing.others[0]
    assert changing.now(update(mover, changing.leader.epoch)).error_code == 0
    assert changing.now(update(9, changing.leader.epoch)).error_code == e.VOTER_NOT_FOUND
    assert changing.leader.log.end == end
    assert changing.state.told[mover].endpoints[LISTENER].host == "moved"


def test_a_follower_that_moved_tells_its_leader_within_three_fetch_timeouts() -> None:
    changing = Changing()
    mover = changing.others[0]
    changing.quorum[mover].endpoints["EXTRA"] = endpoint(77)
    changing.quorum.run(7000)
    voter = changing.leader.voters.get(mover)
    assert voter is not None
    assert set(voter.endpoints) == {LISTENER, "EXTRA"}
    changing.quorum.sent.clear()
    changing.quorum.run(20_000)
    assert not [body for _, _, body in changing.quorum.sent if isinstance(body, UpdateRaftVoterRequest)]


def test_kraft_version_is_raised_when_every_voter_has_said_that_it_knows_it() -> None:
    changing = Changing(dynamic=False)
    with pytest.raises(ChangeRefused):
        reconfiguration.upgrade(changing.leader, 1)
    changing.quorum.run(7000)
    assert reconfiguration.upgrade(changing.leader, 1)
    assert not reconfiguration.upgrade(changing.leader, 1)
    changing.quorum.tick()
    changing.quorum.run(1000)
    for id in (1, 2, 3):
        assert changing.quorum[id].kraft_version == 1
        assert [voter.key for voter in changing.quorum[id].voters] == [key(1), key(2), key(3)]
    with pytest.raises(ChangeRefused):
        reconfiguration.upgrade(changing.leader, 2)
    with pytest.raises(ChangeRefused):
        reconfiguration.upgrade(changing.leader, 0)
    changing.observer(4)
    assert changing.done(add()).error_code == 0


def test_58_a_controller_joins_of_its_own_accord() -> None:
    changing = Changing(auto_join=True)
    changing.observer(4)
    broker = changing.observer(5, can_vote=False)
    changing.quorum.run(20_000)
    assert set(changing.leader.voters.ids) == {1, 2, 3, 4}
    assert not broker.replica.is_voter


def test_58_a_controller_that_lost_its_disk_takes_its_own_place() -> None:
    changing = Changing(auto_join=True)
    lost = changing.others[0]
    changing.quorum.kill(lost)
    changing.quorum.run(1000)
    del changing.quorum.members[lost]
    changing.quorum.dead.discard(lost)
    changing.observer(lost, directory_id=directory(lost, 1))
    assert not changing.quorum[lost].is_voter
    changing.quorum.run(30_000)
    assert changing.quorum[lost].is_voter
    voter = changing.leader.voters.get(lost)
    assert voter is not None
    assert voter.key == key(lost, 1)


def test_58_without_the_setting_nobody_joins() -> None:
    changing = Changing()
    changing.observer(4)
    changing.quorum.run(20_000)
    assert set(changing.leader.voters.ids) == {1, 2, 3}


def test_a_change_that_was_cut_off_brings_the_old_voters_back() -> None:
    changing = Changing()
    quorum, old = changing.quorum, changing.leader
    quorum.isolate(changing.id)
    changing.ask(remove(changing.others[0]))
    assert len(old.voters) == 2
    quorum.run(10_000)
    new = quorum.leader
    assert new is not None
    assert new is not old
    quorum.heal()
    quorum.run(10_000)
    assert len(old.voters) == 3
    assert old.log.end == new.log.end


def test_a_new_replica_of_an_empty_voter_set_waits_for_a_leader() -> None:
    alone = member(voters=())
    assert alone.replica.voters == VoterSet()
    alone.replica.tick(START + 100_000)
    assert alone.replica.epoch == 0
