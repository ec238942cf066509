"""`python -m tests.simulation --seeds 10000`: many seeds; the transcript of the first that breaks a promise.

--first N       the first seed (0)
--seed N        only this one, with its transcript
--scenario NAME every seed plays this one
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from contextlib import suppress
from time import perf_counter

from .run import Outcome, run
from .scenarios import SCENARIOS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description="The quorum, simulated.")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--scenario", choices=sorted(SCENARIOS), default=None)
    parser.add_argument("--keep-going", action="store_true", help="count what breaks instead of stopping at the first")
    asked = parser.parse_args()
    if asked.seed is not None:
        return tell(run(asked.seed, tracing=True, scenario=asked.scenario))
    return many(range(asked.first, asked.first + asked.seeds), asked.scenario, keep_going=asked.keep_going)


def many(seeds: range, scenario: str | None, *, keep_going: bool) -> int:
    begun, totals = perf_counter(), Counter[str]()
    with suppress(KeyboardInterrupt):  # then what was done until then is told
        for seed in seeds:
            outcome = run(seed, scenario=scenario)
            totals += Counter(
                seeds=1,
                events=outcome.events,
                elections=outcome.elections,
                seconds=outcome.duration // 1000,
                broken=bool(outcome.broken),
            )
            if outcome.broken and not keep_going:
                return tell(run(seed, tracing=True, scenario=scenario))
            if outcome.broken:
                print(outcome, flush=True)
    print(
        f"{totals['seeds']} seeds from {seeds.start}: {totals['events']} events, {totals['elections']} elections in "
        f"{totals['seconds']} s of their time and {perf_counter() - begun:.0f} s of ours; {totals['broken']} broke a promise"
    )
    return 1 if totals["broken"] else 0


def tell(outcome: Outcome) -> int:
    print("\n".join(outcome.transcript))
    print(outcome, flush=True)
    return 1 if outcome.broken else 0


if __name__ == "__main__":
    sys.exit(main())
