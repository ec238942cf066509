"""The end offsets of the logs of a log directory, now and at earlier times, from the timestamps of
their batches."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kafkadouble.server.log.formats import names
from kafkadouble.wire.errors import UsageError

from ..logs import batches
from ..logs.options import EARLIEST, LATEST, SKIP, LogOptions
from ..logs.pieces import plan

_NAMES = ("last_offset", "max_timestamp")


class End(NamedTuple):
    """The end offsets of one partition. `times` (ms) never decrease, although the clocks of
    producers may disagree."""

    first: int
    times: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]

    @property
    def now(self) -> int:
        """The end offset of its files."""
        return int(self.ends[-1]) if len(self.ends) else self.first

    def at(self, timestamp: int) -> int:
        """The offset after the last batch whose records are not later than this."""
        before = int(np.searchsorted(self.times, timestamp, side="right"))
        return int(self.ends[before - 1]) if before else self.first


class LogDirectoryEnds:
    """The end offsets of one log directory; each log is read once, on first use."""

    def __init__(self, directory: str, options: LogOptions) -> None:
        self._directory = directory
        self._options = options._replace(
            topics=(), partitions=(), starting_offsets=EARLIEST, starting_timestamp=None, ending_offsets=LATEST,
            ending_timestamp=None, verify_crc=False, on_corrupt=SKIP, fail_on_data_loss=False,
        )  # fmt: skip
        self._known: dict[tuple[str, int], End | None] = {}

    def of(self, topic: str, partition: int) -> End | None:
        """The end offsets of a partition; None when its log is missing."""
        key = (topic, partition)
        if key not in self._known:
            self._known[key] = self._read(names.partition_folder(topic, partition))
        return self._known[key]

    def _read(self, folder: str) -> End | None:
        try:
            pieces = plan([f"{self._directory}/{folder}"], self._options, split=False)
        except UsageError:
            return None
        found = [batch for piece in pieces for batch in batches.read(piece, _NAMES, self._options)]
        ends, times = (
            np.concatenate(
                [np.zeros(0, np.int64), *(batch.column(name).cast("int64").fill_null(0).to_numpy() for batch in found)]
            )
            for name in _NAMES
        )
        first = pieces[0].segment.base_offset or 0 if pieces else 0
        return End(first, np.maximum.accumulate(times // 1000), ends + 1)
