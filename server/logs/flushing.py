"""Flushes logs outside of the event loop: on another thread, several logs at once, and no other
request waits for them.

    partition.append(...)         # flush.messages is reached: the partition asks for a flush
    work = flushing.begin()       # the shell takes all flushes, unless others are under way
    results = run(work)           # on a thread of its own
    flushing.end(work, results)   # on the loop: high watermarks move, waiting requests go on

Rules. A flush that is asked for during another one comes after it. Records that cannot be flushed
are never committed: the log directory has failed, and refuses every later write. This file starts
no thread and touches no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

from kafkadouble.wire.client_log import ClientLog

from ..log.files.errors import DiskFailure
from ..log.storage import Flush

log = ClientLog("kafkadouble.server.logs")


class FlushableLog(Protocol):
    """A log, or something else that is flushed like one."""

    @property
    def log_end_offset(self) -> int: ...

    def unflushed(self) -> Flush | None: ...


class FlushOwner(Protocol):
    """The owner of what is flushed: a partition, the controller, a snapshot that is being
    written."""

    @property
    def log(self) -> FlushableLog: ...

    def flushed(self, offset: int) -> None:
        """The flush of everything below `offset` was done."""
        ...


class FlushJob(NamedTuple):
    """One flush, its owner, and the log that is flushed. The owner may have another log at the end:
    its replica has moved to another log directory."""

    owner: FlushOwner
    flush: Flush
    log: FlushableLog


FlushResult = DiskFailure | None
"""The failure of a job; None when it was done."""


class FlushQueue:
    """The flushes to do. The shell calls `begin` when `due` is not empty, and reports the end of
    those flushes `slow_ms` later, which a fault rule sets meanwhile."""

    __slots__ = ("due", "slow_ms", "under_way")

    def __init__(self) -> None:
        self.due: dict[FlushOwner, None] = {}
        self.under_way, self.slow_ms = False, 0

    def want(self, owner: FlushOwner) -> None:
        """Asks for a flush of everything that is in the owner's log at the time of `begin`."""
        self.due[owner] = None

    @property
    def busy(self) -> bool:
        """Whether a request may be waiting for a flush."""
        return bool(self.due) or self.under_way

    def begin(self) -> list[FlushJob]:
        """Takes all flushes that are due; `end` must follow. Nothing while others are under way."""
        if self.under_way:
            return []
        owners, self.due = self.due, {}
        self.slow_ms, found = 0, []
        for owner in owners:
            with suppress(DiskFailure):  # the node reports it
                flush = owner.log.unflushed()
                if flush is None:
                    owner.flushed(owner.log.log_end_offset)
                else:
                    found.append(FlushJob(owner, flush, owner.log))
        self.under_way = bool(found)
        return found

    def end(self, jobs: Sequence[FlushJob], results: Sequence[FlushResult]) -> None:
        """The jobs are done."""
        self.under_way = False
        for (owner, flush, flushed), failure in zip(jobs, results, strict=True):
            if failure is None and owner.log is not flushed:
                continue
            if failure is None:
                owner.flushed(flush.offset)
            else:
                log.warning("%r is not flushed: %s", owner, failure)

    def __repr__(self) -> str:
        return f"{len(self.due)} logs to be flushed{', others under way' if self.under_way else ''}"


def run(jobs: Sequence[FlushJob]) -> list[FlushResult]:
    """Runs the work of `begin`. It takes as long as the disks need, so never on the loop's
    thread."""
    return [_run(job) for job in jobs]


def _run(job: FlushJob) -> FlushResult:
    try:
        job.flush.run()
    except DiskFailure as failure:
        return failure
    return None
