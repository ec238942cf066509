"""Faulty variants of the quorum that the simulation must detect: each breaks one rule of the core,
and none may survive.

A row has a name for the broken rule, the function that is replaced, its replacement, and the
scenarios that detect it. A mutation that no seed of the dose detects is a hole in the simulation.

    python -m tests.simulation.mutations        the number of seeds that each takes
"""

from __future__ import annotations

from kafkadouble.server.log import replica as log_replica
from kafkadouble.server.raft import (
    end_quorum_epoch,
    follower_actions,
    leader_actions,
    leader_discovery,
    prospective_state,
    reconfiguration,
    transitions,
    unattached_state,
    voter_change_end,
)
from kafkadouble.server.raft import kafka_raft_client as raft_replica
from kafkadouble.server.raft.epoch_election import EpochElection
from kafkadouble.server.raft.follower_state import FollowerState
from kafkadouble.server.raft.leader_state import LeaderState
from kafkadouble.server.raft.listener_context import ListenerContext
from kafkadouble.server.raft.quorum_state_file import FileQuorumStateStore
from kafkadouble.server.raft.raft_log import VALID, RaftLog
from kafkadouble.server.raft.snapshots import cleaner, download, fetch_snapshot_response, fetch_snapshot_sender
from kafkadouble.server.raft.snapshots.file_store import FileRawSnapshotWriter
from kafkadouble.server.raft.voter_history import VoterHistory

from . import breaches
from .mutating import Mutation, Mutations
from .run import run

_ANY = ("anything", "all_fail", "leaders_fail_one_after_another", "bad_network")
_CONTESTED = ("elections_are_contested",)
_SNAPSHOTS = ("absent_replica_takes_a_snapshot", "newcomers_take_a_snapshot", "absent_replica_takes_a_snapshot")

