"""`kafkadouble messages`: lists every message of the protocol in the double's registry."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from typing import Any

from kafkadouble.messages import registry
from kafkadouble.messages.spec_form import spec_fields
from kafkadouble.wire.errors import UnknownMessage


def main(words: list[str]) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(
        "kafkadouble messages",
        description="List every message of Kafka 4.4: requests, responses, headers and records, with their versions.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="show only these messages, with their fields, for example FetchRequest"
    )
    parser.add_argument("--json", action="store_true", help="print a JSON document, with all fields of each message")
    options = parser.parse_args(words)
    try:
        requested = [registry.entry(name) for name in options.names]
    except UnknownMessage as unknown:
        from kafkadouble.server.configs.did_you_mean import near  # for an error alone

        wrong = next(name for name in options.names if repr(name) in str(unknown))
        parser.error(f"{unknown}{near(wrong, [entry.name for entry in registry.entries()])}")
    if options.json:
        print(json.dumps(_described(requested or registry.entries()), indent=2))
        return 0
    for entry in requested or registry.entries():
        print(_line(entry))
        if requested:
            print("\n".join(_field_lines(_fields(entry), "     ")))
    return 0


def _described(entries: Sequence[registry.MessageType]) -> list[dict[str, Any]]:
    """The registry's entries for these messages, with their fields."""
    by_name = {each["name"]: each for each in registry.describe()}
    return [by_name[entry.name] | {"fields": _fields(entry)} for entry in entries]


def _fields(entry: registry.MessageType) -> list[dict[str, Any]]:
    return [] if entry.retired else spec_fields(entry.message)


def _field_lines(fields: Sequence[dict[str, Any]], indent: str) -> Iterator[str]:
    for field in fields:
        facts = ", ".join(f"{name} {value}" for name, value in field.items() if name not in ("name", "type", "fields"))
        yield f"{indent}{field['name']}: {field['type']}  ({facts})"
        yield from _field_lines(field.get("fields", ()), indent + "  ")


def _line(entry: registry.MessageType) -> str:
    key = "" if entry.api_key is None else str(entry.api_key)
    low, high = entry.versions
    versions = "retired" if low > high else f"{low}-{high}" if low < high else str(low)
    return f"{key:>3}  {entry.name:<48} {entry.kind:<18} {versions}"
