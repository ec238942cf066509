"""`kafkadouble supported`: lists the served APIs, as text, as JSON, and for docs/supported.md."""

from __future__ import annotations

import argparse
import json

from .parts.supported import as_markdown, as_text, rows, rows_of_controllers


def main(words: list[str]) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        "kafkadouble supported",
        description="List the APIs that are served: key, name and versions, and the reason if ApiVersions advertises other versions.",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print a JSON document")
    form.add_argument("--markdown", action="store_true", help="print the page docs/supported.md")
    parser.add_argument("--controllers", action="store_true", help="list what controllers serve, not brokers")
    options = parser.parse_args(words)
    if options.markdown:
        if options.controllers:
            parser.error("--markdown is the page about brokers")
        print(as_markdown(), end="")
        return 0
    listed = rows_of_controllers() if options.controllers else rows()
    print(json.dumps(listed, indent=2) if options.json else as_text(listed))
    return 0
