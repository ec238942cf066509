"""Lists the served APIs and versions for people and programs, from the table of dispatch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafkadouble.server.apis.row import ServedApi
from kafkadouble.server.apis.served import CONTROLLER_TABLE, TABLE

HEAD = """\
# What is served

Made by `make generate`; do not edit. `kafkadouble supported` prints the same. It lists the versions
that the broker advertises in ApiVersions, and the reason where it accepts others.

| key | API | versions | advertised | why they differ |
|--:|---|---|---|---|
"""


def rows(table: Iterable[ServedApi] = TABLE) -> list[dict[str, Any]]:
    """The rows of the APIs that brokers serve, or that are in the table; by key."""
    return [_row(served) for served in sorted(table, key=lambda served: served.api.key)]


def rows_of_controllers() -> list[dict[str, Any]]:
    """The rows of the APIs that controllers serve."""
    return rows(CONTROLLER_TABLE)


def _row(served: ServedApi) -> dict[str, Any]:
    return {
        "key": served.api.key,
        "name": served.name,
        "versions": [served.lowest, served.highest],
        "advertised": [] if served.row.hidden else [served.advertised_from, served.highest],
        "reason": served.reason,
    }


def as_markdown() -> str:
    """docs/supported.md."""
    return HEAD + "".join(_line(row) for row in rows())


def _line(row: dict[str, Any]) -> str:
    cells = [
        str(row["key"]),
        row["name"],
        _range(row["versions"]),
        _range(row["advertised"]),
        row["reason"].replace("|", "\\|"),
    ]
    return f"| {' | '.join(cells)} |\n".replace("|  |", "| |")


def as_text(listed: Iterable[dict[str, Any]]) -> str:
    """Columns for a terminal."""
    return "\n".join(
        f"{row['key']:>3}  {row['name']:<32} {_range(row['versions']):<6} {_remark(row)}".rstrip() for row in listed
    )


def _remark(row: dict[str, Any]) -> str:
    if row["advertised"] == row["versions"]:
        return str(row["reason"])
    if not row["advertised"]:
        return str(row["reason"])
    return f"advertised as {_range(row['advertised'])}: {row['reason']}"


def _range(versions: list[int]) -> str:
    if not versions:
        return "no"
    low, high = versions
    return str(low) if low == high else f"{low}-{high}"
