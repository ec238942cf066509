"""Ways in which the quorum could be wrong, and the simulation must tell: each breaks one rule of the core, and none may survive.

A row has the name of the rule's breach, what is put in the place of what, and the scenarios in which it shows. A mutation that no seed of the
dose notices is a hole in the simulation.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from kafkadouble.server.log import replica as log_replica
from kafkadouble.server.log.offset_and_epoch import OffsetAndEpoch
from kafkadouble.server.raft import (
    following,
    leading,
    learning,
    prospective,
    reconfiguration,
    transitions,
    unattached,
)
from kafkadouble.server.raft import replica as raft_replica
from kafkadouble.server.raft.ballot import Ballot
from kafkadouble.server.raft.follower import Follower
from kafkadouble.server.raft.leader import Leader
from kafkadouble.server.raft.quorum_state import ElectionState
from kafkadouble.server.raft.quorum_state_file import FileStore
from kafkadouble.server.raft.raft_log import VALID, RaftLog
from kafkadouble.server.raft.unattached import Unattached

from .run import Outcome, run

Put = tuple[Any, str, Any]
"""In the place of an attribute of a module or a class."""

_record, _starting, _append, _follow = Ballot.record, transitions.starting_state, leading.append, following._append
_save, _set_voters, _committed = FileStore.save, Leader.set_voters, reconfiguration.committed
_start, _grants, _poll_resigned = RaftLog._start, unattached.grants_freely, leading.poll_resigned


def _grants_again(voted: Any, leader_id: Any, candidate: Any, up_to_date: bool, pre_vote: bool) -> bool:
    return up_to_date and (pre_vote or leader_id is None)


def _grants_to_short(voted: Any, leader_id: Any, candidate: Any, up_to_date: bool, pre_vote: bool) -> bool:
    return _grants(voted, leader_id, candidate, True, pre_vote)


def _advance_with_less(leader: Leader) -> bool:
    ends = sorted((voter.end_offset for voter in leader.voters.values()), reverse=True)
    return _moved(leader, ends[max(0, len(ends) // 2 - 1)], leader.epoch_start)


def _advance_by_counting(leader: Leader) -> bool:
    ends = sorted((voter.end_offset for voter in leader.voters.values()), reverse=True)
    return _moved(leader, ends[len(ends) // 2], -1)


def _moved(leader: Leader, offset: int, above: int) -> bool:
    if offset <= above or (leader.high_watermark is not None and offset <= leader.high_watermark):
        return False
    leader.high_watermark = offset
    return True


def _append_counted(replica: Any, leader: Leader, values: Any) -> Any:
    placed = _append(replica, leader, values)
    if replica.key.id in leader.voters:
        leader.voters[replica.key.id].end_offset = replica.log.end_offset
    return placed


def _cut_by_offset(log: RaftLog, end: OffsetAndEpoch) -> int:
    offset = min(end.offset, log.end_offset)
    log.log.truncate_to(offset)
    log.history.truncate(offset)
    return offset


def _commit_all(replica: Any, state: Follower, partition: Any) -> bool:
    done = _follow(replica, state, partition)
    replica.log.commit(replica.log.end_offset)
    return done


def _starts_fresh(replica: Any, election: ElectionState) -> Any:
    state = _starting(replica, election)
    return Unattached(state.epoch, replica.now + transitions.election_timeout(replica))


def _save_no_vote(store: FileStore, state: ElectionState, ids: Any, version: int) -> None:
    _save(store, ElectionState(state.epoch, state.leader_id), ids, version)


def _all_granted(ballot: Ballot, voter_id: int, granted: bool) -> None:
    _record(ballot, voter_id, True)


def _keep_voters(leader: Leader, voters: Any) -> None:
    before = dict(leader.voters)
    _set_voters(leader, voters)
    leader.voters |= {id: each for id, each in before.items() if id not in leader.voters}


def _tell_nobody(replica: Any, resigned: Any) -> Any:
    resigned.unaware.clear()
    return _poll_resigned(replica, resigned)


def _stays(replica: Any, leader: Leader) -> None:
    _committed(replica, leader)
    leader.resigning = False


def _start_unflushed(log: RaftLog) -> None:
    storage, log._storage = log._storage, None
    _start(log)
    log._storage = storage


def _nothing(*_: Any, **__: Any) -> None:
    return None


def _never(*_: Any) -> bool:
    return False


class Mutation(NamedTuple):
    """`shows_in`: the scenarios that are played, seed after seed, until one of them tells."""

    breaks: str
    puts: tuple[Put, ...]
    shows_in: tuple[str, ...]


_ANY = ("anything", "all_fail", "leaders_fail_one_after_another", "bad_network")
_CONTESTED = ("elections_are_contested",)

MUTATIONS: dict[str, Mutation] = {
    "votes twice": Mutation(
        "one vote in an epoch",
        ((unattached, "grants_freely", _grants_again), (prospective, "grants_freely", _grants_again)),
        _ANY,
    ),
    "votes for a shorter log": Mutation(
        "a candidate's log is at least as long as the voter's",
        ((unattached, "grants_freely", _grants_to_short), (prospective, "grants_freely", _grants_to_short)),
        _ANY,
    ),
    "counts refusals": Mutation("a majority has granted", ((Ballot, "record", _all_granted),), _ANY),
    "forgets its vote": Mutation("a vote outlives a restart", ((FileStore, "save", _save_no_vote),), _ANY),
    "keeps no epoch": Mutation("an epoch is on disk first", ((transitions, "_keep", _nothing),), _ANY),
    "starts as if new": Mutation(
        "who led or stood in an epoch has no vote in it after a restart",
        ((raft_replica, "starting_state", _starts_fresh),),
        _CONTESTED,
    ),
    "commits with too few": Mutation("a majority has it", ((Leader, "advance", _advance_with_less),), _ANY),
    "commits old epochs by counting": Mutation(
        "an entry of the leader's own epoch is committed first", ((Leader, "advance", _advance_by_counting),), _ANY
    ),
    "counts itself before it has flushed": Mutation(
        "the leader's log counts as far as it is durable", ((leading, "append", _append_counted),), _ANY
    ),
    "never flushes": Mutation("who fetches on has flushed", ((RaftLog, "flush", _nothing),), _ANY),
    "trusts what it finds": Mutation(
        "what is found on disk is flushed before it is told of",
        ((RaftLog, "_start", _start_unflushed),),
        ("processes_die_while_they_write",),
    ),
    "finds no divergence": Mutation("a leader compares histories", ((RaftLog, "validate", lambda *_: VALID),), _ANY),
    "cuts by the offset alone": Mutation(
        "a follower cuts what is of other epochs",
        ((RaftLog, "truncate_to_end_of", _cut_by_offset),),
        ("leaders_write_alone",),
    ),
    "takes its end for committed": Mutation(
        "a follower's high watermark is the leader's", ((following, "_append", _commit_all),), _ANY
    ),
    "leads on when deserted": Mutation(
        "a leader without a majority resigns", ((leading, "_can_be_deserted", _never),), ("leader_is_cut_off",)
    ),
    "is asked although it has a leader": Mutation(
        "who has heard of the leader denies a pre-vote",
        ((Follower, "would_grant", lambda s, c, up_to_date, pre_vote: pre_vote and up_to_date),),
        ("minority_comes_and_goes",),
    ),
    "stands without asking": Mutation(
        "an epoch is raised only with a majority's consent",
        ((transitions, "to_prospective", transitions.to_candidate),),
        ("minority_comes_and_goes",),
    ),
    "resigns in silence": Mutation(
        "the successor is told", ((leading, "poll_resigned", _tell_nobody),), ("leader_resigns",)
    ),
    "takes damaged records": Mutation(
        "a batch is checked before it is appended", ((log_replica, "check_crc", _nothing),), ("bad_network", "anything")
    ),
    "counts voters that are gone": Mutation(
        "the voters are those of the log", ((Leader, "set_voters", _keep_voters),), ("come_and_go",)
    ),
    "changes two voters at a time": Mutation(
        "one change is committed before the next",
        ((reconfiguration, "_check_committed", _nothing), (reconfiguration, "_check_free", _nothing)),
        ("come_and_go",),
    ),
    "leads on when removed": Mutation(
        "a leader that is no voter goes", ((reconfiguration, "committed", _stays),), ("come_and_go",)
    ),
    "does not hear of later epochs": Mutation(
        "a later epoch in an answer is believed", ((learning, "believe", _nothing),), _ANY
    ),
}


@contextmanager
def mutated(mutation: Mutation) -> Iterator[None]:
    """The core with this rule broken, for as long as that lasts."""
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in mutation.puts]
    try:
        for owner, name, instead in mutation.puts:
            setattr(owner, name, instead)
        yield
    finally:
        for owner, name, original in before:
            setattr(owner, name, original)


def first_to_tell(mutation: Mutation, seeds: int) -> Outcome | None:
    """The first outcome that says that a promise is broken; None when none of so many seeds does."""
    with mutated(mutation):
        for seed in range(seeds):
            outcome = run(seed, scenario=mutation.shows_in[seed % len(mutation.shows_in)])
            if outcome.broken:
                return outcome
    return None
