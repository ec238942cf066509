"""Moves replicas of a broker between its log directories: AlterReplicaLogDirs (KIP-113, KIP-858).

    alter()      the future replica is created in the destination, empty
    a step       copies a part of the current log; one partition at a time, like the log cleaner
    caught up    the new directory is reported to the controller, as by AssignReplicasToDirs
    assigned     once the metadata have it, the future replica replaces the current one

Rules. Requests are served between two steps; records that are produced meanwhile are copied too.
`replica.alter.log.dirs.io.max.bytes.per.second` bounds the rate. Before a future replica replaces
the current one, as much of it is flushed. An election changes nothing. The deletion of the
partition ends its move, and so does the failure of one of the two directories. A node that starts
continues the moves of its earlier run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import WireError

from ..log.config import LogConfig
from ..log.files.errors import DiskFailure
from ..log.formats import names
from ..log.formats.errors import BadFile
from ..log.refusals import LogRefused
from ..logs.log_dir_description import LogDirDescription, cordoned_dirs
from ..metadata.image import Image
from ..metadata.log_dir_ids import directories_of
from ..metadata.record_versions import DIRECTORIES, level_of
from .partition_replicas import PartitionReplica, find_replica
from .replication.future_replica import FutureReplica
from .replication.partition import Partition
from .replication.replication_quotas import UNLIMITED
from .replication.sampled_rate import SampledRate

if TYPE_CHECKING:
    from .replication.part_hosts import LogDirMovesHost

log = ClientLog("kafkadouble.server.replica")

STEP_DELAY_MS = 1

RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
WINDOWS = "alter.log.dirs.replication.quota.window.num"
WINDOW_S = "alter.log.dirs.replication.quota.window.size.seconds"

PartitionKey = tuple[str, int]
"""Topic and partition."""


class ReplicaAlterLogDirsManager:
    """The moves between the log directories of one broker, by partition."""

    def __init__(self, node: LogDirMovesHost) -> None:
        self._node, settings = node, node.settings
        self.moves: dict[PartitionKey, FutureReplica] = {}
        self._is_scheduled = False
        self.rate = SampledRate(settings.int(WINDOWS), settings.int(WINDOW_S) * 1000)
        node.controller.listeners.append(self._image_changed)

    def alter(self, key: PartitionKey, path: str, dirs: Mapping[str, LogDirDescription]) -> int:
        """Begins to move a replica to the directory `path`, or ends its move; returns the error
        code. `dirs` are the directories by path. A replica that is not here yet will be created
        there."""
        if len(names.future_folder(*key, "0" * 32)) > names.LONGEST_NAME:
            return error_codes.INVALID_TOPIC_EXCEPTION
        if path not in dirs:
            return error_codes.LOG_DIR_NOT_FOUND
        if dirs[path].failed or self._node.logs.is_offline(*key):
            return error_codes.KAFKA_STORAGE_ERROR
        if path in cordoned_dirs(self._node.settings, dirs):
            return error_codes.INVALID_REPLICA_ASSIGNMENT
        move = self.moves.get(key)
        if move is not None and move.path != path:
            # The other move ends without a result.
            futures = self._node.logs.future_logs
            if futures is not None:
                futures.drop(move.key, self._node.now)
            self._give_up(move)
        replica = find_replica(self._node, *key)
        if replica is None:
            return self._prefer(key, path)
        if self._node.logs.path_of(*key) in (path, None) or key in self.moves:
            return error_codes.NONE
        # As in Kafka: a future replica may be in the directory that is offline.
        if any(each.failed for each in dirs.values()):
            return error_codes.KAFKA_STORAGE_ERROR
        return self._begin(replica, path)

    def _prefer(self, key: PartitionKey, path: str) -> int:
        """Remembers the directory for a replica that is not here."""
        topic = self._node.image.topic_named(key[0])
        self._node.logs.prefer(*key, path)
        known = topic is not None and key[1] in topic.partitions
        return error_codes.REPLICA_NOT_AVAILABLE if known else error_codes.UNKNOWN_TOPIC_OR_PARTITION

    def _begin(self, replica: PartitionReplica, path: str) -> int:
        node, current = self._node, replica.log
        try:
            future = node.logs.create_future(
                replica.topic, replica.topic_id, replica.index, path, current.config, node.now
            )
            if current.log_start_offset:
                future.log.truncate_fully_and_start_at(current.log_start_offset)
        except DiskFailure:  # the node reports it
            return error_codes.KAFKA_STORAGE_ERROR
        future.log.cleaned_to = current.cleaned_to
        self._add(FutureReplica(future, self._schedule))
        return error_codes.NONE

    def resume(self, key: PartitionKey, topic_id: Uuid, config: LogConfig) -> None:
        """A partition was opened that has a future replica: continue its move."""
        node = self._node
        futures = node.logs.future_logs
        future = None if futures is None else futures.open(key, topic_id, config, node.now)
        known = self.moves.get(key)
        if future is None or (known is not None and known.future is future):
            return
        move = self._add(FutureReplica(future, self._schedule))
        log.info("%r: its move continues", move)
        if self._has_directory(node.image, move):
            self._assign(move)

    def _add(self, move: FutureReplica) -> FutureReplica:
        self.moves[move.key] = move
        self._schedule()
        return move

    def _give_up(self, move: FutureReplica) -> None:
        """Forgets a move, and reports the directory of the current replica again."""
        del self.moves[move.key]
        if move.is_assigned is not None:
            self._report(move, None)

    def take_offline(self, partitions: Iterable[PartitionKey], futures: Iterable[PartitionKey]) -> None:
        """The directory of these partitions or future replicas failed: their moves end. A future
        replica in another directory stays for the next start."""
        for key in partitions:
            if (move := self.moves.get(key)) is not None:
                self._give_up(move)
        for key in futures:
            move = self.moves.get(key)
            if self._node.logs.future_logs is not None:
                self._node.logs.future_logs.forget(key)
            if move is not None:
                log.error("%r is lost: %s-%d stays where it is", move, *key)
                self._give_up(move)

    def _schedule(self, delay_ms: int = STEP_DELAY_MS) -> None:
        if not self._is_scheduled:
            self._is_scheduled = True
            self._node.waiting.timers.at(self._node.now + delay_ms, self._step)

    def _step(self, now: int) -> None:
        """Advances the first move that waits for nothing."""
        self._is_scheduled = False
        move = next((move for move in self.moves.values() if move.is_ready), None)
        if move is None:
            return
        quota = self._node.settings.int(RATE)
        if quota != UNLIMITED and self.rate.measure(now) > quota:
            self._schedule(self._node.settings.int("replica.fetch.backoff.ms"))
            return
        self._advance(move, now)
        self._schedule()

    def _advance(self, move: FutureReplica, now: int) -> None:
        replica = self._replica_of(move)
        if replica is None:  # it was deleted, or is offline
            self._give_up(move)
            return
        try:
            size_bytes = move.copy(replica.log, self._node.settings.int("replica.fetch.max.bytes"), now)
            self.rate.record(size_bytes, now)
            if move.is_caught_up(replica.log):
                self._complete(move, replica)
        except DiskFailure:  # the node reports it
            move.has_failed = True
        except (LogRefused, WireError, BadFile) as problem:
            move.has_failed = True
            log.error("%r: it cannot be filled: %s", move, problem)

    def _replica_of(self, move: FutureReplica) -> PartitionReplica | None:
        replica, futures = find_replica(self._node, *move.key), self._node.logs.future_logs
        if replica is None or futures is None or futures.get(move.key) is not move.future:
            return None
        is_offline = isinstance(replica, Partition) and replica.offline
        return None if is_offline or replica.topic_id != move.topic_id else replica

    def _complete(self, move: FutureReplica, replica: PartitionReplica) -> None:
        """Does what is left for a future replica that is caught up."""
        if move.lacks_flush(replica.log) and not move.was_flushed:
            move.was_flushed = move.is_flushing = True
            self._node.flushing.want(move)
        elif not move.is_assigned:
            self._assign(move)
        else:
            if move.lacks_flush(replica.log):  # it is little
                move.flush_now()
            self._replace(move, replica)

    def _assign(self, move: FutureReplica) -> None:
        move.is_assigned = self._has_directory(self._node.image, move)
        self._report(move, move.future.log_dir.id)

    def _report(self, move: FutureReplica, directory: Uuid | None) -> None:
        """Reports a directory of a replica to the controller, or its own with None, unless the
        metadata have it."""
        lifecycle = self._node.lifecycle
        if lifecycle is not None and lifecycle.is_registered_by_request:
            lifecycle.assign_directory(move.topic_id, move.index, directory)
            return
        own = directory or self._node.logs.directory_of(*move.key)
        if own is not None:
            self._node.controller.assign_directory(*move.key, own)

    def _has_directory(self, image: Image, move: FutureReplica) -> bool:
        """Returns whether the metadata have the directory of the move, if they have any."""
        topic = image.topic(move.topic_id)
        if level_of(image) < DIRECTORIES or topic is None or move.index not in topic.partitions:
            return True
        return directories_of(topic.partitions[move.index]).get(self._node.id) == move.future.log_dir.id

    def _image_changed(self, before: Image, after: Image, records: Sequence[Any] | None) -> None:
        for move in list(self.moves.values()):
            if move.is_assigned is False and self._has_directory(after, move):
                move.is_assigned = True
                self._schedule()

    def _replace(self, move: FutureReplica, replica: PartitionReplica) -> None:
        replica.log = self._node.logs.replace_current(*move.key, self._node.now)
        del self.moves[move.key]
        self._report(move, None)
        if replica.log.flush_is_due:
            self._node.flushing.want(replica)
        log.info("%s-%d is in %s now", *move.key, move.path)

    def __repr__(self) -> str:
        return f"{len(self.moves)} replicas move"
