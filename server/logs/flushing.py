"""Flushes beside the loop: what must outlive the machine before it counts is flushed on another thread, in groups, and nobody else waits.

    partition.append(...)               # flush.messages is reached: the high watermark stays behind, and the partition is wanted here
    work = flushing.begin()             # the shell takes all that is wanted, unless it is at it already
    results = run(work)                 # on a thread of its own
    flushing.end(work, results)         # back on the loop: high watermarks move on, and with them whoever waits

Rules. What is wanted again while it is being flushed has its turn afterwards. What cannot be flushed is never committed: its log directory is
at fault, and refuses from then on. This file starts no thread and touches no file.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

from ..log.files.errors import DiskFailure
from ..log.storage import Flush

log = logging.getLogger("kafkadouble.server.logs")


class Written(Protocol):
    """What is to be flushed: a log, or what is like one in this."""

    @property
    def log_end_offset(self) -> int: ...

    def unflushed(self) -> Flush | None: ...


class Owner(Protocol):
    """Whoever has something flushed: a partition, the controller, a snapshot that is written."""

    @property
    def log(self) -> Written: ...

    def flushed(self, offset: int) -> None:
        """A flush of everything below `offset` was done."""
        ...


class Job(NamedTuple):
    """Whose log it is, and what is to be done for it."""

    owner: Owner
    flush: Flush


Result = DiskFailure | None
"""What came of a job: nothing is as it should be."""


class Flushing:
    """What is to be flushed. The shell is to `begin` when something is `wanted`."""

    __slots__ = ("under_way", "wanted")

    def __init__(self) -> None:
        self.wanted: dict[Owner, None] = {}
        self.under_way = False

    def want(self, owner: Owner) -> None:
        """Have everything flushed that is in the owner's log by the time of `begin`."""
        self.wanted[owner] = None

    @property
    def busy(self) -> bool:
        """Whether something may be held back."""
        return bool(self.wanted) or self.under_way

    def begin(self) -> list[Job]:
        """All that is wanted, to be followed by `end`; nothing while others are under way."""
        if self.under_way:
            return []
        wanted, self.wanted = self.wanted, {}
        found = []
        for owner in wanted:
            with suppress(DiskFailure):  # the node tells of it
                flush = owner.log.unflushed()
                if flush is None:
                    owner.flushed(owner.log.log_end_offset)
                else:
                    found.append(Job(owner, flush))
        self.under_way = bool(found)
        return found

    def end(self, jobs: Sequence[Job], results: Sequence[Result]) -> None:
        """The jobs are done."""
        self.under_way = False
        for (owner, flush), failure in zip(jobs, results, strict=True):
            if failure is None:
                owner.flushed(flush.offset)
            else:
                log.warning("%r is not flushed: %s", owner, failure)

    def __repr__(self) -> str:
        return f"{len(self.wanted)} logs to be flushed{', others under way' if self.under_way else ''}"


def run(jobs: Sequence[Job]) -> list[Result]:
    """Do the work of `begin`. It takes as long as the disks do: not for the loop's thread."""
    return [_run(job) for job in jobs]


def _run(job: Job) -> Result:
    try:
        job.flush.run()
    except DiskFailure as failure:
        return failure
    return None
