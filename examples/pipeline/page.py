"""The report: one page of HTML with plots, about the events and the findings of the audit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any

WIDTH, HEIGHT, LEFT = 640, 180, 70

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 720px; margin: 2em auto; padding: 0 1em; color: #222; }
h1 { font-size: 1.5em; } h2 { font-size: 1.1em; margin-top: 2em; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .2em .6em; border-bottom: 1px solid #ddd; }
.good { color: #186a3b; } .bad { color: #a61b1b; font-weight: bold; }
text { font: 11px system-ui, sans-serif; fill: #555; }
"""


def write(path: Path, events: Sequence[tuple[float, str]], audit: dict[str, Any]) -> None:
    """Writes the page. `events` are pairs of the seconds since the start, and what happened
    then."""
    bad = sum(each["count"] for each in audit["findings"].values()) + len(audit["replicas that differ"])
    verdict = '<p class="good">Nothing is missing, nothing was counted twice.</p>'
    parts = [
        f"<h1>{audit['orders counted']:,} orders through a cluster that lost some of them</h1>",
        verdict if not bad else f'<p class="bad">{bad} findings: see below.</p>',
        f"<p>By Spark {escape(audit['spark']['version'])} on {escape(audit['spark']['master'])}.</p>",
        "<h2>What happened</h2>",
        _table(("s", "event"), ((f"{at:.1f}", what) for at, what in events)),
        "<h2>Orders by minute</h2>",
        _bars([(row["minute"][11:16], row["orders"]) for row in audit["minutes"]], "orders"),
        "<h2>Bytes by codec</h2>",
        _bars([(row["codec"], row["bytes"]) for row in audit["codecs"]], "bytes in the log"),
        "<h2>Transactions</h2>",
        _table(("outcome", "transactions"), sorted(audit["transactions"].items())),
        f"<p>{audit['orders in committed transactions']:,} orders are in committed transactions. "
        f"{audit['orders in other transactions']:,} are in others, and were not to be counted.</p>",
        "<h2>Leaders by offset</h2>",
        _epochs(audit["epochs"]),
        "<h2>What must not be</h2>",
        _findings(audit["findings"]),
        "<h2>What at-least-once allows</h2>",
        _findings(audit["allowed"]),
        f"<p>Replicas of the orders that differ: {len(audit['replicas that differ'])}.</p>",
    ]
    body = "\n".join(parts)
    path.write_text(f"<!doctype html><meta charset=utf-8><title>Orders</title><style>{STYLE}</style>\n{body}\n")


def _table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    lines = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
    return f"<table><tr>{head}</tr>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"


def _findings(findings: dict[str, Any]) -> str:
    def places(rows: list[dict[str, Any]]) -> str:
        return ", ".join(f"{row['partition']}:{row['offset']}" for row in rows[:8]) + (" ..." if len(rows) > 8 else "")

    rows = ((name, f"{finding['count']:,}", places(finding["first"])) for name, finding in findings.items())
    return _table(("", "how many", "partition:offset"), rows)


def _bars(values: Sequence[tuple[str, int]], what: str) -> str:
    """Draws a bar for each value, the largest at full height."""
    most, step = max((value for _, value in values), default=1) or 1, (WIDTH - LEFT) / max(len(values), 1)
    every = max(1, len(values) // 12)
    marks = [f'<text x="0" y="12">{most:,}</text><text x="0" y="26">{escape(what)}</text>']
    for at, (name, value) in enumerate(values):
        x, tall = LEFT + at * step, (HEIGHT - 30) * value / most
        shape = f'x="{x:.1f}" y="{HEIGHT - 20 - tall:.1f}" width="{step * 0.85:.1f}" height="{tall:.1f}"'
        marks.append(f'<rect {shape} fill="#4477aa"><title>{escape(name)}: {value:,}</title></rect>')
        if at % every == 0:
            marks.append(f'<text x="{x:.1f}" y="{HEIGHT - 4}">{escape(name)}</text>')
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{"".join(marks)}</svg>'


def _epochs(epochs: Sequence[dict[str, Any]]) -> str:
    """Draws a line for each partition: its offsets, coloured by the leader epoch of the records."""
    partitions = sorted({row["partition"] for row in epochs})
    end = max((row["to"] + 1 for row in epochs), default=1)
    marks = []
    for row in epochs:
        y = 10 + 26 * partitions.index(row["partition"])
        x, wide = LEFT + (WIDTH - LEFT) * row["from"] / end, (WIDTH - LEFT) * (row["to"] + 1 - row["from"]) / end
        title = f"epoch {row['leader_epoch']}: offsets {row['from']} to {row['to']}"
        colour = f"hsl({row['leader_epoch'] * 67 % 360} 45% 55%)"
        marks.append(
            f'<rect x="{x:.1f}" y="{y}" width="{max(wide, 1):.1f}" height="18" fill="{colour}"><title>{title}</title></rect>'
        )
    marks += [f'<text x="0" y="{23 + 26 * at}">partition {partition}</text>' for at, partition in enumerate(partitions)]
    return f'<svg viewBox="0 0 {WIDTH} {20 + 26 * len(partitions)}" role="img">{"".join(marks)}</svg>'
