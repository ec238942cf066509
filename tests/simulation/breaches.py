"""The functions that the mutations put in place of the core's own: each breaks a rule, which
`mutations` names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft import (
    control_records,
    end_quorum_epoch,
    follower_actions,
    leader_actions,
    transitions,
    unattached_state,
    voter_change_end,
)
from kafkadouble.server.raft.control_records import Control
from kafkadouble.server.raft.epoch_election import EpochElection
from kafkadouble.server.raft.follower_state import FollowerState
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.listener_context import ListenerContext
from kafkadouble.server.raft.quorum_state import ElectionState
from kafkadouble.server.raft.quorum_state_file import FileQuorumStateStore
from kafkadouble.server.raft.raft_log import RaftLog
from kafkadouble.server.raft.snapshots import fetch_snapshot_response
from kafkadouble.server.raft.snapshots.file_store import FileRawSnapshotWriter
from kafkadouble.server.raft.unattached_state import UnattachedState
from kafkadouble.server.raft.voter_history import VoterHistory

_record, _starting, _append, _follow = (
    EpochElection.record,
    transitions.starting_state,
    leader_actions.append,
    follower_actions._append,
)
_save, _set_voters, _committed = FileQuorumStateStore.save, LeaderState.set_voters, voter_change_end.committed
_start, _grants, _poll_resigned = RaftLog._start, unattached_state.can_grant_vote, end_quorum_epoch.poll


def grants_again(voted: Any, leader_id: Any, candidate: Any, up_to_date: bool, pre_vote: bool) -> bool:
    return up_to_date and (pre_vote or leader_id is None)


def grants_to_short(voted: Any, leader_id: Any, candidate: Any, up_to_date: bool, pre_vote: bool) -> bool:
    return _grants(voted, leader_id, candidate, True, pre_vote)


def advance_with_less(leader: LeaderState) -> bool:
    ends = sorted((voter.end_offset for voter in leader.voters.values()), reverse=True)
    return moved(leader, ends[max(0, len(ends) // 2 - 1)], leader.epoch_start)


def advance_by_counting(leader: LeaderState) -> bool:
    ends = sorted((voter.end_offset for voter in leader.voters.values()), reverse=True)
    return moved(leader, ends[len(ends) // 2], -1)


def moved(leader: LeaderState, offset: int, above: int) -> bool:
    if offset <= above or (leader.high_watermark is not None and offset <= leader.high_watermark):
        return False
    leader.high_watermark = offset
    return True


def append_counted(replica: Any, leader: LeaderState, values: Any) -> Any:
    placed = _append(replica, leader, values)
    if replica.key.id in leader.voters:
        leader.voters[replica.key.id].end_offset = replica.log.end_offset
    return placed


def cut_by_offset(log: RaftLog, end: OffsetAndEpoch) -> int:
    offset = min(end.offset, log.end_offset)
    log.log.truncate_to(offset)
    log.history.truncate(offset)
    return offset


def commit_all(replica: Any, state: FollowerState, partition: Any) -> bool:
    done = _follow(replica, state, partition)
    replica.log.commit(replica.log.end_offset)
    return done


def starts_fresh(replica: Any, election: ElectionState) -> Any:
    state = _starting(replica, election)
    return UnattachedState(state.epoch, replica.now + transitions.election_timeout(replica))


def save_no_vote(store: FileQuorumStateStore, state: ElectionState, ids: Any, version: int) -> None:
    _save(store, ElectionState(state.epoch, state.leader_id), ids, version)


def all_granted(epoch_election: EpochElection, voter_id: int, granted: bool) -> None:
    _record(epoch_election, voter_id, True)


def keep_voters(leader: LeaderState, voters: Any) -> None:
    before = dict(leader.voters)
    _set_voters(leader, voters)
    leader.voters |= {id: each for id, each in before.items() if id not in leader.voters}


def notify_no_voter(replica: Any, resigned: Any) -> Any:
    resigned.unaware.clear()
    return _poll_resigned(replica, resigned)


def stays(replica: Any, leader: LeaderState) -> None:
    _committed(replica, leader)
    leader.resigning = False


def start_unflushed(log: RaftLog) -> None:
    storage, log._storage = log._storage, None
    _start(log)
    log._storage = storage


def nothing(*_: Any, **__: Any) -> None:
    return None


def never(*_: Any) -> bool:
    return False


def counts_itself_twice(epoch_election: EpochElection) -> bool:
    return sum(epoch_election._answers.values()) + 1 >= epoch_election._voters.majority


def read_less(log: RaftLog, offset: int, max_bytes: int, *_: Any, **__: Any) -> Any:
    return log.log.read(offset, max_bytes, log.end_offset, at_least_one=False)


def is_shorter(log: RaftLog, id: OffsetAndEpoch) -> bool:
    return id.offset > log.end_offset


def voters_in_force(history: VoterHistory, end: int) -> Any:
    return history.voters


_freeze, _restart = FileRawSnapshotWriter.freeze, VoterHistory.restart


def unflushed(part: FileRawSnapshotWriter) -> None:
    with patched(part._open, "flush", nothing):
        _freeze(part)


def moves_too_far(log: Any, id: OffsetAndEpoch) -> None:
    log.move_start(OffsetAndEpoch(log.high_watermark, id.epoch))


def stays_where_it_is(log: RaftLog, id: OffsetAndEpoch) -> bool:
    return True


def deletes_all(log: Any, store: Any, now: int) -> None:
    for id in store.ids():
        store.delete(id, now)


def announces_early(context: ListenerContext, state: object) -> None:
    if isinstance(state, LeaderState) and not state.is_announced:
        state.is_announced, context._led = True, state.epoch
        context._listener.became_leader(state.epoch)


def first_records_of_old(replica: Any, granting: Any) -> list[Control]:
    found = [control_records.leader_change(replica.key, replica.voters, granting)]
    if replica.kraft_version > 0:
        found += [control_records.kraft_version(replica.kraft_version), control_records.voters(replica.voters)]
    return found


def restart_without_voters(history: VoterHistory, end: int, voters: Any, kraft_version: int) -> None:
    _restart(history, end, history.voters if len(history.voters) else voters, kraft_version)


_answer = fetch_snapshot_response._answer


def answers_without_bound(topic: Any, seat: Any, store: Any, most: int) -> Any:
    return _answer(topic, seat, store, 1 << 20)


@contextmanager
def patched(owner: Any, name: str, instead: Any) -> Iterator[None]:
    """Replaces this attribute of an object while the context lasts."""
    setattr(owner, name, instead)
    try:
        yield
    finally:
        delattr(owner, name)
