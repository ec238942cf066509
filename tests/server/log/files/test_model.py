"""The log in files against the model, which is a list. Now and then the log is closed cleanly and
opened again.
"""

from __future__ import annotations

from hypothesis import settings
from hypothesis.stateful import rule

from kafkadouble.server.log.config import LogConfig
from kafkadouble.server.log.files.opening import open_log
from kafkadouble.server.log.log import PartitionLog
from tests.server.log.log_machine import LogMachine

from ..batches import NOW
from .lossy_disk import LossyDisk

CONFIG = LogConfig.of({"segment.bytes": 15_000, "index.interval.bytes": 1000})


class FileLogMachine(LogMachine):
    """The same, over a disk in memory."""

    def make_log(self) -> PartitionLog:
        self.disk = LossyDisk()
        return self.open()

    def open(self, start: int = 0) -> PartitionLog:
        return open_log(self.disk, "t-0", "t", 0, CONFIG, clean=True, recovery_point=0, log_start_offset=start, now=NOW)

    @rule()
    def close_and_open(self) -> None:
        epochs, producers = self.log.epochs.entries, {producer.producer_id for producer in self.log.producers}
        self.log.close()
        self.log = self.open(self.start)
        last = self.batches[-1].last if self.batches else -1
        assert max(last + 1, self.start) <= self.log.log_end_offset <= self.end
        # As in Kafka, offsets that were truncated from within a batch are assigned again.
        self.end = self.log.log_end_offset
        self.watermark = self.log.high_watermark = min(self.watermark, self.end)
        # An empty log may have restarted, as Kafka's does when all records are gone and no record
        # has the log start offset.
        if self.log.size:
            left = [entry for entry in epochs if entry.offset < self.end]
            # without a checkpoint the batches tell
            assert self.log.epochs.entries == left or not epochs
            assert {producer.producer_id for producer in self.log.producers} == producers


FileLogMachine.TestCase.settings = settings(max_examples=40, stateful_step_count=50, deadline=None)
test_the_log_in_files_is_a_list = FileLogMachine.TestCase
