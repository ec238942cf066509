"""Faulty variants of the core, each with one rule broken: the lives must detect each of them.

python -m tests.simulation.lives.mutations        the seeds each takes, and how many detect it
"""

from __future__ import annotations

from kafkadouble.server import node as node_module
from kafkadouble.server.controller import periodic_tasks
from kafkadouble.server.log.files import recovery
from kafkadouble.server.logs.files import FileLogs
from kafkadouble.server.raft.raft_log import RaftLog
from kafkadouble.server.raft.snapshots import cleaner
from kafkadouble.server.raft.snapshots.file_store import FileSnapshotStore
from kafkadouble.server.replica import log_cleaner, scheduled_tasks

from ..mutating import Mutation, Mutations
from . import breaches
from .run import run

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
    ),
    "keeps the checkpoints of what is removed": Mutation(
        "no checkpoint speaks of a partition that is not there",
        ((FileLogs, "tick", breaches.removes_without_a_checkpoint),),
        ("topics_come_and_go",),
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
}

ALL = Mutations(run, 20, MUTATIONS)


if __name__ == "__main__":
    ALL.main()
