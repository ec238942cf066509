"""The methods of KafkaDouble that arm a fault rule for connections of clients, or with `link` for
links between the nodes of the double.

A rule of these lasts until it is removed, unless `times` or `for_seconds` is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .arming import ArmingVerbs

if TYPE_CHECKING:
    from typing import Unpack

    from kafkadouble.rules.rule_handle import RuleHandle
    from kafkadouble.server.faults.narrowing import LineNarrowing


class ConnectionFaultVerbs(ArmingVerbs):
    """A part of KafkaDouble."""

    def refuse_connections(self, **more: Unpack[LineNarrowing]) -> RuleHandle:
        """Resets each new connection at once. Connections that exist go on."""
        return self._arm_lasting("refuse_connections", **more)

    def latency(self, seconds: float, *, jitter: float = 0.0, **more: Unpack[LineNarrowing]) -> RuleHandle:
        """Lets bytes pass so many seconds of the broker's clock later, in each direction, and with
        `jitter` up to so many seconds earlier or later than that. Their order stays."""
        return self._arm_lasting("latency", seconds=seconds, jitter=jitter, **more)

    def bandwidth(self, bytes_per_second: int, **more: Unpack[LineNarrowing]) -> RuleHandle:
        """Lets so many bytes pass in a second, in each direction of each connection."""
        return self._arm_lasting("bandwidth", bytes_per_second=bytes_per_second, **more)

    def slice_frames(self, bytes: int, *, gap: float = 0.0, **more: Unpack[LineNarrowing]) -> RuleHandle:
        """Lets bytes pass in pieces of at most `bytes`, each `gap` seconds after the one before
        it."""
        return self._arm_lasting("slice_frames", bytes=bytes, gap=gap, **more)

    def reset_after(self, bytes: int, **more: Unpack[LineNarrowing]) -> RuleHandle:
        """Resets each connection when so many bytes have passed on it since the rule was armed, in
        both directions together."""
        return self._arm_lasting("reset_after", bytes=bytes, **more)

    def half_open(self, **more: Unpack[LineNarrowing]) -> RuleHandle:
        """Neither reads nor answers anything on connections, and keeps them open, until the rule is
        released. Then everything that was held goes on."""
        return self._arm_lasting("half_open", **more)

    def slow_close(self, seconds: float, **more: Unpack[LineNarrowing]) -> RuleHandle:
        """Closes connections so many seconds later than they would be closed."""
        return self._arm_lasting("slow_close", seconds=seconds, **more)

    def _arm_lasting(self, action: str, **fields: Any) -> RuleHandle:
        return self._arm(action, **{"times": None, **fields})
