"""The actions of fault rules on the connections of clients, and on the links between nodes.

A link carries whole messages, so what is said of bytes holds for the bytes of its messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RefuseConnections:
    """Reset each new connection at once, before a byte passes. Connections that exist go on. On a
    link: fail each request at once."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Let bytes pass `seconds` after they came, in each direction; with `jitter`, up to so many
    seconds earlier or later. Their order stays."""

    seconds: float
    jitter: float = 0.0


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Let so many bytes pass in a second, in each direction."""

    bytes_per_second: int


@dataclass(frozen=True, slots=True)
class SliceFrames:
    """Let bytes pass in pieces of at most `bytes`, each `gap` seconds after the one before it."""

    bytes: int
    gap: float = 0.0


@dataclass(frozen=True, slots=True)
class ResetAfter:
    """Reset the connection when `bytes` have passed, counted from when the rule was armed, in both
    directions together."""

    bytes: int


@dataclass(frozen=True, slots=True)
class HalfOpen:
    """Let nothing pass in either direction, and keep the connection open, as after a cable was
    pulled. Held bytes are delivered when the rule is released."""


@dataclass(frozen=True, slots=True)
class SlowClose:
    """Close a connection `seconds` later than it would be closed. On a link: let the sender learn
    so much later that the receiver has left."""

    seconds: float


def close_delay_ms(actions: Iterable[object]) -> int:
    """How much later these actions together close a connection."""
    return round(sum(each.seconds for each in actions if isinstance(each, SlowClose)) * 1000)
