"""KIP-1219: over how slow a link a new controller still catches up, by how much it asks for at once.

    python -m tests.simulation.bandwidth        the table

A controller that begins with nothing must have the answer to each FetchSnapshot, or Fetch, before its timeouts (two seconds each) are over; it
asks for the same again otherwise, for ever. The KIP's motivation, and its figure, "as low as 500Kb/s", are looked at here with Kafka's default
timeouts: a mebibyte in two seconds are 524 kilobytes in one, so the figure is one of bytes. No log is read by more than 4 MiB at
once here, so a Fetch that asks for 8 fares as if it had asked for 4.
"""

from __future__ import annotations

from typing import NamedTuple

from .slow_link import LATE, SlowLink
from .world import Ended

KIB, MIB = 1 << 10, 1 << 20
OF_THE_KIP = 5_000_000
"""Bits per second of a link on which 8 MiB at once never arrive, and 1 MiB do."""

KIPS_FIGURE = 500_000 * 8
CAPS = (8 * MIB, 4 * MIB, 2 * MIB, MIB, 256 * KIB)
PIECES = 16
"""What is asked for at once is so many batches."""

STUCK = 60_000
"""Who has got nowhere after so much more time (ms) than it takes to send everything once never will."""

APIS = ("FetchSnapshot", "Fetch")


class Outcome(NamedTuple):
    """`seconds` until it had caught up, None: never; how often it asked for votes; whether the leader's epoch stayed what it was."""

    seconds: float | None
    prospective: int
    is_undisturbed: bool


def catch_up(api: str, rate: int, cap: int) -> Outcome:
    """A new controller over a link of so many bits per second, which asks for so much at once; there is a little more than that to get."""
    slow = SlowLink(rate, cap)
    batch = cap // PIECES - 100
    size = cap + 3 * batch
    if api == "FetchSnapshot":
        slow.write_snapshot(size, batch)
    else:
        slow.append(*[batch] * (PIECES + 3))
    leader, late, begun = slow.leader, slow.start(LATE), slow.world.now
    epoch, end = leader.replica.epoch, leader.replica.log.end_offset
    limit = STUCK + size * 8000 // rate
    try:
        slow.world.run_until(lambda: late.replica.log.high_watermark >= end, limit)
    except Ended:
        seconds = None
    else:
        seconds = (slow.world.now - begun) / 1000
    return Outcome(seconds, late.parts.count("ProspectiveState"), leader.replica.epoch == epoch)


def least(api: str, cap: int, precision: float = 0.01) -> int:
    """The least bits per second with which it catches up."""
    low, high = cap, cap * 40  # eight and less than a fifth of a second for what is asked for at once
    while high > low * (1 + precision):
        middle = (low + high) // 2
        if catch_up(api, middle, cap).seconds is None:
            low = middle
        else:
            high = middle
    return high


def shown(size: int) -> str:
    return f"{size // MIB} MiB" if size >= MIB else f"{size // KIB} KiB"


def main() -> None:
    print(
        f"at {OF_THE_KIP / 1e6:g} Mbit/s, and the least; KIP-1219 says of 1 MiB: 500 Kb/s, which in bytes are {KIPS_FIGURE / 1e6:g} Mbit/s"
    )
    print(
        f"{'asks for':>8}  "
        + "  ".join(f"{api + ' at ' + format(OF_THE_KIP / 1e6, 'g') + ' Mbit/s':28} {'least':>12}" for api in APIS)
    )
    for cap in CAPS:
        cells = []
        for api in APIS:
            found = catch_up(api, OF_THE_KIP, cap)
            told = (
                f"never; asks for votes {found.prospective} times"
                if found.seconds is None
                else f"in {found.seconds:.1f} s"
            )
            cells.append(f"{told:28} {least(api, cap) / 1e6:5.2f} Mbit/s")
        print(f"{shown(cap):>8}  " + "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
