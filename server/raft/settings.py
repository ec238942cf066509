"""The settings of the quorum, with Kafka's names and Kafka 4.4's defaults (KIP-595, KIP-853,
KIP-1186, KIP-1219).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

NAMES = {
    "controller.quorum.election.timeout.ms": "election_timeout_ms",
    "controller.quorum.fetch.timeout.ms": "fetch_timeout_ms",
    "controller.quorum.election.backoff.max.ms": "election_backoff_max_ms",
    "controller.quorum.append.linger.ms": "append_linger_ms",
    "controller.quorum.request.timeout.ms": "request_timeout_ms",
    "controller.quorum.retry.backoff.ms": "retry_backoff_ms",
    "controller.quorum.fetch.max.bytes": "fetch_max_bytes",
    "controller.quorum.fetch.snapshot.max.bytes": "fetch_snapshot_max_bytes",
    "controller.quorum.auto.join.enable": "auto_join",
}
"""Kafka's name -> the attribute."""


class QuorumSettings(NamedTuple):
    """Times in ms, sizes in bytes."""

    # without a leader; each wait is random, up to twice as long
    election_timeout_ms: int = 1000
    # without a fetch from a majority (1.5 times this), or from the leader
    fetch_timeout_ms: int = 2000
    election_backoff_max_ms: int = 1000  # the wait of the last preferred successor
    # how long appends may wait for a common flush
    append_linger_ms: int = 25
    request_timeout_ms: int = 2000
    retry_backoff_ms: int = 20
    fetch_max_bytes: int = 1 << 20  # of a follower's fetch (KIP-1219)
    fetch_snapshot_max_bytes: int = 1 << 20
    auto_join: bool = False  # a controller joins the voters by itself (KIP-1186)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "QuorumSettings":
        """From Kafka's names to typed values; other names are ignored."""
        return cls(**{NAMES[name]: value for name, value in settings.items() if name in NAMES})
