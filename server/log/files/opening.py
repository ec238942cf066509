"""Opens a log from its folder, and reads no more than that takes (Kafka's LogLoader).

After a clean stop this is: the names and sizes of the files, the ends of the segments, the leader
epochs and the newest producer snapshot. After any other stop `recovery` reads every batch above the
recovery point. Lost or damaged files are rebuilt from the batches if possible; otherwise BadFile is
raised.
"""

from __future__ import annotations

from kafkadouble.wire.client_log import ClientLog

from ..config import LogConfig
from ..epochs import LeaderEpochCache
from ..formats import epoch_checkpoint
from ..formats.errors import BadFile
from ..formats.names import LEADER_EPOCH, LOG, SNAPSHOT
from ..loaded_log import LoadedLog
from ..log import PartitionLog
from ..offset_and_epoch import OffsetAndEpoch
from ..producer_state_manager import ProducerStateManager
from .disk import Disk
from .indexed import UNBOUNDED
from .leftovers import put_in_order, remove_orphans
from .loss import check_whole
from .recovery import learn_epochs, recover, state_at, verify
from .storage import EndsAt, FileStorage

_LOGGER = ClientLog("kafkadouble.server.log")


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
    """The log of partition `index` of `topic` in `folder` of the disk. A missing folder is made.

    `clean`: the node that wrote the log stopped cleanly. `recovery_point` and `log_start_offset`:
    from the checkpoints, 0 when they have none. `verified`: every batch is checked, also after a
    clean stop, and none that was flushed is truncated; for logs without gaps. `ends_at` is called
    with the log end offset now and after every truncation: checkpoints must not be beyond it, or
    they would count for the records that are appended there. `compacted`: compaction removed
    records from this log. BadFile for what cannot be understood or rebuilt, LostRecords for missing
    records, DiskFailure.
    """
    disk.make_folder(folder)
    storage = FileStorage(disk, folder, config, ends_at)
    files = put_in_order(disk, folder)
    _find_segments(storage, files)
    kept = _kept_epochs(disk, folder)
    epochs, state = LeaderEpochCache(kept or ()), ProducerStateManager()
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
            state = recover(
                storage, recovery_point, log_start_offset, epochs, has_gaps=has_gaps, may_truncate=not verified
            )
    restarted = not storage.segments or storage.segments[-1].next_offset < log_start_offset
    if restarted:
        epochs, state = LeaderEpochCache(), ProducerStateManager()
        _restart(storage, folder, log_start_offset)
    active = storage.segments[-1]
    active.resume(config.segment_index_bytes)
    active.created = now
    start, end = max(log_start_offset, storage.segments[0].base_offset), active.next_offset
    storage.ledger.recovery_point = end if clean else min(recovery_point, end)
    if clean and end and not restarted:
        storage.ledger.assume_flushed()
    ends_at(end)
    storage.drop_stray_snapshots(end)
    epochs.truncate_from_end(end)
    epochs.truncate_from_start(start)
    is_damaged = kept is None and disk.exists(f"{folder}/{LEADER_EPOCH}")
    if is_damaged or epochs.entries != (kept or []):
        storage.write_leader_epochs(epochs.entries)
    return PartitionLog(topic, index, config, storage, LoadedLog(start, end, epochs, state))


def _find_segments(storage: FileStorage, files: list[tuple[int, str]]) -> None:
    """Files with other names are not ours, and stay."""
    bases = [base for base, kind in files if kind == LOG]
    limits = [*bases[1:], UNBOUNDED]
    storage.segments = [storage.segment(base, limit) for base, limit in zip(bases, limits, strict=False)]
    storage.snapshots = [base for base, kind in files if kind == SNAPSHOT]


def _kept_epochs(disk: Disk, folder: str) -> list[OffsetAndEpoch] | None:
    """The content of the checkpoint; None when it is lost or damaged."""
    path = f"{folder}/{LEADER_EPOCH}"
    if not disk.exists(path):
        return None
    data = disk.read_whole(path)
    # A loss of power leaves nothing, or all but the end of the last number.
    if not data.endswith(b"\n"):
        _LOGGER.warning("the leader epochs are rebuilt from the batches: %s ends too early", path)
        return None
    try:
        return epoch_checkpoint.read(data, path)
    except BadFile as problem:
        _LOGGER.warning("the leader epochs are rebuilt from the batches: %s", problem)
        return None


def _restart(storage: FileStorage, folder: str, offset: int) -> None:
    if storage.segments:
        _LOGGER.warning("%s ends before its log start offset %d: it restarts there, empty", folder, offset)
    storage.ledger.is_new = not storage.segments and not offset
    storage.restart(offset)
