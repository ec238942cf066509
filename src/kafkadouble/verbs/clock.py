"""The methods of KafkaDouble about its clock."""

from __future__ import annotations

from kafkadouble.arguments import check
from kafkadouble.errors import UsageError
from kafkadouble.server.network.clock import SteppedClock

from .host import VerbHost
from .registry import verb


class ClockVerbs(VerbHost):
    """A part of KafkaDouble."""

    @verb
    def advance(self, seconds: float) -> None:
        """Lets time pass, and does everything that is due. Raises UsageError without a stepped
        clock."""
        clock = self._clock
        if not isinstance(clock, SteppedClock):
            raise UsageError("only a stepped clock can be advanced: give stepped=True")
        check(seconds=seconds)
        if seconds < 0:
            raise UsageError("time does not go backwards")
        self._call(self._serving().broker.advance, clock, round(seconds * 1000))
