"""The methods of KafkaDouble about its clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.arguments.parameters import check
from kafkadouble.common.marking import verb
from kafkadouble.host import host_clock
from kafkadouble.server.network.clock import SteppedClock, SystemClock

if TYPE_CHECKING:
    from kafkadouble.host.host import Host


@verb
def advance(host: Host, seconds: float) -> None:
    """Lets time pass, and does everything that is due. Raises UsageError unless the clock is
    stepped or frozen."""
    host_clock.advance(host, seconds)


@verb
def freeze(host: Host) -> None:
    """Stops the clock: nothing expires, and records that have no timestamp get the same one.
    `advance` moves a frozen clock as a stepped one. Does nothing if the clock stands still."""
    if not isinstance(host.clock, SteppedClock):
        host_clock.change(host, "frozen", SystemClock.freeze)


@verb
def unfreeze(host: Host) -> None:
    """Lets a frozen clock go on, from the time at which it stands. Does nothing if it runs.
    Raises UsageError for a stepped clock."""
    host_clock.change(host, "unfrozen", SystemClock.unfreeze)


@verb
def scale(host: Host, factor: float) -> None:
    """Makes the clock go `factor` times as fast as the machine's: with 10, a time-out of 45 s
    takes 4.5 s. `factor` is from 0.000001 to 1000000; with 1 the clock is as fast as at first.
    A frozen clock goes so fast when it goes on. Clients keep the machine's time, so a large
    factor ends the sessions of members, and of brokers that cannot send their heartbeats as
    fast. Raises UsageError for a stepped clock."""
    check(factor=factor)
    host_clock.change(host, "scaled", lambda clock: clock.scale(factor))
