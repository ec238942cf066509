"""The functions that the mutations put in place of the core's own: each breaks one rule, and
nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from kafkadouble.messages import error_codes
from kafkadouble.server.controller import alter_partition
from kafkadouble.server.controller.leader_election import Election
from kafkadouble.server.log.divergence import VALID
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.log.producer_state_manager import ProducerStateManager
from kafkadouble.server.replica.appended_batch import AppendedBatch
from kafkadouble.server.replica.fetching import log_reader
from kafkadouble.server.replica.replica_manager import ReplicaManager
from kafkadouble.server.replica.replication.follower_partition import FollowerPartition
from kafkadouble.server.replica.replication.in_sync_replicas import InSyncReplicas
from kafkadouble.server.replica.replication.partition import Partition

_init_following, _fetch_partition, _append_as_leader = (
    FollowerPartition.__init__,
    FollowerPartition.fetch_partition,
    PartitionLog.append_as_leader,
)
_append_as_follower, _high_watermark, _follow = (
    PartitionLog.append_as_follower,
    InSyncReplicas.high_watermark,
    InSyncReplicas.apply_image,
)
_follow_image = ReplicaManager._follow


def nothing(*_: Any, **__: Any) -> None: ...


def never(*_: Any, **__: Any) -> bool:
    return False


def always(*_: Any, **__: Any) -> bool:
    return True


def cuts_to_high_watermark(self: FollowerPartition, *given: Any) -> None:
    """As before KIP-101: a new follower truncates every record that it does not know to be
    committed."""
    _init_following(self, *given)
    self.log.truncate_to(self.log.high_watermark)


def names_no_epoch(self: FollowerPartition, max_bytes: int) -> Any:
    asked = _fetch_partition(self, max_bytes)
    asked.last_fetched_epoch = -1
    return asked


def finds_no_divergence(*_: Any) -> Any:
    return VALID


def without(*codes: int) -> Any:
    """The controller's checks of a proposed in-sync set, without these."""
    return tuple(row for row in alter_partition.PROPOSAL_CHECKS if row[0] not in codes)


def stamps_first_epoch(self: PartitionLog, batch: Any, leader_epoch: int, *given: Any) -> Any:
    """Appends with the first epoch, whatever the current one is."""
    return _append_as_leader(self, batch, max(0, self.epochs.earliest.epoch), *given)


def commits_its_own(self: InSyncReplicas, leader_end: int, min_isr: int) -> int:
    return leader_end


def commits_with_the_first(self: InSyncReplicas, leader_end: int, min_isr: int) -> int:
    """Commits a record as soon as any other replica has it."""
    ends = sorted(remote.end_offset for id, remote in self.remotes.items() if id in self.isr)
    return min(leader_end, ends[-1]) if ends else leader_end


def commits_below_min_isr(self: InSyncReplicas, leader_end: int, min_isr: int) -> int:
    return _high_watermark(self, leader_end, 0)


def commits_without_joining_replicas(self: InSyncReplicas, leader_end: int, min_isr: int) -> int:
    """Ignores the proposed in-sync set, which the controller may already have accepted
    (KIP-497)."""
    proposed, self.proposed = self.proposed, None
    try:
        return _high_watermark(self, leader_end, min_isr)
    finally:
        self.proposed = proposed


def is_written(self: AppendedBatch) -> int:
    return error_codes.NONE


def leads_on(self: ReplicaManager, topic: Any, indexes: Any, image: Any) -> None:
    """A leader ignores the metadata that says that another broker leads."""
    others = [at for at in indexes if self.get(topic.name, at) is None or topic.partitions[at].leader == self._node.id]
    _follow_image(self, topic, others, image)


def goes_by_any_metadata(self: InSyncReplicas, partition: Any, now: int) -> None:
    """Follows also metadata that are older than the controller's last answer."""
    self.partition_epoch = -1
    _follow(self, partition, now)


def in_any_epoch(self: Partition, current_leader_epoch: int) -> int:
    return error_codes.KAFKA_STORAGE_ERROR if self.offline else error_codes.NONE


def comes_into_the_epoch(self: InSyncReplicas, id: int, high_watermark: int) -> bool:
    """Ignores what is committed."""
    return self.remotes[id].end_offset >= self.epoch_start


def reads_to_the_end(partition: Any, fetched: Any, params: Any, at_least_one: bool) -> Any:
    """Reads uncommitted records, too."""
    log = partition.log
    data = log_reader._data(partition, fetched.index, params)
    if params.replica_id >= 0:
        return _records(partition, fetched, params, at_least_one)
    data.records = log.read(fetched.fetch_offset, 1 << 16, log.log_end_offset).records
    return data


_records = log_reader._records


def lags_for_ever(self: Any, *_: Any) -> bool:
    return True


def elects_anybody(self: Any, topic: Any) -> Election:
    return Election.UNCLEAN


def takes_without_producers(self: PartitionLog, batches: Any, **given: Any) -> Any:
    """A follower appends batches without recording the state of their producers."""
    record = ProducerStateManager.record
    ProducerStateManager.record = nothing  # type: ignore[method-assign]  # for as long as it appends
    try:
        return _append_as_follower(self, batches, **given)
    finally:
        ProducerStateManager.record = record  # type: ignore[method-assign]


def keeps_its_epoch(self: Partition, leader_epoch: int) -> None:
    """A leader keeps the epoch in which it first began to lead."""


def goes_back(self: Partition) -> None:
    """Moves the high watermark to the offset that every replica has by now, whatever was committed
    before."""
    if self.in_sync is not None:
        ends = [self.log.log_end_offset, *(remote.end_offset for remote in self.in_sync.remotes.values())]
        self.log.high_watermark = max(0, min(ends))
        self.waiters.wake_all()


def has_a_broker(node: Any) -> bool:
    return "broker" in node.roles


@contextmanager
def patched(owner: Any, name: str, instead: Any) -> Iterator[None]:
    """Replaces this attribute while the context lasts."""
    before = getattr(owner, name)
    setattr(owner, name, instead)
    try:
        yield
    finally:
        setattr(owner, name, before)
