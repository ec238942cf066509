"""Runs kafka-dump-log and reads its output as plain values, to compare `kafkadouble dump` with
it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from interop.local.jars import program

from .jars import jars

MAIN = "org.apache.kafka.tools.DumpLogSegments"
DECODERS = {
    "metadata": "--cluster-metadata-decoder",
    "offsets": "--offsets-decoder",
    "transactions": "--transaction-log-decoder",
    "raw": "--print-data-log",
}
"""The content of records -> the option that makes the tool decode it."""

Row = dict[str, Any]
_FIELD = re.compile(r"(\w+): (\[[^\]]*\]|\S+)")
_LISTS = {"headerKeys"}
_JSON = re.compile(r" (?:key|payload): (?=\{)")


def dump(files: Sequence[Path], decode: str) -> tuple[dict[Path, list[Row]], str]:
    """The rows of each file, in order, and the text on standard error. Raises Missing."""
    path = os.pathsep.join(map(str, jars()))
    quick = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
    words = [MAIN, DECODERS[decode], "--files", ",".join(map(str, files))]
    command = [program("java"), *quick, "-cp", path, *words]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return _by_file(done.stdout, decoded=decode != "raw"), done.stderr


def _by_file(output: str, *, decoded: bool) -> dict[Path, list[Row]]:
    found: dict[Path, list[Row]] = {}
    rows: list[Row] = []
    for line in output.splitlines():
        if line.startswith("Dumping "):
            rows = found.setdefault(Path(line.removeprefix("Dumping ")), [])
        elif row := _row(line, decoded):
            rows.append(row)
    return found


def _row(line: str, decoded: bool) -> Row | None:
    """The fields of a line; None for a heading."""
    is_record = line.startswith("| ")
    if not is_record and not re.match(r"(?:baseOffset|offset|timestamp|producerId|version): -?\d", line):
        return None
    head = re.split(
        r" (?:key|payload|endTxnMarker|controlType|LeaderChange|SnapshotHeader|SnapshotFooter|KRaftVersion|KRaftVoters):? ",
        line,
    )[0]
    row: Row = {name: _value(text) for name, text in _FIELD.findall(head)}
    if is_record:
        row["kind"] = "record"
        row |= _control(line) | (_payloads(line) if decoded else {})
    return row


def _payloads(line: str) -> Row:
    """Decoded keys and values."""
    row: Row = {}
    for name in ("key", "payload"):
        at = line.find(f" {name}: {{")
        if at >= 0:
            row[name] = json.JSONDecoder().raw_decode(line, at + len(name) + 3)[0]
    return row


def _control(line: str) -> Row:
    """The fields of a control record."""
    row: Row = {}
    if marker := re.search(r" endTxnMarker: (\w+) coordinatorEpoch: (-?\d+)", line):
        row["marker"] = (marker[1], int(marker[2]))
    if control := re.search(r" (LeaderChange|SnapshotHeader|SnapshotFooter|KRaftVersion|KRaftVoters):? (\{.*)", line):
        row["control"] = json.loads(control[2])
    return row


def _value(text: str) -> Any:
    """Java's numbers, booleans, optional numbers and lists of strings."""
    if optional := re.fullmatch(r"OptionalLong(?:\.empty|\[(-?\d+)\])", text):
        return None if optional[1] is None else int(optional[1])
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    if text.startswith("["):
        return [word for word in text[1:-1].split(",") if word]
    return {"true": True, "false": False}.get(text, text)
