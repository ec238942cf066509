"""A log from its folder: what the files say of it, and as much reading as that takes.

After a clean stop the names and sizes of the files, the ends of the segments, the leader epochs and the newest producer snapshot are all that
is looked at; after any other `recovery` looks at every batch from the recovery point on. What is lost or damaged is learnt anew from the
batches where they tell it; where they do not, it is BadFile.
"""

from __future__ import annotations

import logging

from ..config import LogConfig
from ..epochs import LeaderEpochCache
from ..formats import epoch_checkpoint
from ..formats.errors import BadFile
from ..formats.names import LEADER_EPOCH, LOG, SNAPSHOT
from ..found import Found
from ..log import PartitionLog
from ..offset_and_epoch import OffsetAndEpoch
from ..producer_state import ProducerState
from .disk import Disk
from .indexed import UNBOUNDED
from .leftovers import put_in_order, remove_orphans
from .loss import check_whole
from .recovery import learn_epochs, recover, state_at, verify
from .storage import EndsAt, FileStorage

_LOGGER = logging.getLogger("kafkadouble.server.log")


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
    verified: bool = False,
    ends_at: EndsAt = lambda _: None,
    compacted: bool = False,
) -> PartitionLog:
    """The log of partition `index` of `topic` that lies in `folder` of the disk; the folder is made when it is missing.

    `clean`: the node that wrote it stopped in good order. `recovery_point`, `log_start_offset`: what the checkpoints say, 0 where they say
    nothing. `verified`: every batch is looked at, also after a clean stop, in a log without gaps. `ends_at` is told where the log ends, now and
    whenever it is cut: no checkpoint may go beyond, or it would be believed of what is appended there. `compacted`: records were taken away
    between others. BadFile for what cannot be understood, and cannot be made anew from what can, and LostRecords for what is not there;
    DiskFailure.
    """
    disk.make_folder(folder)
    storage = FileStorage(disk, folder, config, ends_at)
    files = put_in_order(disk, folder)
    _find_segments(storage, files)
    kept = _kept_epochs(disk, folder)
    epochs, state = LeaderEpochCache(kept or ()), ProducerState()
    if storage.segments:
        unverified = len(storage.segments) if clean else storage.first_past(recovery_point)
        for segment in storage.segments[:unverified]:
            segment.check_end()
            segment.durable = True
    has_gaps = compacted or config.compacts
    check_whole(folder, files, storage.segments, recovery_point, log_start_offset, clean=clean, has_gaps=has_gaps)
    remove_orphans(disk, folder, files)
    if storage.segments:
        if verified:
            epochs = verify(storage.segments[:unverified], epochs if clean and kept else None)
        elif not kept:
            epochs = learn_epochs(storage.segments[:unverified])
        if clean:
            state = state_at(storage, storage.segments[-1].next_offset, log_start_offset)
        else:
            state = recover(storage, recovery_point, log_start_offset, epochs)
    begun_anew = not storage.segments or storage.segments[-1].next_offset < log_start_offset
    if begun_anew:
        epochs, state = LeaderEpochCache(), ProducerState()
        _begin_anew(storage, folder, log_start_offset)
    active = storage.segments[-1]
    active.resume(config.segment_index_bytes)
    active.created = now
    start, end = max(log_start_offset, storage.segments[0].base_offset), active.next_offset
    storage.ledger.recovery_point = end if clean else min(recovery_point, end)
    if clean and end and not begun_anew:
        storage.ledger.assume_flushed()
    ends_at(end)
    storage.drop_stray_snapshots(end)
    epochs.truncate_from_end(end)
    epochs.truncate_from_start(start)
    is_damaged = kept is None and disk.exists(f"{folder}/{LEADER_EPOCH}")
    if is_damaged or epochs.entries != (kept or []):
        storage.keep_epochs(epochs.entries)
    return PartitionLog(topic, index, config, storage, Found(start, end, epochs, state))


def _find_segments(storage: FileStorage, files: list[tuple[int, str]]) -> None:
    """Files whose names say nothing to us are none of ours, and stay."""
    bases = [base for base, kind in files if kind == LOG]
    limits = [*bases[1:], UNBOUNDED]
    storage.segments = [storage.segment(base, limit) for base, limit in zip(bases, limits, strict=False)]
    storage.snapshots = [base for base, kind in files if kind == SNAPSHOT]


def _kept_epochs(disk: Disk, folder: str) -> list[OffsetAndEpoch] | None:
    """What the checkpoint says; None when it is lost or damaged."""
    path = f"{folder}/{LEADER_EPOCH}"
    if not disk.exists(path):
        return None
    data = disk.read_whole(path)
    if not data.endswith(b"\n"):  # what a loss of power leaves: nothing, or all but the end of the last number
        _LOGGER.warning("the leader epochs are learnt anew from the batches: %s ends too early", path)
        return None
    try:
        return epoch_checkpoint.read(data, path)
    except BadFile as problem:
        _LOGGER.warning("the leader epochs are learnt anew from the batches: %s", problem)
        return None


def _begin_anew(storage: FileStorage, folder: str, offset: int) -> None:
    if storage.segments:
        _LOGGER.warning("%s ends before offset %d, where it is to begin: it begins anew there", folder, offset)
    storage.ledger.is_new = not storage.segments and not offset
    storage.restart(offset)
