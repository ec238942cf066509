"""Captures the traffic between clients and brokers, in a thread of its own, from one start to one
stop.

No client waits for the capture. Rows are converted to columns a few thousand at a time, with a
pause after each slice. A part is written when it has enough rows or bytes, or after a time limit.
Rows that cannot be written are lost and counted, with one error message a run; the server
continues.
"""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.server.tracing.capture import Capture
from kafkadouble.wire.client_log import ClientLog

from .capture_files import CaptureFiles

if TYPE_CHECKING:
    import pyarrow as pa

log = ClientLog("kafkadouble")

LOOK_S = 0.5
"""How often the thread takes the new rows, in seconds."""

PART_S, PART_OF_RUN = 10, 100
"""A part is written after `PART_S` seconds; in a long run, after the run's length divided by
`PART_OF_RUN`. Without the second rule, a run of a day would write thousands of files."""

PART_ROWS, PART_BYTES = 1 << 17, 64 << 20
SLICE, PAUSE_S = 4096, 0.001
"""The number of rows that are converted in one step, and the pause after it in seconds, in which
other threads run. Each column of a slice takes a fraction of a millisecond."""


class CaptureOptions(NamedTuple):
    """The path for captured traffic, and whether the contents of messages are captured too, as
    JSON, and their bytes."""

    path: str
    bodies: bool = False
    frames: bool = False


class Capturing:
    """A run of the capture. Brokers write to `capture`. Raises UsageError when the path cannot be
    written."""

    def __init__(self, options: CaptureOptions) -> None:
        epoch = time.time_ns() - time.perf_counter_ns()
        self._files = CaptureFiles(options.path, run := _name(time.time()), frames=options.frames)
        self.capture = Capture(time.perf_counter_ns, epoch, bodies=options.bodies, frames=options.frames)
        self._run, self._process = run, os.getpid()
        self._batches: list[pa.RecordBatch] = []
        # The number of rows in the batches, and their size in bytes.
        self._held = self._held_bytes = 0
        self._rows = self._lost = 0
        self._troubled = False
        self._began = self._last = time.monotonic()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._main, name="kafkadouble-capture", daemon=True)
        self._thread.start()

    def _main(self) -> None:
        while not self._ended.wait(LOOK_S):
            self._gather(PAUSE_S)
            now = time.monotonic()
            if now - self._last >= max(PART_S, (now - self._began) / PART_OF_RUN):
                self._write()
        self._gather(0)
        self._write()

    def _gather(self, pause: float) -> None:
        """Converts all rows that are there into columns."""
        from kafkadouble.pipeline.traffic.schema import batch_of  # an extra

        while rows := self.capture.take(SLICE):
            try:
                batch = batch_of(self._run, rows, self.capture.wants_frames)
            except Exception as problem:  # a capture that fails does not disturb the broker
                self._lose(len(rows), problem)
                continue
            self._batches.append(batch)
            self._held += len(rows)
            self._held_bytes += batch.nbytes
            if self._held >= PART_ROWS or self._held_bytes >= PART_BYTES:
                self._write()
            time.sleep(pause)

    def _write(self) -> None:
        batches, count = self._batches, self._held
        self._batches, self._held, self._held_bytes = [], 0, 0
        self._last = time.monotonic()
        if not batches:
            return
        try:
            self._files.add(batches)
            self._rows += count
        except Exception as problem:  # a capture that fails does not disturb the broker
            self._lose(count, problem)

    def _lose(self, count: int, problem: Exception) -> None:
        self._lost += count
        if not self._troubled:
            self._troubled = True
            log.error("captured traffic is lost, as %r does not take it: %s", self._files, problem)

    @property
    def lost(self) -> int:
        """The number of requests that could not be written."""
        return self._lost + self.capture.lost

    def close(self) -> None:
        """Writes what is left and ends the run. Later calls do nothing, nor does a call in a forked
        process."""
        if self._process != os.getpid() or self._ended.is_set():
            return
        self._ended.set()
        self._thread.join()
        try:
            self._files.close()
        except Exception as problem:  # a capture that fails does not disturb the broker
            log.error("%r cannot be written, its parts are kept: %s", self._files, problem)
        log.info("%r", self)

    def __repr__(self) -> str:
        return f"{self._rows} requests captured in {self._files!r}, {self.lost} lost"


def _name(now: float) -> str:
    """The name of the run: its start time and its process id. No other run has the same name."""
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime(now))}.{int(now * 1e6) % 1_000_000:06}-{os.getpid()}"
