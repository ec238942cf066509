"""The methods of KafkaDouble that arm a fault rule for connections of clients, or with `link` for
links between the nodes of the double.

A rule of these lasts until it is removed, unless `times` or `for_seconds` is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.common.marking import verb

from .arming import arm_of

if TYPE_CHECKING:
    from typing import Unpack

    from kafkadouble.host.host import Host
    from kafkadouble.rules.rule_handle import RuleHandle
    from kafkadouble.server.faults.narrowing import LineNarrowing


@verb
def refuse_connections(host: Host, **more: Unpack[LineNarrowing]) -> RuleHandle:
    """Resets each new connection at once. Connections that exist go on."""
    return _arm_lasting(host, "refuse_connections", **more)


@verb
def latency(host: Host, seconds: float, *, jitter: float = 0.0, **more: Unpack[LineNarrowing]) -> RuleHandle:
    """Lets bytes pass so many seconds of the broker's clock later, in each direction, and with
    `jitter` up to so many seconds earlier or later than that. Their order stays."""
    return _arm_lasting(host, "latency", seconds=seconds, jitter=jitter, **more)


@verb
def bandwidth(host: Host, bytes_per_second: int, **more: Unpack[LineNarrowing]) -> RuleHandle:
    """Lets so many bytes pass in a second, in each direction of each connection."""
    return _arm_lasting(host, "bandwidth", bytes_per_second=bytes_per_second, **more)


@verb
def slice_frames(host: Host, bytes: int, *, gap: float = 0.0, **more: Unpack[LineNarrowing]) -> RuleHandle:
    """Lets bytes pass in pieces of at most `bytes`, each `gap` seconds after the one before
    it."""
    return _arm_lasting(host, "slice_frames", bytes=bytes, gap=gap, **more)


@verb
def reset_after(host: Host, bytes: int, **more: Unpack[LineNarrowing]) -> RuleHandle:
    """Resets each connection when so many bytes have passed on it since the rule was armed, in
    both directions together."""
    return _arm_lasting(host, "reset_after", bytes=bytes, **more)


@verb
def half_open(host: Host, **more: Unpack[LineNarrowing]) -> RuleHandle:
    """Neither reads nor answers anything on connections, and keeps them open, until the rule is
    released. Then everything that was held goes on."""
    return _arm_lasting(host, "half_open", **more)


@verb
def slow_close(host: Host, seconds: float, **more: Unpack[LineNarrowing]) -> RuleHandle:
    """Closes connections so many seconds later than they would be closed."""
    return _arm_lasting(host, "slow_close", seconds=seconds, **more)


def _arm_lasting(host: Host, action: str, **fields: Any) -> RuleHandle:
    return arm_of(host, action, **{"times": None, **fields})
