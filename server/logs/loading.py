"""Between a log and the checkpoints of its directory: what they say when it is opened, and what is
written to them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from ..log.config import LogConfig
from ..log.files.errors import LostFile
from ..log.files.opening import open_log
from ..log.formats import names
from ..log.formats.errors import BadFile
from ..log.log import PartitionLog
from ..metadata.internal_topics import METADATA_TOPIC
from .log_dir import LogDir

Key = tuple[str, int]
"""Topic and partition."""

METADATA_KEY = METADATA_TOPIC, 0


OFFSETS: dict[str, Callable[[PartitionLog], int | None]] = {
    names.RECOVERY_POINT: lambda log: log.recovery_point,
    # A log that was cut where records were compacted away ends before its log end offset.
    names.REPLICATION_OFFSET: lambda log: min(log.high_watermark, log.segments[-1].next_offset),
    names.LOG_START: lambda log: log.log_start_offset or None,
    names.CLEANER_OFFSET: lambda log: min(log.cleaned_to, log.segments[-1].next_offset) or None,
}
"""The offset of a log in each checkpoint; None for no entry."""


def offsets_of(logs: Mapping[Key, PartitionLog], which: Iterable[str]) -> dict[str, dict[Key, int]]:
    """The offsets of the logs in the checkpoints with these names."""
    return {
        name: {key: offset for key, log in logs.items() if (offset := OFFSETS[name](log)) is not None} for name in which
    }


def load(log_dir: LogDir, key: Key, folder: str, config: LogConfig, now: int) -> PartitionLog:
    """Opens the log of a partition in this folder of the directory, with what the checkpoints say.
    LostFile when it is damaged, and then only this partition is offline; BadFile for the metadata
    log. DiskFailure."""
    try:
        log = open_log(
            log_dir.disk,
            folder,
            *key,
            config,
            clean=log_dir.clean,
            recovery_point=log_dir.offset(names.RECOVERY_POINT, key),
            log_start_offset=log_dir.offset(names.LOG_START, key),
            now=now,
            verified=key == METADATA_KEY,
            ends_at=partial(log_dir.ends_at, key),
            compacted=log_dir.offset(names.CLEANER_OFFSET, key) > 0,
        )
    except BadFile as problem:
        if key == METADATA_KEY:
            raise
        raise LostFile(log_dir.path, log_dir.at(str(problem)), problem.file) from problem
    # As far as it is known to be replicated.
    log.high_watermark = log_dir.offset(names.REPLICATION_OFFSET, key)
    log.cleaned_to = min(log_dir.offset(names.CLEANER_OFFSET, key), log.log_end_offset)
    return log
