"""Checks the folder of one partition: the order of its segments, the snapshots, checkpoints and
small files."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from kafkadouble.dump.contents.file import FileBytes
from kafkadouble.dump.contents.kinds import METADATA_TOPIC
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.log.formats import (
    BadFile,
    epoch_checkpoint,
    names,
    offset_checkpoint,
    partition_metadata,
    producer_snapshot,
)
from kafkadouble.server.log.formats import quorum_state as quorum_state_format
from kafkadouble.wire.errors import UsageError

from .agreement import EpochRule
from .check_segment import Segment
from .check_snapshot import check_snapshot
from .verdict import Rules, Tally

Offsets = dict[tuple[str, int], int]
_ALWAYS_COMPACTED = ("__consumer_offsets", "__transaction_state")
_INDEXES = (names.INDEX, names.TIME_INDEX, names.TXN_INDEX)


class CheckedPartition(NamedTuple):
    """The result for a partition without corruption: its start and end offset, whether its log is
    complete (`whole`), and the end of the newest snapshot of a metadata log, -1 when there is
    none."""

    folder: Path
    start: int
    end: int
    whole: bool
    topic_id: Uuid | None
    newest_snapshot: int = -1


def check_partition(
    folder: Path, rules: Rules, tally: Tally, *, compacted: bool = False, may_be_empty: bool = False
) -> CheckedPartition:
    """Checks a partition. Raises BadFile; torn tails are added to the tally.

    `compacted` allows missing records. `may_be_empty` allows a folder without a segment: a log
    without records, which is left by a node that stopped while it created the partition.
    """
    torn = len(tally.torn)
    rules = rules._replace(gaps=rules.gaps or compacted or is_compacted(folder))
    bases = _segments(folder)
    if not bases and not may_be_empty:
        raise UsageError(f"{folder} has no segment of a log")
    start = end = bases[0] if bases else 0
    for base_offset in bases:
        if base_offset < end or (base_offset > end and not rules.gaps):
            problem = f"the segment begins at {base_offset}, the one before it ends before {end}"
            raise BadFile(problem, file=str(folder / (names.segment_name(base_offset) + names.LOG)), offset=0)
        end = segment(folder, base_offset, rules, last=base_offset == bases[-1]).check(tally)
    whole = len(tally.torn) == torn and not rules.live
    _snapshots(folder, end if whole else None, tally)
    newest = _checkpoints(folder, start, tally)
    tally.counts["partitions"] += 1
    return CheckedPartition(folder, start, end, whole, small_files(folder), newest)


def segment(folder: Path, base_offset: int, rules: Rules, *, last: bool) -> Segment:
    """The segment, with the rule for its leader epochs."""
    path = folder / names.LEADER_EPOCH
    entries = None
    if path.exists():
        with FileBytes(path) as data:
            entries = epoch_checkpoint.check(data.whole(), str(path))
    return Segment(folder, base_offset, last=last, epochs=EpochRule(entries, live=rules.live), rules=rules)


def is_compacted(folder: Path) -> bool:
    """Whether Kafka always compacts this topic, or has compacted this partition according to the
    cleaner's checkpoint."""
    partition = names.parse_partition_folder(folder.absolute().name)
    if partition is None:
        return False
    if partition[0] in _ALWAYS_COMPACTED:
        return True
    return partition in read_offsets(folder.absolute().parent / names.CLEANER_OFFSET)


def read_offsets(path: Path) -> Offsets:
    """Reads an offset checkpoint; empty when there is no file. Raises BadFile."""
    if not path.exists():
        return {}
    with FileBytes(path) as data:
        return offset_checkpoint.read(data.whole(), str(path))


def _segments(folder: Path) -> list[int]:
    """The base offsets of the segments. Raises BadFile for an index without its segment."""
    found = [(parsed, path) for path in sorted(folder.iterdir()) if (parsed := names.parse_file(path.name))]
    bases = [base for (base, suffix), _ in found if suffix == names.LOG]
    for (base, suffix), path in found:
        if suffix in _INDEXES and base not in bases:
            raise BadFile("an index of a segment that does not exist", file=str(path), offset=0)
    return bases


def _snapshots(folder: Path, end: int | None, tally: Tally) -> None:
    for path in sorted(folder.iterdir()):
        parsed = names.parse_file(path.name)
        if parsed and parsed[1] == names.SNAPSHOT:
            check_producers(path, parsed[0], tally)
            if end is not None and parsed[0] > end:
                raise BadFile(f"a snapshot of {parsed[0]}, where the log ends before {end}", file=str(path), offset=0)


def check_producers(path: Path, offset: int, tally: Tally) -> None:
    """Checks a producer snapshot: its checksum, and that it has no producer at or beyond its own
    offset."""
    with FileBytes(path) as data:
        for number, entry in enumerate(producer_snapshot.read(data.whole(), str(path))):
            if max(entry.last_offset, entry.current_txn_first_offset) >= offset:
                problem = f"producer {entry.producer_id} at offset {entry.last_offset} in a snapshot of {offset}"
                raise BadFile(problem, file=str(path), offset=producer_snapshot.position(number))
    tally.counts["snapshots"] += 1


def _checkpoints(folder: Path, start: int, tally: Tally) -> int:
    """Checks the snapshots of the metadata log, and returns the end of the newest. A log that does
    not start at 0 needs a snapshot that reaches its start (KIP-630)."""
    ids = []
    for path in sorted(folder.iterdir()):
        if (snapshot_id := names.parse_checkpoint(path.name)) is not None:
            check_snapshot(path, tally)
            ids.append(snapshot_id)
    partition = names.parse_partition_folder(folder.absolute().name)
    if partition and partition[0] == METADATA_TOPIC and start and not any(each.offset >= start for each in ids):
        raise BadFile(f"the log begins at {start}, and no snapshot reaches there", file=str(folder), offset=0)
    return max((each.offset for each in ids), default=-1)


def small_files(folder: Path) -> Uuid | None:
    """The topic id, if the folder has one. Checks the quorum state too, and raises BadFile."""
    quorum_state, metadata = folder / names.QUORUM_STATE, folder / names.PARTITION_METADATA
    if quorum_state.exists():
        with FileBytes(quorum_state) as data:
            quorum_state_format.read(data.whole(), str(quorum_state))
    if not metadata.exists():
        return None
    with FileBytes(metadata) as data:
        return partition_metadata.read(data.whole(), str(metadata)).topic_id
