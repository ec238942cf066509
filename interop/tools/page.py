"""The part of docs/clients.md about Kafka's command-line tools: what each was seen to do.

It is generated from the table alone. `test_tools.py` tests the table on every broker, so a false
line is a test that fails.
"""

from __future__ import annotations

from .resident import VERSION
from .rows import ROWS


def section() -> str:
    """Markdown with a heading."""
    tools = dict.fromkeys(row.tool for row in ROWS)
    about = (
        f"`pytest interop/tools` runs {len(ROWS)} commands of {len(tools)} tools of Apache Kafka {VERSION}, and checks the\n"
        "output of each. All of them work with Apache Kafka, and with kafkadouble."
    )
    lines = [f"| {tool} | {'; '.join(row.does for row in ROWS if row.tool == tool)} |" for tool in tools]
    return "\n".join(["## Kafka's command-line tools", "", about, "", "| tool | works |", "|---|---|", *lines, ""])
