"""Checks a snapshot of the metadata log (KIP-630): complete, without gaps, in one epoch, from its
header to its footer."""

from __future__ import annotations

from pathlib import Path

from kafkadouble.dump.contents.file import FileBytes
from kafkadouble.server.log.formats import BadFile, names
from kafkadouble.server.log.formats.scan import ScannedBatch, scan
from kafkadouble.wire.batch import SNAPSHOT_FOOTER, SNAPSHOT_HEADER, control_type, records_of
from kafkadouble.wire.errors import WireError

from .check_segment import count_records
from .verdict import Tally


def check_snapshot(path: Path, tally: Tally) -> None:
    """Checks a snapshot. Raises BadFile. A snapshot that is cut off is not a torn tail: a snapshot
    gets its name when it is complete."""
    file, last, at = str(path), None, 0
    with FileBytes(path) as data:
        for found in scan(data, 0, file):
            if found.problem is not None:
                raise BadFile(found.problem.problem, file=file, offset=found.problem.offset, path=found.problem.path)
            assert isinstance(found, ScannedBatch)
            _place(found, last, path)
            tally.counts["batches"] += 1
            tally.counts["records"] += count_records(found, file)
            last, at = found, found.position
        if last is None:
            raise BadFile("a snapshot without a batch", file=file, offset=0)
        if _control(last, -1) != SNAPSHOT_FOOTER:
            raise BadFile("the last record of a snapshot is its footer, this one is not", file=file, offset=at)
    tally.counts["checkpoints"] += 1


def _place(batch: ScannedBatch, before: ScannedBatch | None, path: Path) -> None:
    """Checks that offsets begin at 0 without gaps, and that the epoch in the snapshot's name is in
    every batch."""
    header, snapshot_id = batch.header, names.parse_checkpoint(path.name)
    expected = 0 if before is None else before.header.next_offset
    epoch = before.header.partition_leader_epoch if before is not None else header.partition_leader_epoch
    problem = None
    if header.base_offset != expected:
        problem = f"offset {header.base_offset} where {expected} is due"
    elif header.partition_leader_epoch != (epoch if snapshot_id is None else snapshot_id.epoch):
        problem = f"leader epoch {header.partition_leader_epoch} in a snapshot of another"
    elif before is None and _control(batch, 0) != SNAPSHOT_HEADER:
        problem = "the first record of a snapshot is its header, this one is not"
    if problem is not None:
        raise BadFile(problem, file=str(path), offset=batch.position)


def _control(batch: ScannedBatch, index: int) -> int | None:
    """The type of the control record at this index of a batch; None for anything else."""
    try:
        records = records_of(batch.data, 0, batch.header)
        return control_type(records[index])[1] if batch.header.is_control and records else None
    except WireError:
        return None
