"""Faulty variants of replication that the simulation must detect: each breaks one rule of the core,
and none may survive.

A row has a name for the broken rule, the function that is replaced, its replacement, and the
scenarios that detect it. A mutation that no seed of the dose detects is a hole in the simulation.

    python -m tests.simulation.brokers.mutations        the seeds each takes, and how many detect it
"""

from __future__ import annotations

from kafkadouble.messages import error_codes
from kafkadouble.server.controller import alter_partition, broker_changes, periodic_tasks
from kafkadouble.server.controller.partition_changes import PartitionChanges
from kafkadouble.server.log.epochs import LeaderEpochCache
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.producer_state_manager import ProducerStateManager
from kafkadouble.server.log.producers import Producers
from kafkadouble.server.raft.request_manager import RequestManager
from kafkadouble.server.replica.appended_batch import AppendedBatch
from kafkadouble.server.replica.fetching import log_reader
from kafkadouble.server.replica.replica_manager import ReplicaManager
from kafkadouble.server.replica.replication.alter_partition_manager import AlterPartitionManager
from kafkadouble.server.replica.replication.follower_partition import FollowerPartition
from kafkadouble.server.replica.replication.in_sync_replicas import InSyncReplicas, RemoteReplica
from kafkadouble.server.replica.replication.partition import Partition
from kafkadouble.server.replica.replication.replica_fetcher import ReplicaFetcher

from ..mutating import Mutation, Mutations
from . import breaches
from .run import run

_APART = ("leaders_write_alone", "leader_is_cut_off", "leaders_write_alone_on_disks")
_CHANGE = ("in_sync_sets_change",)
_IN = ("followers_come_in",)
_OLD = (error_codes.FENCED_LEADER_EPOCH, error_codes.INVALID_UPDATE_VERSION, error_codes.INVALID_REQUEST)
_DIE = ("leaders_die", "follower_restarts_and_leads", "leader_dies_and_another_leads")

