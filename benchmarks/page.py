"""The tables of docs/performance.md, made of benchmarks/results.json."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from .measured import RESULTS


@cache
def results() -> dict[str, Any]:
    """What `python -m benchmarks.measured` wrote."""
    found: dict[str, Any] = json.loads(RESULTS.read_text())
    return found


def machine() -> list[str]:
    """What the figures were measured on."""
    names = {"cpu": "processor", "cores": "cores", "system": "system", "python": "Python"}
    return [f"| {words} | {results()['machine'][name]} |" for name, words in names.items()]


def loads() -> list[str]:
    """When each benchmark was run, and beside what load."""
    found = [(name, result) for name, result in results().items() if name != "machine"]
    return [f"| `benchmarks/{name}.py` | {each['date']} | {each['load']} |" for name, each in found]


def start() -> list[str]:
    """Start: ours, and what bounds it."""
    table = results()["start"]
    rows = []
    for case, ours in table["ours"].items():
        ((peer, value),) = [(name, values[case]) for name, values in table["peers"].items() if case in values]
        bound = f"goal: {value:.0f} ms" if peer == "goal" else f'`python -c "{peer}"`: {value:.0f} ms'
        rows.append(f"| {case} | {ours:.0f} ms | {bound} |")
    return rows


def suite() -> list[str]:
    """A test with a broker of its own, and a reset."""
    table = results()["suite"]
    rows = []
    for case in ("an empty test", "a test with a fresh broker", "reset()"):
        cells = [_with_quartiles(table, f"{case}, {clock}") for clock in ("wall", "CPU")]
        rows.append(f"| {f'`{case}`' if '(' in case else case} | {' | '.join(cells)} |")
    return rows


def _with_quartiles(table: dict[str, Any], case: str) -> str:
    low, high = table["quartiles"][case]
    return f"{table['ours'][case]:.2g} ms ({low:.2g} to {high:.2g})"


def fault_rules() -> list[str]:
    """One request, and its ratio to the same request without the rule."""
    table = results()["fault_rules"]
    rows = []
    for case in (name.removesuffix(", CPU") for name in table["cases"] if name.endswith(", CPU")):
        spent = f"{table['ours'][f'{case}, CPU']:.0f} µs"
        beside = [peer for peer, ratios in table["ratios"].items() if f"{case}, CPU" in ratios]
        for peer in beside or [""]:
            cells = [_ratio(table, peer, f"{case}, {clock}") for clock in ("CPU", "wall")] if peer else ["", ""]
            name = f"commit {table['before']}" if peer == "before" else peer
            rows.append(f"| {case} | {spent} | {name} | {' | '.join(cells)} |")
    return rows


def _ratio(table: dict[str, Any], peer: str, case: str) -> str:
    low, high = table["ratio_quartiles"][peer][case]
    return f"{table['ratios'][peer][case]:.2f} ({low:.2f} to {high:.2f})"


def latency() -> list[str]:
    """One request."""
    table = results()["latency"]
    (ours,), (peer,) = table["ours"].values(), table["peers"]["asyncio echo"].values()
    return [f"| {ours:.0f} µs | {peer:.0f} µs | {ours / peer:.1f} |"]


def throughput() -> list[str]:
    """Records a second, and the CPU that they cost, for every server that was measured."""
    words = {
        "produce": ("produced, records/s", 1000),
        "consume": ("consumed, records/s", 1000),
        "produce_cpu": ("server CPU, seconds a million produced", 0.01),
        "consume_cpu": ("server CPU, seconds a million consumed", 0.01),
    }
    table = results()["throughput"]
    rows = []
    for case, (what, unit) in words.items():
        values = [table["ours"][case], *(table["peers"].get(peer, {}).get(case) for peer in ("mock", "kafka"))]
        rows.append(f"| {what} | {' | '.join(_rounded(value, unit) for value in values)} |")
    return rows


def _rounded(value: float | None, unit: float) -> str:
    if value is None:
        return ""
    return f"{round(value / unit) * int(unit):,}" if unit >= 1 else f"{value:.2f}"


def memory() -> list[str]:
    """What the process grew by."""
    return [f"| {case} | {grown:.1f} MB |" for case, grown in results()["memory"]["ours"].items()]


TABLES: dict[str, Callable[[], list[str]]] = {
    "| measured on | |": machine,
    "| benchmark | date | load average before it |": loads,
    "| from the call, or from exec, to the first answer | | beside it |": start,
    "| | time, median (half of the values) | CPU time, median (half of the values) |": suite,
    "| request | server CPU | beside | ratio of CPU time (half of the pairs) | ratio of time (half of the pairs) |": (
        fault_rules
    ),
    "| kafkadouble, p50 | asyncio echo, p50 | ratio |": latency,
    "| | kafkadouble | librdkafka's mock | Apache Kafka |": throughput,
    "| the process grows by | |": memory,
}
"""By the line that heads it."""