# "changes two voters at a time" breaks two checks: that no change is in progress, and that the last
# one is committed. Either is enough for the promises of the simulation; `tests/mutations` breaks
# each alone.
MUTATIONS: dict[str, Mutation] = {
    "votes twice": Mutation(
        "one vote in an epoch",
        (
            (unattached_state, "can_grant_vote", breaches.grants_again),
            (prospective_state, "can_grant_vote", breaches.grants_again),
        ),
        _CONTESTED,
    ),
    "votes for a shorter log": Mutation(
        "a candidate's log is at least as long as the voter's",
        (
            (unattached_state, "can_grant_vote", breaches.grants_to_short),
            (prospective_state, "can_grant_vote", breaches.grants_to_short),
        ),
        _ANY,
        begins_with=7,
    ),
    "counts refusals": Mutation(
        "a majority has granted", ((EpochElection, "record", breaches.all_granted),), _ANY, begins_with=7
    ),
    "forgets its vote": Mutation(
        "a vote outlives a restart", ((FileQuorumStateStore, "save", breaches.save_no_vote),), _ANY
    ),
    "keeps no epoch": Mutation("an epoch is on disk first", ((transitions, "_persist", breaches.nothing),), _ANY),
    "starts as if new": Mutation(
        "a former leader or candidate of an epoch has no vote in it after a restart",
        ((raft_replica, "starting_state", breaches.starts_fresh),),
        _CONTESTED,
        begins_with=6,
    ),
    "commits with too few": Mutation(
        "a majority has it", ((LeaderState, "advance", breaches.advance_with_less),), _ANY
    ),
    "commits old epochs by counting": Mutation(
        "an entry of the leader's own epoch is committed first",
        ((LeaderState, "advance", breaches.advance_by_counting),),
        _ANY,
        begins_with=34,
    ),
    "counts itself before it has flushed": Mutation(
        "the leader's log counts as far as it is durable", ((leader_actions, "append", breaches.append_counted),), _ANY
    ),
    "never flushes": Mutation("a replica that fetches on has flushed", ((RaftLog, "flush", breaches.nothing),), _ANY),
    "trusts what it finds": Mutation(
        "records found on disk are flushed before they are reported",
        ((RaftLog, "_start", breaches.start_unflushed),),
        ("processes_die_while_they_write",),
    ),
    "finds no divergence": Mutation("a leader compares histories", ((RaftLog, "validate", lambda *_: VALID),), _ANY),
    "cuts by the offset alone": Mutation(
        "a follower cuts what is of other epochs",
        ((RaftLog, "truncate_to_end_of", breaches.cut_by_offset),),
        ("leaders_write_alone",),
        begins_with=20,
    ),
    "takes its end for committed": Mutation(
        "a follower's high watermark is the leader's", ((follower_actions, "_append", breaches.commit_all),), _ANY
    ),
    "leads on when deserted": Mutation(
        "a leader without a majority resigns",
        ((leader_actions, "_needs_quorum_check", breaches.never),),
        ("leader_is_cut_off",),
    ),
    "is asked although it has a leader": Mutation(
        "a follower of the leader denies a pre-vote",
        ((FollowerState, "would_grant", lambda s, c, up_to_date, pre_vote: pre_vote and up_to_date),),
        ("minority_comes_and_goes",),
        begins_with=2,
    ),
    "stands without asking": Mutation(
        "an epoch is raised only with a majority's consent",
        ((transitions, "to_prospective", transitions.to_candidate),),
        ("minority_comes_and_goes",),
    ),
    "resigns in silence": Mutation(
        "the successor is notified", ((end_quorum_epoch, "poll", breaches.notify_no_voter),), ("leader_resigns",)
    ),
    "takes damaged records": Mutation(
        "a batch is checked before it is appended",
        ((log_replica, "check_crc", breaches.nothing),),
        ("bad_network", "anything"),
        begins_with=20,
    ),
    "counts voters that are gone": Mutation(
        "the voters are those of the log", ((LeaderState, "set_voters", breaches.keep_voters),), ("come_and_go",)
    ),
    "changes two voters at a time": Mutation(
        "one change is committed before the next",
        (
            (reconfiguration, "_check_committed", breaches.nothing),
            (reconfiguration, "_check_no_pending_change", breaches.nothing),
        ),
        ("come_and_go",),
    ),
    "leads on when removed": Mutation(
        "a leader that is no voter goes",
        ((voter_change_end, "committed", breaches.stays),),
        ("come_and_go",),
        begins_with=16,
    ),
    "counts its own vote twice": Mutation(
        "a vote is counted once", ((EpochElection, "is_won", property(breaches.counts_itself_twice)),), _ANY
    ),
    "leads before it knows what was committed": Mutation(
        "a record of its own epoch is committed before a leader acts",
        ((ListenerContext, "_fire_became_leader", breaches.announces_early),),
        _ANY,
    ),
    "gives nothing where a batch is larger than what is asked for": Mutation(
        "a fetch is given one batch at least (KIP-1219)", ((RaftLog, "read", breaches.read_less),), _ANY, begins_with=4
    ),
    "offers no snapshot": Mutation(
        "a follower behind the log start is offered a snapshot",
        ((RaftLog, "_is_before", breaches.never),),
        _SNAPSHOTS,
    ),
    "takes what comes for a snapshot": Mutation(
        "a snapshot that was fetched is looked through before it is there",
        ((download, "verify", breaches.nothing),),
        _SNAPSHOTS,
        begins_with=8,
    ),
    "goes by the length of the log alone": Mutation(
        "a snapshot of a later epoch is ahead of any log of an older one",
        ((RaftLog, "lacks", breaches.is_shorter),),
        ("leaders_write_alone_and_forget",),
    ),
    "writes the voters of the day into a snapshot": Mutation(
        "the voters of a snapshot are those of its end",
        ((VoterHistory, "voters_at", breaches.voters_in_force),),
        ("come_and_go",),
    ),
    "goes by voters that were cut off": Mutation(
        "with a truncation the older voters are back",
        ((VoterHistory, "truncate", breaches.nothing),),
        ("are_changed_alone",),
    ),
    "goes on with its own voters after a snapshot": Mutation(
        "a snapshot has the voters",
        ((VoterHistory, "restart", breaches.restart_without_voters),),
        ("come_and_go",),
        begins_with=11,
    ),
    "names a snapshot before it is flushed": Mutation(
        "what has a snapshot's name outlives the power",
        ((FileRawSnapshotWriter, "freeze", breaches.unflushed),),
        ("anything", *_SNAPSHOTS),
    ),
    "forgets more than its snapshot has": Mutation(
        "the log begins where a snapshot ends", ((cleaner, "_begin_at", breaches.moves_too_far),), _SNAPSHOTS
    ),
    "forgets every snapshot": Mutation(
        "the newest snapshot stays",
        ((cleaner, "forget_old", breaches.deletes_all), (fetch_snapshot_sender, "forget_old", breaches.deletes_all)),
        _SNAPSHOTS,
    ),
    "goes on with its own log after a snapshot": Mutation(
        "the log of a replica that has taken a snapshot begins there",
        ((RaftLog, "start_from_snapshot", breaches.stays_where_it_is),),
        _SNAPSHOTS,
    ),
    "does not load what it has taken": Mutation(
        "the listener gets a snapshot before later records",
        ((ListenerContext, "_fire_snapshot", breaches.nothing),),
        _SNAPSHOTS,
    ),
    "gives more of a snapshot than it may": Mutation(
        "an answer has no more bytes than MaxBytes and the setting of the node allow",
        ((fetch_snapshot_response, "_answer", breaches.answers_without_bound),),
        ("snapshots_are_read_from_outside",),
    ),
    "does not say that it moved": Mutation(
        "a leader that moved writes its new endpoint",
        ((leader_actions, "_first_records", breaches.first_records_of_old),),
        ("move_away",),
    ),
    "does not hear of later epochs": Mutation(
        "a later epoch in an answer is believed", ((leader_discovery, "accept_leader", breaches.nothing),), _ANY
    ),
}

ALL = Mutations(run, 100, MUTATIONS)


if __name__ == "__main__":
    ALL.main()
