"""A log from its folder: what the files say of it, and as much reading as that takes.

After a clean stop the names and sizes of the files, the checkpoint of leader epochs and the newest producer snapshot are all that is looked at.
"""

from __future__ import annotations

from ..config import LogConfig
from ..epochs import LeaderEpochCache
from ..formats import epoch_checkpoint, producer_snapshot, txn_index
from ..formats.names import LEADER_EPOCH, LOG, SNAPSHOT, TXN_INDEX, parse_file
from ..found import Found
from ..log import PartitionLog
from ..producer_state import ProducerState
from .disk import Disk
from .segment import FileSegment
from .storage import FileStorage, begin


def open_log(
    disk: Disk,
    folder: str,
    topic: str,
    index: int,
    config: LogConfig,
    *,
    clean: bool,
    recovery_point: int,
    log_start_offset: int,
    now: int,
) -> PartitionLog:
    """The log of partition `index` of `topic` that lies in `folder` of the disk; the folder is made when it is missing.

    `clean`: the node that wrote it stopped in good order. `recovery_point`, `log_start_offset`: what the checkpoints say, 0 where they say
    nothing. BadFile for what cannot be understood, and cannot be made anew from what can; DiskFailure.
    """
    disk.make_folder(folder)
    names = sorted(disk.names(folder))
    found = [parsed for parsed in map(parse_file, names) if parsed]
    bases = [base for base, kind in found if kind == LOG]
    interval = config.index_interval_bytes
    segments = [
        FileSegment(disk, folder, base, limit, interval)
        for base, limit in zip(bases, [*bases[1:], 2**63 - 1], strict=False)
    ]
    if segments:
        segments[-1].activate(segments[-1].grow(config.segment_index_bytes))
        segments[-1].created = now
    else:
        segments.append(FileSegment(disk, folder, log_start_offset, log_start_offset, interval))
        begin(disk, segments[0], config)
    storage = FileStorage(disk, folder, config, segments)
    if segments[-1].next_offset < log_start_offset:
        storage.restart(log_start_offset)
    end = segments[-1].next_offset
    start = max(log_start_offset, segments[0].base_offset)
    storage.recovery_point = end if clean else min(recovery_point, end)
    epochs = LeaderEpochCache()
    if LEADER_EPOCH in names:
        path = f"{folder}/{LEADER_EPOCH}"
        epochs = LeaderEpochCache(epoch_checkpoint.read(disk.read_whole(path), path))
    epochs.truncate_from_end(end)
    epochs.truncate_from_start(start)
    state = ProducerState()
    storage.snapshots = [base for base, kind in found if kind == SNAPSHOT]
    if end in storage.snapshots:
        path = storage.snapshot_path(end)
        entries = producer_snapshot.read(disk.read_whole(path), path)
        state.producers.restore(map(producer_snapshot.producer_of, entries))
        opened = sorted((p.transaction_start, p.producer_id) for p in state.producers if p.transaction_start >= 0)
        for first, producer in opened:
            state.transactions.begin(producer, first)
    aborted = []
    for base, kind in found:
        if kind == TXN_INDEX:
            path = f"{folder}/{base:020d}{TXN_INDEX}"
            aborted += txn_index.read(disk.read_whole(path), base, path)
    state.transactions.restore(aborted)
    return PartitionLog(topic, index, config, storage, Found(start, end, epochs, state))
