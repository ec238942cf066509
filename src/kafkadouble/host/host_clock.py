"""The clock of a double: how it stands still, goes, and is brought back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkadouble.arguments.parameters import check
from kafkadouble.common.errors import UsageError
from kafkadouble.common.start_options import STEPPED
from kafkadouble.server.network.clock import AdvancingClock, SteppedClock, SystemClock, stands_still
from kafkadouble.wire.wording import VerbCall

if TYPE_CHECKING:
    from .steps import Timed


def advance(host: Timed, seconds: float) -> None:
    """Advances the clock. Raises UsageError for a clock that runs."""
    clock = _still_clock(host)
    check(seconds=seconds)
    if seconds < 0:
        raise UsageError("time does not go backwards")
    broker, milliseconds = host.serving().broker, round(seconds * 1000)
    if host.steps is None:
        host.call(broker.advance, clock, milliseconds)
    else:
        host.steps.advance(lambda each: host.call(broker.advance, clock, each), milliseconds)


def _still_clock(host: Timed) -> AdvancingClock:
    if isinstance(host.clock, SteppedClock | SystemClock) and stands_still(host.clock):
        return host.clock
    raise UsageError(
        "only a stepped clock can be advanced: give {option}, or {freeze} it",
        option=STEPPED,
        freeze=VerbCall("freeze"),
    )


def moves(host: Timed, advances: bool) -> Callable[[float], None] | None:
    """The function with which a wait advances the clock, if it does. UsageError for a clock that
    runs."""
    check(advance=advances)
    if not advances:
        return None
    _still_clock(host)
    return host.double.advance


def change(host: Timed, what: str, how: Callable[[SystemClock], None]) -> None:
    """Changes how the machine's clock goes. UsageError for another clock."""
    clock = host.clock
    if not isinstance(clock, SystemClock):
        kind = "a stepped clock" if isinstance(clock, SteppedClock) else f"the clock {clock!r}"
        problem = f"{kind} is not {what}: only the machine's clock is, without {{option}}"
        raise UsageError(problem, option=STEPPED)
    broker = host.serving().broker

    def changed() -> None:
        how(clock)
        broker.clock_changed()

    host.call(changed)
    if host.steps is not None:
        host.steps.clock_changed()


def restore(host: Timed) -> None:
    """A clock that was frozen or scaled is as it was at first."""
    if isinstance(host.clock, SystemClock) and host.clock.is_changed:
        change(host, "restored", SystemClock.restore)
