"""Mutations of logs: recovery, leader epochs, divergence, retention, compaction (KIP-101, KIP-279,
KIP-107)."""

from __future__ import annotations

from .mutation import Mutation

_EPOCHS, _KIP_101 = "tests/server/log/test_epochs.py", "tests/kips/test_kip_101.py"
_RETENTION = "tests/server/log/test_retention.py"
_CUTS, _HOLES, _OPENING = (f"tests/server/log/files/test_{name}.py" for name in ("cuts", "holes", "opening"))
_LEDGER, _POWER_LOSS = (f"tests/server/log/files/test_{name}.py" for name in ("flush_ledger", "power_loss"))
_DAMAGED, _LOG_DIRS = "tests/server/logs/test_damaged_files.py", "tests/server/logs/test_files.py"
_RESTORE = "tests/front/test_snapshot_restore.py"
_MOVES_AND_FAILURES = "tests/server/replica/test_moves_and_failures.py"
_KEEPING = "tests/server/raft/snapshots/test_keeping.py"

LOGS = {
    "log: an epoch that begins at the new end of the log is kept": Mutation(
        "server/log/epochs.py",
        "keep = bisect_left(self._starts, end)",
        "keep = bisect_right(self._starts, end)",
        (_EPOCHS, _KIP_101),
        "a follower that is cut back claims an epoch of which it has no record, and its leader finds no divergence",
    ),
    "log: the epoch in force at the new start is forgotten": Mutation(
        "server/log/epochs.py",
        "dropped = bisect_right(self._starts, start) - 1",
        "dropped = bisect_left(self._starts, start) - 1",
        (_EPOCHS, _KIP_101),
        "after retention the oldest records are said to be of an older epoch than theirs",
    ),
    "log: an epoch older than all has the number of the first": Mutation(
        "server/log/epochs.py",
        "self._epochs[later - 1] if later else epoch",
        "self._epochs[max(0, later - 1)]",
        (_EPOCHS, "tests/kips/test_kip_279.py"),
        "a follower far behind gets an epoch that it does not have, and truncates at the wrong offset (KIP-279)",
    ),
    "log: the latest epoch ends where it starts": Mutation(
        "server/log/epochs.py",
        "            return OffsetAndEpoch(log_end_offset, epoch)\n",
        "            return OffsetAndEpoch(self._starts[-1], epoch)\n",
        (_EPOCHS, _KIP_101),
        "every in-sync follower has to truncate its log",
    ),
    "log: a follower past the end does not diverge": Mutation(
        "server/log/divergence.py",
        "if end.epoch < last_fetched_epoch or end.offset < fetch_offset:",
        "if end.epoch < last_fetched_epoch:",
        ("tests/server/log/test_divergence.py", "tests/kips/test_kip_279.py"),
        "a follower that is longer than its leader in one epoch keeps records that were never committed",
    ),
    "log: a later epoch than the leader's is no divergence": Mutation(
        "server/log/divergence.py",
        "if end.epoch < last_fetched_epoch or end.offset < fetch_offset:",
        "if end.offset < fetch_offset:",
        ("tests/server/log/test_divergence.py", "tests/kips/test_kip_279.py"),
        "records of an epoch that the leader does not have stay in a follower's log",
    ),
    "log: a follower below the start of the log is compared": Mutation(
        "server/log/divergence.py",
        "if end == UNDEFINED or fetch_offset < log_start_offset:",
        "if end == UNDEFINED:",
        ("tests/server/log/test_divergence.py", "tests/kips/test_kip_279.py"),
        "a follower behind the log start offset has to truncate, and not to start there",
    ),
    "log: a cut leaves the cleaner's place beyond the end": Mutation(
        "server/log/log.py",
        "        self.log_end_offset = offset\n        self.cleaned_to = min(offset, self.cleaned_to)\n",
        "        self.log_end_offset = offset\n",
        ("tests/server/log/compaction/test_cleaner.py", "tests/server/log/test_log.py"),
        "what is appended after a truncation is never compacted",
    ),
    "log: retention deletes what is not committed": Mutation(
        "server/log/retention.py",
        "if high_watermark < end or (last and not segment.size) or not due(segment, end):",
        "if (last and not segment.size) or not due(segment, end):",
        (_RETENTION,),
        "a leader deletes records that its followers do not have yet",
    ),
    "log: the segment that holds the log start is deleted": Mutation(
        "server/log/retention.py",
        "end <= log_start_offset and segment is not segments[-1]",
        "end <= log_start_offset + 1 and segment is not segments[-1]",
        (_RETENTION,),
        "DeleteRecords deletes one record more than requested",
    ),
    "log: the age of a segment is that of its file": Mutation(
        "server/log/retention.py",
        "return segment.max_timestamp if segment.max_timestamp >= 0 else segment.modified",
        "return segment.modified",
        (_RETENTION,),
        "records with old timestamps are kept, and young ones go, by when the file was written",
    ),
    "log: a segment as large as the excess stays": Mutation(
        "server/log/retention.py",
        "        if segment.size > excess:\n",
        "        if segment.size >= excess:\n",
        (_RETENTION,),
        "retention.bytes keeps one segment more than Kafka",
    ),
    "log: an epoch that begins is not flushed": Mutation(
        "server/log/log.py",
        "if self.epochs.assign(epoch, start):\n            self._storage.write_leader_epochs(self.epochs.entries, flush=True)",
        "if self.epochs.assign(epoch, start):\n            self._storage.write_leader_epochs(self.epochs.entries)",
        (_OPENING, "tests/server/log/files/test_storage.py", _KIP_101, "tests/server/log/files/test_power_loss.py"),
        "after a loss of power the log has batches of an epoch that its checkpoint does not have (KIP-101)",
    ),
    "log: the segments before the start of the metadata log stay": Mutation(
        "server/raft/raft_log.py",
        "            self.history.forget_before(id.offset)\n            self.delete_old_segments()\n",
        "            self.history.forget_before(id.offset)\n",
        (_KEEPING, "tests/server/controller/test_trimmed_controllers.py"),
        "the metadata log grows until the next look",
    ),
    "log: what an interruption left of old segments stays": Mutation(
        "server/raft/snapshots/cleaner.py",
        '    """By size and age, as Kafka ships it."""\n    log.delete_old_segments()\n',
        '    """By size and age, as Kafka ships it."""\n',
        (_KEEPING,),
        "segments that could not be deleted once are never deleted",
    ),
    "log: what an interruption left of old segments stays under the adopted rule": Mutation(
        "server/raft/snapshots/cleaner.py",
        "    log.delete_old_segments()\n    if id is not None",
        "    if id is not None",
        (_KEEPING,),
        "segments that could not be deleted once are never deleted",
    ),
    "log: epochs that were recovered are not written down": Mutation(
        "server/log/files/opening.py",
        "    if is_damaged or epochs.entries != (kept or []):\n        storage.write_leader_epochs(epochs.entries)\n",
        "",
        (_OPENING, "tests/server/log/files/test_corruption.py", "tests/server/log/files/test_power_loss.py"),
        "leader-epoch-checkpoint stays wrong after a recovery, until the next epoch begins",
    ),
    "log: epochs beyond the end that was found are kept": Mutation(
        "server/log/files/opening.py",
        "    epochs.truncate_from_end(end)\n",
        "",
        (_OPENING, "tests/server/log/files/test_power_loss.py", _CUTS),
        "after an unclean stop the epochs are ahead of the log (KIP-101)",
    ),
    "log: a checkpoint that was cut off is believed": Mutation(
        "server/log/files/opening.py",
        'if not data.endswith(b"\\n"):',
        "if not data:",
        (_OPENING,),
        "the last digits of an offset are lost, and an epoch begins in the wrong place",
    ),
    "log: a hole between two segments is taken for compaction": Mutation(
        "server/log/files/recovery.py",
        "    if not following or segment.next_offset < recovery_point:\n        return None\n",
        "    if True:\n        return None\n",
        (_HOLES, "tests/server/log/files/test_power_loss.py"),
        "records that were lost are skipped, though those behind them were never acknowledged in order",
    ),
    "log: damage that was flushed ends the start": Mutation(
        "server/log/files/recovery.py",
        "kept = 0 if may_truncate else recovery_point",
        "kept = recovery_point",
        (_OPENING,),
        "a broker that was killed does not start, where Apache Kafka truncates the log and does",
    ),
    "log dirs: a damaged checkpoint is taken for a missing one": Mutation(
        "server/logs/log_dir.py",
        "            self._damaged.append(problem)\n",
        "",
        (_DAMAGED,),
        "log start offsets and high watermarks go back without a word, where Apache Kafka takes the directory offline",
    ),
    "log dirs: a damaged partition.metadata is taken for a missing one": Mutation(
        "server/logs/log_dir.py",
        "if not self.has_records(folder):",
        "if True:",
        (_DAMAGED, _LOG_DIRS),
        "the partition is put aside, and clients find an empty one",
    ),
    "log dirs: any folder may lie in one": Mutation(
        "server/logs/log_dir.py",
        "if not names.is_of_log(folder):",
        "if False:",
        (_DAMAGED,),
        "what starts here does not start with Apache Kafka",
    ),
    "log dirs: the topic id of a partition is flushed later than its records": Mutation(
        "server/log/files/storage.py",
        "            self._flush_topic_id()\n",
        "            pass\n",
        (_LOG_DIRS,),
        "after a loss of power records belong to no topic",
    ),
    "log: segments behind a damaged batch are kept": Mutation(
        "server/log/files/recovery.py",
        "        storage.drop_newest(dropped)\n",
        "",
        (_HOLES, "tests/server/log/files/test_corruption.py", _CUTS),
        "the log goes on behind what was cut off",
    ),
    "log: a flush confirms what was appended in the place of a cut": Mutation(
        "server/log/files/flush_ledger.py",
        "min(offset, self._cut_to)",
        "offset",
        (_LEDGER, "tests/server/logs/test_flushing.py"),
        "records count as durable that no flush covered, and a loss of power takes them",
    ),
    "log: what an unconfirmed flush covered is not due again": Mutation(
        "server/log/files/flush_ledger.py",
        "files, folders = (before.files, before.folders) if before else ((), ())",
        "files, folders = (), ()",
        (_LEDGER,),
        "after a flush that failed, a checkpoint is not flushed before it is written the next time",
    ),
    "log: a flush that had nothing to do confirms what is due": Mutation(
        "server/log/files/flush_ledger.py",
        "        if plan is None or plan.end != offset:\n            return\n",
        "        self._clear()\n        if plan is None or plan.end != offset:\n            return\n",
        (_LEDGER, _CUTS, _POWER_LOSS),
        "a loss of power takes the folder of a new partition, with records that were flushed",
    ),
    "log: a copy in memory has the room of the log": Mutation(
        "server/log/memory_chunk.py",
        "        made._begin(self.base_offset, self._readable[: self.size])\n        made._room = 0\n",
        "        made._begin(self.base_offset, self._memory)\n        made._room = self._room\n",
        (f"{_RESTORE}::test_later_appends_are_not_in_the_snapshot_nor_in_one_another",),
        "records of one restore overwrite those of the log, of the next restore and of later snapshots",
    ),
    "log: a copy in memory shares the state of its producers": Mutation(
        "server/log/producer_state_manager.py",
        "made.producers.restore(producer.copy() for producer in self.producers)",
        "made.producers.restore(self.producers)",
        (f"{_RESTORE}::test_the_state_of_producers_comes_back",),
        "a producer that goes on after a snapshot is out of sequence after the restore",
    ),
    "moves: a replica replaces the current one before it is flushed": Mutation(
        "server/replica/replication/future_replica.py",
        "return self.log.recovery_point < current.recovery_point",
        "return False",
        (_MOVES_AND_FAILURES,),
        "a loss of power after a move to another directory takes records that were flushed",
    ),
    "moves: a replica replaces the current one before the controller knows": Mutation(
        "server/replica/replica_alter_log_dirs_manager.py",
        "        elif not move.is_assigned:\n",
        "        elif move.is_assigned is None and move.has_failed:\n",
        ("tests/server/broker/test_moves_of_brokers.py",),
        "when the directory fails, the controller takes other partitions offline than those in it (KIP-858)",
    ),
    "moves: an epoch without a record is forgotten": Mutation(
        "server/log/log.py",
        "        self.epochs = LeaderEpochCache(other.epochs.entries)\n",
        "",
        ("tests/server/replica/test_moved_state.py",),
        "a leader that has moved does not know its own epoch until it appends",
    ),
    "moves: the offsets of an earlier log count for the future replica": Mutation(
        "server/logs/future_logs.py",
        "        log_dir.ends_at(key, 0)  # the offsets of an earlier log of this partition\n",
        "",
        ("tests/server/handlers/test_alter_replica_log_dirs.py",),
        "a partition that comes back to a directory is said to have been flushed further than it is, and is refused",
    ),
}
