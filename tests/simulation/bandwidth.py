"""KIP-1219: the slowest link over which a new controller still catches up, by the size of its
requests.

    python -m tests.simulation.bandwidth        the table

A controller with an empty log must have the answer to each FetchSnapshot, or Fetch, before its
timeouts (two seconds each) are over; otherwise it requests the same again, for ever. This module
measures the KIP's motivation, and its figure, "as low as 500Kb/s", with Kafka's default timeouts: a
mebibyte in two seconds is 524 kilobytes per second, so the figure is one of bytes. A log is read by
at most 4 MiB at once here, so a Fetch for 8 MiB behaves like one for 4.
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
"""The number of batches that one request asks for."""

STUCK = 60_000
"""A controller that has not caught up after this additional time (ms), beyond the time to send
everything once, never will."""

APIS = ("FetchSnapshot", "Fetch")


class Outcome(NamedTuple):
    """`seconds` until it had caught up, None for never; `prospective`: how often it requested
    votes; `is_undisturbed`: whether the leader's epoch stayed the same."""

    seconds: float | None
    prospective: int
    is_undisturbed: bool


def catch_up(api: str, rate: int, cap: int) -> Outcome:
    """Starts a new controller over a link of `rate` bits per second, which requests `cap` bytes at
    once; there is a little more than that to fetch."""
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
    """The lowest rate (bits per second) with which it catches up."""
    # From eight seconds for the bytes of one request, down to a fifth of a second.
    low, high = cap, cap * 40
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
            outcome = (
                f"never; asks for votes {found.prospective} times"
                if found.seconds is None
                else f"in {found.seconds:.1f} s"
            )
            cells.append(f"{outcome:28} {least(api, cap) / 1e6:5.2f} Mbit/s")
        print(f"{shown(cap):>8}  " + "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
