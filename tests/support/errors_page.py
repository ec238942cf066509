"""docs/errors.md, made from the table of error rows; `make generate` writes it."""

from __future__ import annotations

from pathlib import Path

from kafkadouble.messages import error_codes
from kafkadouble.server.apis.served import TABLE
from tests.support.error_reasons import REACHED
from tests.support.error_rows import ROWS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "errors.md"

HEAD = """\
# Error codes

Made by `make generate`; do not edit. For every API that is served, this page lists the error codes
that Apache Kafka 4.4 can return, and whether this broker returns them by itself. *Reached* means
that a transcript in `tests/conversations` shows how; the other rows say why not. A fault rule can
return every code for every API: [faults.md](faults.md). Any API can return UNKNOWN_SERVER_ERROR
when the broker itself fails; it has a row only where a healthy broker returns it.
"""


def as_markdown() -> str:
    return HEAD + "".join(_section(served.name) for served in TABLE)


def _section(api: str) -> str:
    rows = sorted(ROWS[api].items(), key=lambda row: getattr(error_codes, row[0]))
    lines = [f"| {getattr(error_codes, code)} | {code} | {_described(how)} |" for code, how in rows]
    return "\n".join(["", f"## {api}", "", "| | code | |", "|--:|---|---|", *lines, ""])


def _described(how: str) -> str:
    return f"*{how}*" if how == REACHED else how


if __name__ == "__main__":
    PAGE.write_text(as_markdown())
