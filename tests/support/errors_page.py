"""`python -m tests.support.errors_page` writes docs/errors.md from the table of error rows; a test finds it stale."""

from __future__ import annotations

from pathlib import Path

from kafkadouble.messages import error_codes
from kafkadouble.server.apis.served import TABLE
from tests.support.error_rows import REACHED, ROWS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "errors.md"

HEAD = """\
# Error codes

Made by `python -m tests.support.errors_page`; do not edit. For every API that is served: the error codes that Apache Kafka 4.4 can put into its
answer, and whether this broker comes to give them by itself. *Reached* means that a transcript in `tests/conversations` shows how; for the
others it says why not. Every code can be had of every API by a fault rule. UNKNOWN_SERVER_ERROR is what any API answers when the broker itself
is broken, and has a row only where a healthy one gives it.
"""


def as_markdown() -> str:
    """The page."""
    return HEAD + "".join(_section(served.name) for served in TABLE)


def _section(api: str) -> str:
    rows = sorted(ROWS[api].items(), key=lambda row: getattr(error_codes, row[0]))
    lines = [f"| {getattr(error_codes, code)} | {code} | {_told(how)} |" for code, how in rows]
    return "\n".join(["", f"## {api}", "", "| | code | |", "|--:|---|---|", *lines, ""])


def _told(how: str) -> str:
    return f"*{how}*" if how == REACHED else how


if __name__ == "__main__":
    PAGE.write_text(as_markdown())
