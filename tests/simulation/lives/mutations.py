"""Faulty variants of the core, each with one rule broken: the lives must detect each of them.

python -m tests.simulation.lives.mutations        the seeds each takes, and how many detect it
"""

from __future__ import annotations

from kafkadouble.server import node as node_module
from kafkadouble.server.controller import periodic_tasks
from kafkadouble.server.log.files import recovery
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.producer_state_manager import ProducerStateManager
from kafkadouble.server.log.producers import Producers
from kafkadouble.server.log.transactions import Transactions
from kafkadouble.server.logs.files import FileLogs
from kafkadouble.server.raft.raft_log import RaftLog
from kafkadouble.server.raft.snapshots import cleaner
from kafkadouble.server.raft.snapshots.file_store import FileSnapshotStore
from kafkadouble.server.replica import log_cleaner, scheduled_tasks
from kafkadouble.server.transactions import add_partitions
from kafkadouble.server.transactions.transaction_coordinator_shard import TransactionCoordinatorShard

from ..brokers.transactions import breaches as of_transactions
from ..mutating import Mutation, Mutations
from . import breaches
from .run import run

_TRANSACTIONS = ("transactions_of_one",)

MUTATIONS: dict[str, Mutation] = {
    "compares batches below the log start with its epochs": Mutation(
        "a node starts on a metadata log that was trimmed (KIP-630)",
        ((recovery, "_wrong_epoch", breaches.compares_all_batches),),
        ("metadata_is_trimmed", "metadata_of_several_is_trimmed"),
    ),
    "keeps the segments before the start of the metadata log": Mutation(
        "what snapshots stand for is deleted from the metadata log (KIP-630)",
        ((RaftLog, "delete_old_segments", breaches.none_of_them),),
        ("single",),
    ),
    "retains only what it leads": Mutation(
        "retention deletes on every replica",
        ((scheduled_tasks, "all_replicas", breaches.only_what_it_leads),),
        ("replicas_are_cleaned",),
    ),
    "compacts only what it leads": Mutation(
        "compaction cleans every replica",
        ((log_cleaner, "all_replicas", breaches.only_what_it_leads),),
        ("replicas_are_cleaned",),
        begins_with=1,
    ),
    "seeds all lives alike": Mutation(
        "no life repeats an id of an earlier one",
        ((node_module, "seed_of_life", breaches.every_life_alike),),
        ("topics_come_and_go", "combined_nodes_restart"),
    ),
    "never fences the leader's own broker": Mutation(
        "the broker of a node that leads the quorum is a broker like every other (KIP-631)",
        ((periodic_tasks, "_sends_no_heartbeats", breaches.has_a_broker),),
        ("combined_nodes_restart",),
        begins_with=9,
    ),
    "keeps the checkpoints of what is removed": Mutation(
        "no checkpoint speaks of a partition that is not there",
        ((FileLogs, "tick", breaches.removes_without_a_checkpoint),),
        ("topics_come_and_go",),
        begins_with=6,
    ),
    "keeps the files of deleted snapshots": Mutation(
        "the room of what was deleted is given back",
        ((FileSnapshotStore, "tick", breaches.nothing),),
        ("single",),
    ),
    "keeps every snapshot": Mutation(
        "old snapshots go (KIP-630)",
        ((cleaner, "clean", breaches.nothing),),
        ("single",),
    ),
    "aborted transactions are forgotten": Mutation(
        "a log that is opened finds its aborted transactions in its index (KIP-98)",
        ((Transactions, "list_again", breaches.nothing),),
        _TRANSACTIONS,
    ),
    "open transactions are forgotten": Mutation(
        "the snapshot of producers restores their open transactions (KIP-98)",
        ((ProducerStateManager, "restore", breaches.nothing),),
        _TRANSACTIONS,
    ),
    "transactional ids are not loaded": Mutation(
        "a coordinator loads its transactional ids from __transaction_state (KIP-98)",
        ((TransactionCoordinatorShard, "replay", breaches.nothing),),
        _TRANSACTIONS,
    ),
    "a loaded coordinator sends no markers": Mutation(
        "a loaded coordinator sends the markers of what was decided again (KIP-98)",
        ((TransactionCoordinatorShard, "on_loaded", of_transactions.sends_no_markers_again),),
        _TRANSACTIONS,
    ),
    "last stable offset passes open transactions": Mutation(
        "the last stable offset is below the first open transaction (KIP-98)",
        ((PartitionLog, "last_stable_offset", of_transactions.high_watermark),),
        _TRANSACTIONS,
    ),
    # The log, its verification and the coordinator each refuse an old epoch.
    "an old epoch produces": Mutation(
        "batches of a fenced producer are refused (KIP-98, KIP-360)",
        (
            (Producers, "check", of_transactions.takes_any_epoch),
            (Producers, "verify", of_transactions.verifies_any_epoch),
            (Producers, "check_verified", breaches.nothing),
            (add_partitions, "_check_producer", breaches.nothing),
        ),
        _TRANSACTIONS,
    ),
}

ALL = Mutations(run, 20, MUTATIONS)


if __name__ == "__main__":
    ALL.main()
