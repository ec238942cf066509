"""The widest call of every verb, with state behind it, costs no more than n log n.

A verb is a call of the owner of a double, and may be one step of the brokers' loop.
"""

from __future__ import annotations

import json
import subprocess
import sys

from tests.support.executed_lines import LINEAR

FEW, MANY = 200, 400

CONSTANT = 20_000
"""Lines that do not count: work for each pair of `FEW` is twice as much."""


def test_the_widest_call_of_every_verb_costs_no_more_than_n_log_n() -> None:
    processes = [
        subprocess.Popen([sys.executable, "-m", "tests.control.wide_calls", str(size)], stdout=subprocess.PIPE)
        for size in (FEW, MANY)
    ]
    of_few, of_many = (json.loads(process.communicate()[0]) for process in processes)
    assert [process.returncode for process in processes] == [0, 0]
    found = {name: (of_few[name], of_many[name]) for name in of_many}
    too_many = {name: both for name, both in found.items() if both[1][1] > LINEAR * max(both[0][1], CONSTANT)}
    assert not too_many
