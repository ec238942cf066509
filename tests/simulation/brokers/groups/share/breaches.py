"""Faulty variants of parts of share groups, for the mutations: each breaks one rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.groups.share.state_partition_metadata import InitMapValue, uninitialized_partitions
from kafkadouble.server.metadata.image import Image
from kafkadouble.server.share.in_flight_records import InFlightRecords
from kafkadouble.server.share.in_flight_state import InFlightState
from kafkadouble.server.share.persister import PersisterStateBatch, SharePartitionKey
from kafkadouble.server.share.record_state import ACQUIRED, ARCHIVED, AVAILABLE
from kafkadouble.server.share.share_coordinator_shard import ShareCoordinatorShard
from kafkadouble.server.share.share_partition import Changed, SharePartition

_try_update, _make, _write = InFlightState.try_update, InFlightRecords.__init__, SharePartition._write
_write_state = ShareCoordinatorShard.write_state


def is_acquirable_when_acquired(state: InFlightState) -> bool:
    """Another member may acquire what a member has."""
    return state.state in (AVAILABLE, ACQUIRED) and state.transition is None


def is_acquirable_while_written(state: InFlightState) -> bool:
    """A released record is delivered before its release is written."""
    return state.state is AVAILABLE


def updates_without_limit(state: InFlightState, after: Any, delivery_limit: int, **given: Any) -> bool:
    return _try_update(state, after, 2**31, **given)


def acquires_without_count(state: InFlightState, member_id: str, lock_deadline: int) -> None:
    _try_update(state, ACQUIRED, 0, has_dlq=False, member_id=member_id)
    state.lock_deadline = lock_deadline


def is_written_at_once(partition: SharePartition, batches: Sequence[PersisterStateBatch], then: Changed) -> None:
    """Answers before the share coordinator has stored the change."""
    _write(partition, batches, lambda error: None)
    then(None)


def is_committed_at_once(shard: ShareCoordinatorShard, action: Any, timeout_ms: int | None = None) -> None:
    action(0)


def begins_with_nothing(
    in_flight: InFlightRecords, start_offset: int, batches: Iterable[PersisterStateBatch] = ()
) -> None:
    """A new leader knows only the start offset."""
    _make(in_flight, start_offset)


def begins_without_gaps(
    in_flight: InFlightRecords, start_offset: int, batches: Iterable[PersisterStateBatch] = ()
) -> None:
    """A new leader forgets that records between others were never delivered."""
    _make(in_flight, start_offset, batches)
    in_flight.gap_window = None


def clears_behind(in_flight: InFlightRecords, next_offset: int) -> None:
    """The share partition goes on before the records that are done."""
    in_flight._batches.clear()
    in_flight._order.clear()
    in_flight.start_offset = in_flight.end_offset = max(0, next_offset - 2)


def only_whole_topics(metadata: Any, *given: Any) -> dict[Uuid, InitMapValue]:
    """Partitions that are added to a topic get no state."""
    found = uninitialized_partitions(metadata, *given)
    return {id: value for id, value in found.items() if id not in metadata.initialized}


def initializes_again_at_once(
    metadata: Any, names: Iterable[str], image: Image, now: int, retry_ms: int
) -> dict[Uuid, InitMapValue]:
    return uninitialized_partitions(metadata, names, image, now, 0)


def stores_half_of_the_start_offset(
    shard: ShareCoordinatorShard, key: SharePartitionKey, state_epoch: int, leader_epoch: int, start: int, *given: Any
) -> None:
    """Every fifth write takes the start offset back."""
    if shard.states[key].update_count == 4:
        shard.states[key].offset = shard.states[key].offset._replace(start_offset=0)
        start //= 2
    _write_state(shard, key, state_epoch, leader_epoch, start, *given)


REJECTED_IS_RELEASED = {0: ARCHIVED, 1: 2, 2: AVAILABLE, 3: AVAILABLE}
