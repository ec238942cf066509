"""One thing that a file holds: its fields under the names of kafka-dump-log, as a line of text or as JSON."""

from __future__ import annotations

import json
from typing import NamedTuple

from kafkadouble.messages.show.text import TREE, TextLimits, plain
from kafkadouble.server.log.formats import BadFile, TornTail

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FILE, BATCH, RECORD, ENTRY, LOST = "file", "batch", "record", "entry", "lost"
_INDENT = {RECORD: "| "}


class Raw(NamedTuple):
    """A field that is bytes of the user's: shown as such in text, as base64 in JSON."""

    data: bytes | None


class Item(NamedTuple):
    """What it is, its fields in order, and what is wrong with it or begins to be wrong here."""

    kind: str
    fields: dict[str, Any]
    problem: BadFile | None = None

    def lines(self, bounds: TextLimits = TREE) -> list[str]:
        """A line for the fields, another one for what is wrong."""
        indent = _INDENT.get(self.kind, "")
        said = " ".join(f"{name}: {_text(value, bounds)}" for name, value in self.fields.items())
        found = [indent + said] if said else []
        if self.problem is not None:
            found.append(f"!! {broken_text(self.problem)}")
        return found

    def json(self, file: str) -> str:
        """A JSON object in one line."""
        made: dict[str, Any] = {"file": file, "kind": self.kind}
        made |= {name: _json(value) for name, value in self.fields.items()}
        if self.problem is not None:
            made["broken"] = broken_json(self.problem)
        return json.dumps(made)


def broken_text(problem: BadFile) -> str:
    """What is wrong and at which byte, without the file's name."""
    word = "torn tail: " if isinstance(problem, TornTail) else ""
    field = f" in {problem.path}" if problem.path else ""
    return f"{word}{problem.problem} at byte {problem.offset}{field}"


def broken_json(problem: BadFile) -> dict[str, Any]:
    return {
        "problem": problem.problem,
        "offset": problem.offset,
        "path": problem.path,
        "torn": isinstance(problem, TornTail),
    }


def printable(line: str) -> str:
    """A line in which nothing is left that a terminal obeys: names in files, and of files, may hold anything."""
    return line if line.isprintable() else "".join(each if each.isprintable() else repr(each)[1:-1] for each in line)


def _text(value: Any, bounds: TextLimits) -> str:
    if isinstance(value, Raw):
        return plain(value.data, bounds)
    if isinstance(value, dict):
        return json.dumps(value, separators=(",", ":"))
    if isinstance(value, list):
        return "[" + ",".join(_header_text(each, bounds) for each in value) + "]"
    return str(value) if isinstance(value, str) else plain(value, bounds)


def _header_text(header: tuple[str, Raw], bounds: TextLimits) -> str:
    return f"{plain(header[0], bounds)}={plain(header[1].data, bounds)}"


def _json(value: Any) -> Any:
    from kafkadouble.messages.show.as_json import bytes_json

    if isinstance(value, Raw):
        return bytes_json(value.data)
    if isinstance(value, list):
        return [{"key": name, "value": bytes_json(raw.data)} for name, raw in value]
    return value
