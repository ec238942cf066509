"""Reads the runs of batches of a piece, and handles a file that was deleted in the meantime."""

from __future__ import annotations

from collections.abc import Iterator

from .batch_runs import HEADER_BYTES, BatchRun, UnreadableRange, batch_runs
from .options import LogOptions
from .pieces import SegmentPiece
from .segment_file import Vanished, opened


def parts(piece: SegmentPiece, options: LogOptions, most: int = HEADER_BYTES) -> Iterator[BatchRun | UnreadableRange]:
    """The runs of batches of a piece. If its file was deleted, `failOnDataLoss` decides: raises
    Vanished, or returns nothing."""
    try:
        with opened(piece.segment, piece.end) as file:
            yield from batch_runs(file, piece.segment, piece.start, piece.end, options.on_corrupt, most)
    except Vanished as vanished:
        if options.fail_on_data_loss:
            raise Vanished(f"{vanished} (failOnDataLoss=false passes over it)") from None
