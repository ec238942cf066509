"""The actions of fault rules on the files of partitions in a log directory."""

from __future__ import annotations

from dataclasses import dataclass

APPEND, READ, FLUSH = "append", "read", "flush"


@dataclass(frozen=True, slots=True)
class DiskFull:
    """Fail an append with ENOSPC."""


@dataclass(frozen=True, slots=True)
class DiskError:
    """Fail an append, a read or a flush with EIO."""

    on: str = APPEND


@dataclass(frozen=True, slots=True)
class DiskSlow:
    """Let a flush take `seconds` of the broker's clock."""

    seconds: float


@dataclass(frozen=True, slots=True)
class LoseFlushes:
    """Reports a flush as done without doing it. The writes that the flush covered are lost when the
    broker is killed."""
