"""An item of a file: its fields under the names of kafka-dump-log, as a line of text or as
JSON."""

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
    """A field with bytes of an application: escaped in text, base64 in JSON."""

    data: bytes | None


class Item(NamedTuple):
    """The kind of the item, its fields in order, and the problem of the item or of the bytes from
    here on."""

    kind: str
    fields: dict[str, Any]
    problem: BadFile | None = None

    def lines(self, bounds: TextLimits = TREE) -> list[str]:
        """The item as text: a line for the fields, and a second line for the problem."""
        indent = _INDENT.get(self.kind, "")
        line = " ".join(f"{name}: {_text(value, bounds)}" for name, value in self.fields.items())
        found = [indent + line] if line else []
        if self.problem is not None:
            found.append(f"!! {broken_text(self.problem)}")
        return found

    def json(self, file: str) -> str:
        """The item as a JSON object in one line."""
        made: dict[str, Any] = {"file": file, "kind": self.kind}
        made |= {name: _json(value) for name, value in self.fields.items()}
        if self.problem is not None:
            made["broken"] = broken_json(self.problem)
        return json.dumps(made)


def broken_text(problem: BadFile) -> str:
    """The problem and its byte position, without the name of the file."""
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


def _text(value: Any, bounds: TextLimits) -> str:
    if isinstance(value, Raw):
        return plain(value.data, bounds)
    if isinstance(value, dict):
        return json.dumps(value, separators=(",", ":"))
    if isinstance(value, list):
        return "[" + ",".join(f"{plain(each[0], bounds)}={plain(each[1].data, bounds)}" for each in value) + "]"
    return str(value) if isinstance(value, str) else plain(value, bounds)


def _json(value: Any) -> Any:
    from kafkadouble.messages.show.as_json import bytes_json  # slow to import, and seldom needed

    if isinstance(value, Raw):
        return bytes_json(value.data)
    if isinstance(value, list):
        return [{"key": name, "value": bytes_json(raw.data)} for name, raw in value]
    return value
