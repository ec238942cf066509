"""The methods of KafkaDouble about its clock."""

from __future__ import annotations

from collections.abc import Callable

from kafkadouble.arguments.parameters import check
from kafkadouble.common.errors import UsageError
from kafkadouble.common.marking import verb
from kafkadouble.common.start_options import STEPPED
from kafkadouble.engine.verb_host import VerbHost
from kafkadouble.server.network.clock import AdvancingClock, SteppedClock, SystemClock, stands_still
from kafkadouble.wire.wording import VerbCall


class ClockVerbs(VerbHost):
    """A part of KafkaDouble."""

    @verb
    def advance(self, seconds: float) -> None:
        """Lets time pass, and does everything that is due. Raises UsageError unless the clock is
        stepped or frozen."""
        clock = self._still_clock()
        check(seconds=seconds)
        if seconds < 0:
            raise UsageError("time does not go backwards")
        broker, milliseconds = self._serving().broker, round(seconds * 1000)
        if self._steps is None:
            self._call(broker.advance, clock, milliseconds)
        else:
            self._steps.advance(lambda each: self._call(broker.advance, clock, each), milliseconds)

    def _still_clock(self) -> AdvancingClock:
        if isinstance(self._clock, SteppedClock | SystemClock) and stands_still(self._clock):
            return self._clock
        raise UsageError(
            "only a stepped clock can be advanced: give {option}, or {freeze} it",
            option=STEPPED,
            freeze=VerbCall("freeze"),
        )

    def _moves(self, advance: bool) -> Callable[[float], None] | None:
        """How a wait lets time pass, if it does. Raises UsageError for a clock that runs."""
        check(advance=advance)
        if not advance:
            return None
        self._still_clock()
        return self.advance

    @verb
    def freeze(self) -> None:
        """Stops the clock: nothing expires, and records that have no timestamp get the same one.
        `advance` moves a frozen clock as a stepped one. Does nothing if the clock stands still."""
        if not isinstance(self._clock, SteppedClock):
            self._change("frozen", SystemClock.freeze)

    @verb
    def unfreeze(self) -> None:
        """Lets a frozen clock go on, from the time at which it stands. Does nothing if it runs.
        Raises UsageError for a stepped clock."""
        self._change("unfrozen", SystemClock.unfreeze)

    @verb
    def scale(self, factor: float) -> None:
        """Makes the clock go `factor` times as fast as the machine's: with 10, a time-out of 45 s
        takes 4.5 s. `factor` is from 0.000001 to 1000000; with 1 the clock is as fast as at first.
        A frozen clock goes so fast when it goes on. Clients keep the machine's time, so a large
        factor ends the sessions of members, and of brokers that cannot send their heartbeats as
        fast. Raises UsageError for a stepped clock."""
        check(factor=factor)
        self._change("scaled", lambda clock: clock.scale(factor))

    def _change(self, what: str, change: Callable[[SystemClock], None]) -> None:
        clock = self._clock
        if not isinstance(clock, SystemClock):
            kind = "a stepped clock" if isinstance(clock, SteppedClock) else f"the clock {clock!r}"
            problem = f"{kind} is not {what}: only the machine's clock is, without {{option}}"
            raise UsageError(problem, option=STEPPED)
        broker = self._serving().broker

        def changed() -> None:
            change(clock)
            broker.clock_changed()

        self._call(changed)
        if self._steps is not None:
            self._steps.clock_changed()

    def _restore_clock(self) -> None:
        if isinstance(self._clock, SystemClock) and self._clock.is_changed:
            self._change("restored", SystemClock.restore)
