"""Measures the cost of the most expensive frame of each API that the limits of a request allow.

    python -m benchmarks.hostile_frames [--api Metadata] [--all] [--size 5000] [--json]
    python -m benchmarks.hostile_frames --lines --elements 1000 --size 1000 --json

A frame has the newest version of its API, and the node has `size` of everything
(`benchmarks.wide_state`). Each frame is handled in a forked process, which collects garbage as
`serve` does. For each API the benchmark prints the frame with the most CPU time: its longest step
on the thread of the node, which serves nothing else meanwhile; its longest step aside; the CPU
time; the maximum memory of Python's objects (from a second run, because the count takes time); and
the sizes of the frame and of the response. A step has at most 20 ms on a quiet machine;
`LONG_STEPS` says why one has more. `--all` prints every frame, without the memory. With `--lines`
steps are counted in executed lines, which are the same on every machine, for every frame but those
in which all names are the same.
"""

from __future__ import annotations

import argparse
import gc
import json
import logging
import os
import resource
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

from kafkadouble.cli.serving.collector import Collector
from kafkadouble.server.apis.row import ServedApi
from kafkadouble.server.apis.served import CONTROLLER_TABLE, TABLE
from kafkadouble.server.node import Node
from kafkadouble.server.requests import aside_codec, bounds, gc_pause
from kafkadouble.server.requests.listener_spec import ListenerSpec
from kafkadouble.server.requests.waiting import SLICE
from tests.support.executed_lines import executed_lines
from tests.support.listeners import BROKER, CONTROLLER

from . import narrow, widest
from .long_steps import IN_TIME, LONG_STEPS
from .steps import Asker, Measure, Taken
from .wide_state import Builder

MB = 1 << 20
NOW = 1


class Cost(NamedTuple):
    """The figures of one frame. Steps are in ms, or in executed lines; `total` is their sum."""

    api: str
    wide: str
    cpu_ms: float
    total: float
    longest_step: float
    longest_aside: float
    peak_mb: float
    frame_bytes: int
    answer_bytes: int
    reason: str
    """Why its longest step may be longer than others."""


def milliseconds(step: Callable[[], Any]) -> float:
    began = time.perf_counter()
    step()
    return 1000 * (time.perf_counter() - began)


def in_fork(function: Callable[[], Any]) -> Any:
    """The result of the function in a forked process, so that the node here does not change."""
    theirs, ours = os.pipe()
    child = os.fork()
    if not child:
        with os.fdopen(ours, "w") as pipe:
            json.dump(function(), pipe)
        os._exit(0)
    os.close(ours)
    with os.fdopen(theirs) as pipe:
        figures = pipe.read()
    os.waitpid(child, 0)
    return json.loads(figures)


class Costs:
    """Asks one node, each time as it was at first."""

    def __init__(self, node: Node, measure: Measure, *, every: bool) -> None:
        self._node, self._measure, self._every = node, measure, every
        self._counts_lines = measure is not milliseconds

    def of(self, served: ServedApi, listener: ListenerSpec) -> list[Cost]:
        """The figures of the most expensive frame of one API, or of every frame; of lines, those of
        frames whose names differ."""
        frames = {wide: frame for wide, frame in frames_of(served) if self._every or not self._is_one_name(wide)}
        costs = [self._cost(served, listener, wide, frame) for wide, frame in frames.items()]
        if self._every or self._counts_lines or not costs:
            return costs
        worst = max(costs, key=lambda cost: cost.cpu_ms)
        peak = in_fork(partial(self._memory, served, listener, frames[worst.wide]))
        return [worst._replace(peak_mb=peak)]

    def _is_one_name(self, wide: str) -> bool:
        return self._counts_lines and wide.endswith("empty")

    def _cost(self, served: ServedApi, listener: ListenerSpec, wide: str, frame: bytes) -> Cost:
        cpu, taken = in_fork(partial(self._time, served, listener, frame))
        steps, asides, answer_bytes, _ = taken
        api = served.name if listener is BROKER else f"{served.name} (controller)"
        longest, reason = max(steps), (LONG_STEPS | IN_TIME).get(served.name, "")
        return Cost(
            api,
            wide,
            cpu,
            sum(steps) + sum(asides),
            longest,
            max(asides, default=0),
            0,
            len(frame),
            answer_bytes,
            reason,
        )

    def _time(self, served: ServedApi, listener: ListenerSpec, frame: bytes) -> tuple[float, Taken]:
        before = resource.getrusage(resource.RUSAGE_SELF)
        taken = Asker(self._node, listener, served).ask(frame, self._measure, NOW)
        after = resource.getrusage(resource.RUSAGE_SELF)
        return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime), taken

    def _memory(self, served: ServedApi, listener: ListenerSpec, frame: bytes) -> float:
        """The maximum memory in MB."""
        tracemalloc.start()
        Asker(self._node, listener, served).ask(frame, milliseconds, NOW)
        return tracemalloc.get_traced_memory()[1] / MB


def collect_as_serve() -> None:
    """Collects garbage by the rules of `serve`, which leave the state of the node out."""
    collector = Collector()
    collector.begin()
    gc.callbacks.append(collector.on_gc)
    gc_pause.many_made = gc.freeze


def frames_of(served: ServedApi) -> Iterator[tuple[str, bytes]]:
    """The widest frames, and those about everything."""
    yield from widest.frames(served.request, served.highest)
    yield from narrow.frames(served.request, served.name, served.highest)


def costs(costs: Costs, only: str | None) -> Iterator[Cost]:
    """The figures of each API, on a broker's listener and on a controller's."""
    for listener, table in ((BROKER, TABLE), (CONTROLLER, CONTROLLER_TABLE)):
        for served in table:
            if only is None or served.name == only:
                yield from costs.of(served, listener)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--api", help="only this one")
    parser.add_argument("--all", action="store_true", help="every frame, not only the worst of each API")
    parser.add_argument("--size", type=int, default=5000, help="how many topics, groups, ... there are")
    parser.add_argument("--elements", type=int, default=widest.MOST, help="how many a frame has")
    parser.add_argument("--lines", action="store_true", help="count executed lines")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    measure: Measure = executed_lines if arguments.lines else milliseconds
    if arguments.elements < widest.MOST:  # the codec works as for a frame at the limit
        bounds.MOST_ELEMENTS = arguments.elements + 100
        aside_codec.WIDE, aside_codec.MANY_SLICES, aside_codec.MANY = arguments.elements, 1, SLICE
    widest.MOST = arguments.elements
    node = Builder(arguments.size).build()
    collect_as_serve()
    found = costs(Costs(node, measure, every=arguments.all), arguments.api)
    worst = sorted(found, key=lambda cost: -cost.longest_step)
    if arguments.json:
        print(json.dumps([each._asdict() for each in worst], indent=2))
        return
    print(f"{'step':>8} {'aside':>8} {'CPU ms':>8} {'peak MB':>8} {'frame':>9} {'answer':>9}  API, and what is wide")
    for each in worst:
        print(
            f"{each.longest_step:8.0f} {each.longest_aside:8.0f} {each.cpu_ms:8.0f} {each.peak_mb:8.1f} "
            f"{each.frame_bytes:9} {each.answer_bytes:9}  {each.api}: {each.wide}"
        )
        if each.reason:
            print(f"{'':57}{each.reason}")


if __name__ == "__main__":
    main()
