"""The widest request of every API, with state behind it, costs no more than n log n, and none of
its steps keeps a node from serving others for long.

Costs are executed lines, which are the same on every machine. `python -m benchmarks.hostile_frames`
measures the same frames in ms, at their full size. With KAFKADOUBLE_INTEROP_ALL=1 frames in which
all names are the same are counted, too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any, NamedTuple

from benchmarks.long_steps import LONG_STEPS
from benchmarks.widest import MOST
from tests.support.executed_lines import LINEAR

ALL = ["--all"] if os.environ.get("KAFKADOUBLE_INTEROP_ALL") else []

FEW, MANY = 264, 528
"""Elements of a request, and the size of the state: both are larger than a slice."""

BUDGET = 900_000
"""The lines of one step, for a request as wide as the limits allow: about 20 ms."""


class Counted(NamedTuple):
    """The lines of one request: of all its steps, and of the longest."""

    total: float
    longest: float


def counting(size: int) -> subprocess.Popen[bytes]:
    options = ["--lines", "--json", "--elements", str(size), "--size", str(size), *ALL]
    return subprocess.Popen([sys.executable, "-m", "benchmarks.hostile_frames", *options], stdout=subprocess.PIPE)


def counted(process: subprocess.Popen[bytes], size: int) -> dict[tuple[str, str], Counted]:
    """By API, and by what is wide."""
    found: list[dict[str, Any]] = json.loads(process.communicate()[0])
    assert process.returncode == 0
    return {
        (each["api"], each["wide"].replace(f"{size} ", "")): Counted(each["total"], each["longest_step"])
        for each in found
    }


def test_the_widest_requests_of_every_api_take_short_steps_and_no_more_than_n_log_n() -> None:
    processes = {size: counting(size) for size in (FEW, MANY)}
    of_few, of_many = (counted(process, size) for size, process in processes.items())
    assert of_few.keys() == of_many.keys()
    problems = []
    for (api, wide), many in of_many.items():
        few = of_few[api, wide]
        if many.total > LINEAR * few.total:
            problems.append(f"{api}, {wide}: {FEW} take {few.total:.0f} lines, {MANY} take {many.total:.0f}")
        widest = many.longest + max(0, many.longest - few.longest) * (MOST - MANY) / (MANY - FEW)
        if widest > BUDGET and api.partition(" ")[0] not in LONG_STEPS:
            problems.append(
                f"{api}, {wide}: one step takes {few.longest:.0f}, {many.longest:.0f} ... {widest:.0f} lines"
            )
    assert not problems, "\n".join(problems)
