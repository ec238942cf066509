"""The command line of every simulation: plays many seeds, and prints the transcript of the first
that breaks a promise.

--seeds N       so many (1000)
--first N       the first seed (0)
--seed N        only this one, with its transcript
--scenario NAME every seed plays this one
--keep-going    count what breaks instead of stopping at the first
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from time import perf_counter
from typing import Protocol

from .outcome import Outcome, as_text


class Run(Protocol):
    def __call__(self, seed: int, *, tracing: bool = False, scenario: str | None = None) -> Outcome:
        """Plays the scenario of this seed, or the named one."""
        ...


def main(module: str, what: str, run: Run, scenarios: Iterable[str]) -> int:
    """The exit code of the process: 1 when a promise was broken."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=what)
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--scenario", choices=sorted(scenarios), default=None)
    parser.add_argument("--keep-going", action="store_true", help="count what breaks instead of stopping at the first")
    asked = parser.parse_args()
    if asked.seed is not None:
        return _report(run(asked.seed, tracing=True, scenario=asked.scenario))
    return _many(run, range(asked.first, asked.first + asked.seeds), asked.scenario, keep_going=asked.keep_going)


def _many(run: Run, seeds: range, scenario: str | None, *, keep_going: bool) -> int:
    begun, done, totals, figures = perf_counter(), 0, Counter[str](), dict[str, int]()
    with suppress(KeyboardInterrupt):  # the results until then are printed
        for seed in seeds:
            outcome = run(seed, scenario=scenario)
            if outcome.broken and not keep_going:
                return _report(run(seed, tracing=True, scenario=scenario))
            if outcome.broken:
                print(outcome, flush=True)
            done += 1
            totals += Counter(events=outcome.events, seconds=outcome.duration // 1000, broken=bool(outcome.broken))
            figures = {name: figures.get(name, 0) + many for name, many in outcome.figures.items()}
    print(
        f"{done} seeds from {seeds.start}: {totals['events']} events, {as_text(figures)}, in {totals['seconds']} s of their time "
        f"and {perf_counter() - begun:.0f} s of ours; {totals['broken']} broke a promise"
    )
    return 1 if totals["broken"] else 0


def _report(outcome: Outcome) -> int:
    print("\n".join(outcome.transcript))
    print(outcome, flush=True)
    return 1 if outcome.broken else 0
