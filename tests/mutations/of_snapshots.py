"""Mutations of snapshots: when they are due, what they hold, how they are fetched, served and kept
(KIP-630)."""

from __future__ import annotations

from .mutation import Mutation

_HERE = "tests/server/raft/snapshots/test_"
_KEEPING, _RETENTION, _TRIGGERS, _STORE = (
    f"{_HERE}{name}.py" for name in ("keeping", "retention", "triggers", "store")
)
_SERVING, _FETCHING, _READING, _WRITING = (
    f"{_HERE}{name}.py" for name in ("serving", "fetching", "reading", "writing")
)
_RAFT_LOG, _KIP_630 = "tests/server/raft/test_raft_log.py", "tests/kips/test_kip_630.py"
_CONTROLLERS, _CHANGED = "tests/server/controller/test_controllers.py", "tests/server/metadata/test_changed_records.py"
_COMMITTED = "tests/server/metadata/test_metadata_loader.py"

SNAPSHOTS = {
    "snapshots: a later epoch at the start of the log goes on": Mutation(
        "server/raft/raft_log.py",
        "(offset == start and epoch != earliest.epoch)",
        "(offset == start and epoch < earliest.epoch)",
        (_RAFT_LOG,),
        "a follower with another history at the log start appends ours behind it",
    ),
    "snapshots: an epoch before the oldest snapshot's is compared": Mutation(
        "server/raft/raft_log.py",
        " or epoch < earliest.epoch\n",
        "\n",
        (_RAFT_LOG, _KIP_630),
        "a follower of an epoch that the log has forgotten has to truncate at an undefined offset",
    ),
    "snapshots: a follower at offset 0 is given the log": Mutation(
        "server/raft/raft_log.py",
        "if offset == 0 and latest is not None and latest != BOOTSTRAP:",
        "if offset == 0 and latest is not None and latest == BOOTSTRAP and epoch > 0:",
        (_RAFT_LOG, f"{_HERE}service.py"),
        "a new replica reads the whole log, though there is a snapshot",
    ),
    "snapshots: retention deletes before the log moves": Mutation(
        "server/raft/snapshots/cleaner.py",
        """        _begin_at(log, snapshots[len(deletable)].id)
        for each in deletable:
            store.delete(each.id, now)
""",
        """        for each in deletable:
            store.delete(each.id, now)
        _begin_at(log, snapshots[len(deletable)].id)
""",
        (_KEEPING,),
        "a process that dies in between leaves a log that begins where no snapshot ends",
    ),
    "snapshots: a follower's log begins beyond what is committed": Mutation(
        "server/raft/snapshots/cleaner.py",
        "[id for id in store.ids() if id.offset <= log.high_watermark]",
        "list(store.ids())",
        (_KEEPING,),
        "records are forgotten that may yet be cut off",
    ),
    "snapshots: the last one goes too": Mutation(
        "server/raft/snapshots/retention.py",
        "    while deletable < len(snapshots) - 1 and _is_too_old(snapshots[deletable], retention, now):",
        "    while deletable < len(snapshots) and _is_too_old(snapshots[deletable], retention, now):",
        (_RETENTION, _KEEPING),
        "a node has neither the beginning of its log nor a snapshot of it",
    ),
    "snapshots: the bytes of snapshots do not count": Mutation(
        "server/raft/snapshots/retention.py",
        "return 0 <= retention.max_bytes < log_bytes + sum(each.size for each in snapshots)",
        "return 0 <= retention.max_bytes < log_bytes",
        (_RETENTION, _KEEPING),
        "metadata.max.retention.bytes is exceeded by all snapshots together",
    ),
    "snapshots: the leader waits for one replica only": Mutation(
        "server/raft/snapshots/retention.py",
        "reached = min(replicas, default=None)",
        "reached = max(replicas, default=None)",
        (_RETENTION, _KEEPING),
        "the adopted rule sends snapshots to replicas that were about to catch up",
    ),
    "snapshots: observers are not waited for": Mutation(
        "server/metadata/snapshot_generator.py",
        "known = (*leader.voters.values(), *leader.observers.values())",
        "known = (*leader.voters.values(),)",
        (f"{_CONTROLLERS}::test_adopted_the_log_waits_for_observers_that_are_alive",),
        "the adopted rule of the log start looks at voters only, and brokers are sent snapshots",
    ),
    "snapshots: replicas that are gone are waited for": Mutation(
        "server/metadata/snapshot_generator.py",
        "live = [each for each in known if each.key.id == leader.key.id or now - each.last_fetch < OBSERVER_SESSION_MS]",
        "live = list(known)",
        (f"{_CONTROLLERS}::test_adopted_the_log_waits_for_observers_that_are_alive",),
        "a broker that was removed keeps the metadata log from being trimmed",
    ),
    "snapshots: bytes are never counted from 0 again": Mutation(
        "server/metadata/snapshot_generator.py",
        "self._steps, self._since = steps, SinceSnapshot(0, now)",
        "self._steps = steps",
        (f"{_CONTROLLERS}::test_the_bytes_between_two_snapshots_are_counted_from_the_last_one_on",),
        "after the first snapshot one is written with every record",
    ),
    "snapshots: bytes before a loaded one count": Mutation(
        "server/metadata/snapshot_generator.py",
        "        self.metrics.load(took)\n        self._since = SinceSnapshot(0, self._host.now)\n",
        "        self.metrics.load(took)\n",
        (f"{_CONTROLLERS}::test_the_bytes_between_two_snapshots_are_counted_from_the_last_one_on",),
        "a node that has just fetched a snapshot writes one of its own",
    ),
    "snapshots: a load is not counted": Mutation(
        "server/metadata/snapshot_generator.py",
        "        self.metrics.load(took)\n",
        "",
        (f"{_CONTROLLERS}::test_a_restart_begins_with_the_snapshot",),
        "HandleLoadSnapshotCount is 0 for ever",
    ),
    "snapshots: one is due within a metadata transaction": Mutation(
        "server/metadata/image_snapshots.py",
        "None if delta.in_transaction else create(log, store, end)",
        "create(log, store, end)",
        ("tests/server/metadata/test_snapshots.py",),
        "half a transaction is neither in the snapshot nor in the log behind it (KIP-868)",
    ),
    "snapshots: bytes alone are enough for the ratio": Mutation(
        "server/raft/snapshots/triggers.py",
        "if enough and (share := changed()) >= triggers.min_changed_ratio:",
        "if enough and (share := changed()) >= 0:",
        (_TRIGGERS,),
        "metadata.snapshot.min.changed_records.ratio has no effect",
    ),
    "snapshots: records that came and went do not count": Mutation(
        "server/metadata/changed_records.py",
        "(count_differing(self._snapshot, image) + len(self._added))",
        "count_differing(self._snapshot, image)",
        (_CHANGED,),
        "topics that are created and deleted never make a snapshot due",
    ),
    "snapshots: records that were only added count": Mutation(
        "server/metadata/changed_records.py",
        "for key in differing_keys(before, after, _touched(before, records)):",
        "for key in differing_keys(after, before):",
        (_CHANGED,),
        "the ratio is reached by new records alone",
    ),
    "snapshots: what changed is forgotten at a restart": Mutation(
        "server/metadata/metadata_loader.py",
        "                    self._count_changed(before, delta.image, read.records)\n",
        "",
        (_COMMITTED,),
        "a node that restarts often never writes a snapshot",
    ),
    "snapshots: a damaged one is there before it is looked through": Mutation(
        "server/raft/snapshots/download.py",
        "            verify(self.id, part)\n            part.freeze()\n",
        "            part.freeze()\n",
        (_FETCHING,),
        "a replica cannot start from what it took over",
    ),
    "snapshots: pieces of another size are joined": Mutation(
        "server/raft/snapshots/download.py",
        "if self._size not in (-1, answer.size):",
        "if False:",
        (_FETCHING,),
        "two snapshots with one id are mixed",
    ),
    "snapshots: a piece is taken at any position": Mutation(
        "server/raft/snapshots/download.py",
        "if answer.position != self.position:",
        "if False:",
        (_FETCHING,),
        "an answer that comes twice is appended twice",
    ),
    "snapshots: the snapshot of the formatting is served": Mutation(
        "server/raft/snapshots/fetch_snapshot_response.py",
        "reader = None if id == BOOTSTRAP else store.open(id)",
        "reader = store.open(id)",
        (_SERVING,),
        "a replica takes a state without records for the cluster's",
    ),
    "snapshots: a position at the end is in it": Mutation(
        "server/raft/snapshots/fetch_snapshot_response.py",
        "if not 0 <= requested.position < reader.size:",
        "if not 0 <= requested.position <= reader.size:",
        (_SERVING,),
        "a replica asks for nothing again and again, where Kafka says POSITION_OUT_OF_RANGE",
    ),
    "snapshots: an answer is bounded by MaxBytes alone": Mutation(
        "server/raft/snapshots/fetch_snapshot_response.py",
        "request.max_bytes if most is None else min(most, request.max_bytes)",
        "request.max_bytes",
        (_SERVING,),
        "replica.fetch.response.max.bytes has no effect",
    ),
    "snapshots: the setting is not handed on": Mutation(
        "server/logs/raft_manager.py",
        "snapshots=FetchSnapshotService(self.snapshots, _response_max_bytes(settings)),",
        "snapshots=FetchSnapshotService(self.snapshots),",
        (f"{_CONTROLLERS}::test_a_piece_of_a_snapshot_has_no_more_bytes_than_the_setting",),
        "replica.fetch.response.max.bytes has no effect",
    ),
    "snapshots: a name is there before the bytes": Mutation(
        "server/raft/snapshots/file_store.py",
        "        file.flush()\n        path = self._store.path_of(self.id)\n",
        "        path = self._store.path_of(self.id)\n",
        (_STORE,),
        "after a loss of power a snapshot has its name, and zeros",
    ),
    "snapshots: a name is not flushed": Mutation(
        "server/raft/snapshots/file_store.py",
        "        self._store.disk.flush_folder(self._store.folder)\n",
        "",
        (_STORE,),
        "after a loss of power the log begins behind a snapshot that is gone",
    ),
    "snapshots: a file goes while it is read": Mutation(
        "server/raft/snapshots/file_store.py",
        "if snapshot.due <= now and not snapshot.readers]",
        "if snapshot.due <= now]",
        (_STORE,),
        "a replica that fetches a snapshot gets an error in the middle",
    ),
    "snapshots: leftovers are kept": Mutation(
        "server/raft/snapshots/file_store.py",
        "            self.disk.remove(path)\n",
        "",
        (_STORE,),
        "parts of interrupted downloads fill the disk",
    ),
    "snapshots: one without its footer is whole": Mutation(
        "server/raft/snapshots/snapshot_reader.py",
        '        if not self._ended:\n            self._bad(f"no',
        '        if False:\n            self._bad(f"no',
        (_READING,),
        "a snapshot that was cut off at a batch is loaded, and topics are missing",
    ),
    "snapshots: batches of another epoch are taken": Mutation(
        "server/raft/snapshots/snapshot_reader.py",
        "if header.partition_leader_epoch != self._id.epoch:",
        "if False:",
        (_READING,),
        "a file under a wrong name is loaded",
    ),
    "snapshots: one ends inside of a batch": Mutation(
        "server/raft/snapshots/validation.py",
        '    if not _is_aligned(log, id.offset):\n        return "a batch has begun before it, and not ended"\n',
        "",
        (f"{_HERE}creating.py",),
        "the rest of the batch can never be applied",
    ),
    "snapshots: one is written of what is not committed": Mutation(
        "server/raft/snapshots/validation.py",
        "if id.offset > log.high_watermark:",
        "if id.offset > log.end_offset:",
        (f"{_HERE}creating.py", "tests/server/metadata/test_snapshots.py"),
        "a snapshot holds records that another leader cuts off",
    ),
}