# Of two checks in a row, one is enough for the promises of the simulation, so a mutation must break
# both: the leader and the controller check the broker epoch of a replica; the controller checks the
# leader epoch and the partition epoch. `tests/mutations` breaks each alone. The same holds for the
# start of the epoch, below which no replica joins the in-sync set: what the simulated leaders know
# of the high watermark is enough for the promises.
MUTATIONS: dict[str, Mutation] = {
    "cuts by the high watermark": Mutation(
        "a follower cuts by the epochs of its leader (KIP-101)",
        ((FollowerPartition, "__init__", breaches.cuts_to_high_watermark),),
        ("follower_restarts_and_leads",),
        begins_with=4,
    ),
    "takes any in-sync set": Mutation(
        "a request with an old epoch of a partition is refused (KIP-497)",
        ((alter_partition, "PROPOSAL_CHECKS", breaches.without(*_OLD)),),
        _CHANGE,
        begins_with=9,
    ),
    "stamps no epoch": Mutation(
        "a leader stamps its epoch on what it appends (KIP-101)",
        ((PartitionLog, "append_as_leader", breaches.stamps_first_epoch),),
        _DIE,
    ),
    "keeps epochs that were cut": Mutation(
        "epochs are cut with the log (KIP-101)",
        ((LeaderEpochCache, "truncate_from_end", breaches.nothing),),
        _APART,
        begins_with=6,
    ),
    "commits what it has itself": Mutation(
        "the high watermark is at the end of the last in-sync replica",
        ((InSyncReplicas, "high_watermark", breaches.commits_its_own),),
        _DIE,
    ),
    "commits with the first that has it": Mutation(
        "the high watermark is at the end of the last in-sync replica",
        ((InSyncReplicas, "high_watermark", breaches.commits_with_the_first),),
        ("leader_dies_and_another_leads",),
    ),
    "commits below min.insync.replicas": Mutation(
        "the high watermark waits for min.insync.replicas (KIP-966)",
        ((InSyncReplicas, "high_watermark", breaches.commits_below_min_isr),),
        ("anything", "leader_is_cut_off", "followers_forget", "leaders_die"),
    ),
    "commits without joining replicas": Mutation(
        "the high watermark waits for replicas that may be in sync already (KIP-497)",
        ((InSyncReplicas, "high_watermark", breaches.commits_without_joining_replicas),),
        _IN,
        begins_with=7,
    ),
    "keeps what diverges": Mutation(
        "a follower cuts what its leader does not have", ((FollowerPartition, "truncate", breaches.nothing),), _APART
    ),
    "acknowledges before it is replicated": Mutation(
        "acks=all is answered when every in-sync replica has it",
        ((AppendedBatch, "outcome", breaches.is_written),),
        _DIE,
    ),
    "leads on when another was elected": Mutation(
        "a leader goes when the metadata say so",
        ((ReplicaManager, "_follow", breaches.leads_on),),
        ("leader_is_cut_off",),
    ),
    "goes by metadata that are older": Mutation(
        "what the controller has answered is not undone by older metadata (KIP-497)",
        ((InSyncReplicas, "apply_image", breaches.goes_by_any_metadata),),
        ("metadata_come_late",),
        begins_with=12,
    ),
    "ignores the last fetched epoch": Mutation(
        "a leader compares histories (KIP-595)", ((log_reader, "compare_with", breaches.finds_no_divergence),), _APART
    ),
    "does not say the last fetched epoch": Mutation(
        "a follower says the epoch of its last record (KIP-595)",
        ((FollowerPartition, "fetch_partition", breaches.names_no_epoch),),
        _APART,
    ),
    "keeps lagging replicas in sync": Mutation(
        "a follower that lags leaves the in-sync replicas",
        ((RemoteReplica, "is_in_sync", breaches.lags_for_ever),),
        ("follower_is_cut_off",),
    ),
    "elects a replica that was not in sync": Mutation(
        "an unclean election is held where it is allowed",
        ((PartitionChanges, "election", breaches.elects_anybody),),
        ("leaders_die", "anything"),
        begins_with=14,
    ),
    "learns no producers as a follower": Mutation(
        "a follower knows the producers of what it appends (KIP-98)",
        ((PartitionLog, "append_as_follower", breaches.takes_without_producers),),
        _DIE,
        begins_with=10,
    ),
    "knows producers of what was cut": Mutation(
        "what is known of producers is cut with the log (KIP-98)",
        ((ProducerStateManager, "rebuild", breaches.nothing),),
        ("leader_is_cut_off",),
        begins_with=22,
    ),
    "refuses a batch that comes again": Mutation(
        "a batch that comes again is acknowledged (KIP-98)", ((Producers, "duplicate_of", breaches.nothing),), _CHANGE
    ),
    "takes batches in any order": Mutation(
        "the batches of a producer are appended in their order, and once (KIP-98)",
        ((Producers, "check", breaches.nothing),),
        _CHANGE,
        begins_with=3,
    ),
    "admits a replica that lacks committed records": Mutation(
        "a replica that joins the in-sync replicas has every committed record",
        ((InSyncReplicas, "_may_join", breaches.comes_into_the_epoch),),
        _IN,
        begins_with=5,
    ),
    "admits a replica that fetched in another life": Mutation(
        "a replica joins the in-sync replicas in the life in which it fetched (KIP-903)",
        (
            (AlterPartitionManager, "_is_eligible", breaches.always),
            (alter_partition, "PROPOSAL_CHECKS", breaches.without(error_codes.INELIGIBLE_REPLICA)),
        ),
        ("followers_forget",),
        begins_with=11,
    ),
    "believes a replica after a loss of power": Mutation(
        "a broker that stopped in no good order is eligible nowhere (KIP-966)",
        ((broker_changes, "handle_unclean_broker_shutdown", broker_changes.handle_clean_broker_shutdown),),
        ("power_fails",),
        begins_with=7,
    ),
    "gives readers what is not committed": Mutation(
        "a consumer reads up to the high watermark", ((log_reader, "_records", breaches.reads_to_the_end),), _APART
    ),
    "leads on in its old epoch": Mutation(
        "a leader that is elected again leads in the new epoch",
        ((Partition, "lead", breaches.keeps_its_epoch),),
        ("anything", "replicas_move"),
        begins_with=7,
    ),
    "serves when fenced by epoch": Mutation(
        "a leader serves fetches of its own epoch only (KIP-320)",
        ((Partition, "check_epoch", breaches.in_any_epoch),),
        ("anything", "leader_is_cut_off", "replicas_move"),
        begins_with=5,
    ),
    "takes its high watermark back": Mutation(
        "the high watermark never goes back (KIP-207)", ((Partition, "advance", breaches.goes_back),), _DIE
    ),
    "tells ends that it does not know": Mutation(
        "a new leader tells no end before its high watermark has reached its epoch (KIP-207)",
        ((Partition, "lags_behind_epoch", False),),
        ("ends_are_asked_for",),
    ),
    "never fences the leader's own broker": Mutation(
        "the broker of a node that leads the quorum is a broker like every other (KIP-631)",
        ((periodic_tasks, "_sends_no_heartbeats", breaches.has_a_broker),),
        ("everything_restarts_combined",),
        begins_with=1,
    ),
    "fetches on before it has flushed": Mutation(
        "a follower has flushed what it fetches on from, where flush.messages asks for it",
        ((ReplicaFetcher, "flush", breaches.nothing),),
        ("power_fails_and_all_is_flushed",),
        begins_with=8,
    ),
    # Voters without a leader ask one another who leads; each refusal is followed by a pause.
    "repeats requests without a pause": Mutation(
        "a request that was refused is repeated after a pause (KIP-595)",
        ((RequestManager, "pause", breaches.nothing),),
        ("everything_restarts_combined",),
        begins_with=3,
    ),
}

ALL = Mutations(run, 80, MUTATIONS)


if __name__ == "__main__":
    ALL.main()
