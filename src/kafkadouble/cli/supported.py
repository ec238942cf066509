"""`kafkadouble supported`: lists the served APIs, as text, as JSON, and for docs/supported.md."""

from __future__ import annotations

import argparse
import json

from ..supported import as_markdown, as_text, rows


def main(words: list[str]) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        "kafkadouble supported",
        description="List the APIs that are served: key, name and versions, and the reason if ApiVersions advertises other versions.",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print a JSON document")
    form.add_argument("--markdown", action="store_true", help="print the page docs/supported.md")
    options = parser.parse_args(words)
    print(
        json.dumps(rows(), indent=2) if options.json else as_markdown() if options.markdown else as_text(),
        end="\n" if not options.markdown else "",
    )
    return 0
