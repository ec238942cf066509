"""Compares the output of `kafkadouble dump` and of kafka-dump-log for the same files, number for
number."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from interop.tools import dump_log
from kafkadouble.dump import Options, items
from kafkadouble.dump.contents.item import FILE, RECORD, Item
from kafkadouble.dump.contents.kinds import decoder_of
from kafkadouble.dump.dumping import files
from kafkadouble.messages import registry

SHOWN = (".log", ".checkpoint", ".index", ".timeindex", ".txnindex", ".snapshot")
"""The suffixes of files that kafka-dump-log reads."""

_NO_ERROR = re.compile(r"log4j|Non-consecutive offsets in|is followed by")
"""Lines on standard error that are no problem of a file: the tool reports a gap before every
segment that does not begin at offset 0."""


def compare(folder: Path) -> list[Path]:
    """Asserts that both agree on every file that kafka-dump-log reads; returns these files."""
    shown = [path for path in files(folder) if path.suffix in SHOWN and not _is_room(path)]
    compared = []
    for decode in dump_log.DECODERS:
        paths = [path for path in shown if decoder_of(path) == decode]
        if paths:
            theirs, errors = dump_log.dump(paths, decode)
            assert not [line for line in errors.splitlines() if not _NO_ERROR.search(line)], errors
            for path in paths:
                assert _ours(path) == theirs[path], path
            compared += paths
    return compared


def _is_room(path: Path) -> bool:
    """Whether an index has no entries and was not trimmed to its size: kafka-dump-log reads its
    first zeros as an entry."""
    return path.suffix in (".index", ".timeindex") and path.stat().st_size > 0 and not path.read_bytes().strip(b"\0")


def _ours(path: Path) -> list[dict[str, Any]]:
    found = list(items(path, Options(records=True)))
    assert all(item.problem is None for item in found)
    return [_as_kafka_prints(item, decoder_of(path)) for item in found if item.kind != FILE]


def _as_kafka_prints(item: Item, decode: str) -> dict[str, Any]:
    if item.kind != RECORD:
        return item.fields
    row = dict(item.fields)
    key, value = row.pop("key"), row.pop("value")
    row["headerKeys"] = [name for name, _ in row.pop("headers")]
    row["kind"] = RECORD
    if isinstance(key, dict) and "data" not in key:
        return row | _control(value)
    return row | (_KAFKA_TEXTS[decode](key, value) if decode in _KAFKA_TEXTS else {})


def _control(value: dict[str, Any]) -> dict[str, Any]:
    if value["type"] in ("ABORT", "COMMIT"):
        return {"marker": (value["type"], value["data"]["coordinatorEpoch"])}
    return {"control": value["data"]}


def _metadata(key: Any, value: dict[str, Any]) -> dict[str, Any]:
    name = "".join(f"_{letter}" if letter.isupper() else letter for letter in value["type"]).upper().removeprefix("_")
    return {"payload": {**value, "type": name}}


def _coordinator(key: dict[str, Any], value: Any) -> dict[str, Any]:
    kind = next(entry.api_key for entry in registry.entries("coordinator-key") if entry.name == key["type"])
    found: dict[str, Any] = {"key": {"type": str(kind), "data": key["data"]}}
    if isinstance(value, dict):
        found["payload"] = {"version": str(value["version"]), "data": _without_versions(value["data"])}
    return found


def _without_versions(data: dict[str, Any]) -> dict[str, Any]:
    """Without the versions of consumer metadata, which Kafka does not show."""
    for member in data.get("members", ()):
        for name in ("subscription", "assignment"):
            if isinstance(member[name], dict):
                member[name].pop("version")
    return data


_KAFKA_TEXTS: dict[str, Callable[[Any, Any], dict[str, Any]]] = {
    "metadata": _metadata,
    "offsets": _coordinator,
    "transactions": _coordinator,
}
