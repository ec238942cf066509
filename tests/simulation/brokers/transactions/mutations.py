"""Faulty variants of transactions that the simulation must detect, in rows like those of
`tests.simulation.brokers.mutations`.

    python -m tests.simulation.brokers.transactions.mutations
"""

from __future__ import annotations

from kafkadouble.server.coordinator.coordinator_shard import CoordinatorShard
from kafkadouble.server.groups.offset_metadata_manager import OffsetMetadataManager
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.producer_state_manager import ProducerStateManager
from kafkadouble.server.log.producers import Producers
from kafkadouble.server.log.transactions import Transactions
from kafkadouble.server.transactions import (
    add_partitions,
    end_transaction,
    transaction_coordinator_shard,
    transaction_metadata,
    transactional_produce,
)
from kafkadouble.server.transactions.transaction_coordinator_shard import TransactionCoordinatorShard
from kafkadouble.server.transactions.transaction_marker_channel_manager import TransactionMarkerChannelManager

from ...mutating import Mutation, Mutations
from .. import breaches as of_replication
from ..run import run
from . import breaches

_CALM, _DIE, _LATE = ("transactions",), ("coordinators_die",), ("markers_come_late",)
_LEADERS, _RESTART = ("leaders_of_transactions_die",), ("transactions_restart",)

MUTATIONS: dict[str, Mutation] = {
    "last stable offset passes open transactions": Mutation(
        "the last stable offset is below the first open transaction (KIP-98)",
        ((PartitionLog, "last_stable_offset", breaches.high_watermark),),
        _CALM,
    ),
    "a marker ends nothing": Mutation(
        "a marker ends the transaction of its producer (KIP-98)",
        ((Producers, "record_marker", breaches.leaves_it_open),),
        _CALM,
        begins_with=1,
    ),
    "readers get no list of aborted transactions": Mutation(
        "a read_committed fetch lists the aborted transactions (KIP-98)",
        ((PartitionLog, "aborted_in", breaches.none_aborted),),
        _CALM,
    ),
    "aborted transactions are forgotten at a restart": Mutation(
        "a log that is opened finds its aborted transactions in its index (KIP-98)",
        ((Transactions, "list_again", of_replication.nothing),),
        _RESTART,
    ),
    "open transactions are forgotten at a truncation or restart": Mutation(
        "the snapshot of producers restores their open transactions (KIP-98)",
        ((ProducerStateManager, "restore", of_replication.nothing),),
        _RESTART,
        begins_with=4,
    ),
    "followers learn no transactions": Mutation(
        "a follower that is elected knows the open transactions (KIP-98)",
        ((PartitionLog, "append_as_follower", of_replication.takes_without_producers),),
        _LEADERS,
    ),
    "an end is answered before it is decided": Mutation(
        "EndTxn is answered when PrepareCommit is committed (KIP-98)",
        ((TransactionCoordinatorShard, "_append_durably", breaches.answers_before_it_is_committed),),
        _DIE,
        begins_with=8,
    ),
    "markers are written on the coordinator's broker only": Mutation(
        "every partition of a transaction gets its marker (KIP-98)",
        ((TransactionMarkerChannelManager, "_add", breaches.marks_its_own),),
        _CALM,
    ),
    "a marker that failed is not sent again": Mutation(
        "markers are sent until they are written (KIP-98)",
        ((TransactionMarkerChannelManager, "_delay", of_replication.nothing),),
        _LEADERS,
        begins_with=6,
    ),
    "a new coordinator leaves what is decided": Mutation(
        "a coordinator that loads a decided transaction sends its markers (KIP-98)",
        ((TransactionCoordinatorShard, "on_loaded", breaches.sends_no_markers_again),),
        _LATE,
    ),
    "an old epoch ends a transaction": Mutation(
        "EndTxn of a fenced producer is refused (KIP-98, KIP-890)",
        (
            (end_transaction, "_is_epoch_v1", of_replication.always),
            (end_transaction, "_is_epoch_v2", of_replication.always),
        ),
        _CALM,
    ),
    # The log, its verification and the coordinator each refuse an old epoch.
    "an old epoch produces": Mutation(
        "batches of a fenced producer are refused (KIP-98, KIP-360)",
        (
            (Producers, "check", breaches.takes_any_epoch),
            (Producers, "verify", breaches.verifies_any_epoch),
            (Producers, "check_verified", of_replication.nothing),
            (add_partitions, "_check_producer", of_replication.nothing),
        ),
        _CALM,
    ),
    "a late batch begins a transaction": Mutation(
        "a batch of transactions version 1 is verified with the coordinator (KIP-890)",
        ((transactional_produce, "is_verified", breaches.verifies_version_2_only),),
        _CALM,
        begins_with=3,
    ),
    # The table of states would refuse the step, too.
    "a new producer leaves the open transaction": Mutation(
        "InitProducerId aborts the open transaction first (KIP-98)",
        (
            (transaction_coordinator_shard, "init_producer_id", breaches.forgets_what_is_open),
            (transaction_metadata, "VALID_PREVIOUS_STATES", breaches.EMPTY_AFTER_ANY),
        ),
        _CALM,
        begins_with=11,
    ),
    "offsets are visible before the marker": Mutation(
        "the offsets of a transaction count when it is committed (KIP-447)",
        ((CoordinatorShard, "write_transactional", breaches.shows_offsets_at_once),),
        _CALM,
    ),
    "the offsets of a committed transaction are dropped": Mutation(
        "the offsets of a transaction count when it is committed (KIP-447)",
        ((OffsetMetadataManager, "end_transaction", breaches.drops_offsets),),
        _CALM,
    ),
    "committed transactions are listed as aborted": Mutation(
        "a read_committed fetch lists the aborted transactions, and no others (KIP-98)",
        ((Transactions, "end", breaches.lists_every_end),),
        _CALM,
    ),
    "markers of an old coordinator are written": Mutation(
        "a leader refuses markers with an old coordinator epoch (KIP-98)",
        ((Producers, "check_marker", breaches.takes_any_coordinator),),
        _LATE,
    ),
}

ALL = Mutations(run, 40, MUTATIONS)


if __name__ == "__main__":
    ALL.main()
