"""The part of docs/clients.md about Kafka's command-line tools: what each was seen to do, and what
waits for an API.

It is generated from the table alone. `test_tools.py` tests the table on every broker, and the rows
that wait for an API on a broker without it, so a false line is a test that fails.
"""

from __future__ import annotations

from collections.abc import Collection

from .resident import VERSION
from .rows import ROWS


def section(served: Collection[str]) -> str:
    """Markdown with a heading; `served` are the names of the APIs that the double has."""
    tools = dict.fromkeys(row.tool for row in ROWS)
    lines = [f"| {tool} | {_done(tool, served)} | {_waiting(tool, served)} |" for tool in tools]
    offered = sum(_offered(row.needs, served) for row in ROWS)
    about = (
        f"`pytest interop/tools` runs {len(ROWS)} commands of {len(tools)} tools of Apache Kafka {VERSION}, and checks the\n"
        f"output of each. With Apache Kafka all of them work. With kafkadouble {offered} work, and the others need\n"
        "an API that is not served yet."
    )
    return "\n".join(
        [
            "## Kafka's command-line tools",
            "",
            about,
            "",
            "| tool | works | needs an API that is not served |",
            "|---|---|---|",
            *lines,
            "",
        ]
    )


def _done(tool: str, served: Collection[str]) -> str:
    return "; ".join(row.does for row in ROWS if row.tool == tool and _offered(row.needs, served))


def _waiting(tool: str, served: Collection[str]) -> str:
    waiting: dict[str, list[str]] = {}
    for row in ROWS:
        if row.tool == tool and not _offered(row.needs, served):
            waiting.setdefault(row.needs, []).append(row.does)
    return "; ".join(f"{', '.join(does)} ({api})" for api, does in waiting.items())


def _offered(needs: str, served: Collection[str]) -> bool:
    return not needs or needs in served
