"""`kafkadouble messages`: every message of the protocol that the double knows, from its registry."""

from __future__ import annotations

import argparse
import json
from typing import Any

from kafkadouble.messages import registry


def main(words: list[str]) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        "kafkadouble messages",
        description="List every message of the protocol of Kafka 4.4: requests, responses, and the rest.",
    )
    parser.add_argument("--json", action="store_true", help="as a JSON document, with all that is known of each")
    options = parser.parse_args(words)
    if options.json:
        print(json.dumps(registry.describe(), indent=2))
        return 0
    for entry in registry.entries():
        print(_line(entry))
    return 0


def _line(entry: Any) -> str:
    key = "" if entry.api_key is None else str(entry.api_key)
    low, high = entry.versions
    versions = "retired" if low > high else f"{low}-{high}" if low < high else str(low)
    return f"{key:>3}  {entry.name:<48} {entry.kind:<18} {versions}"
