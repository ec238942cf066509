"""Compares Kafka's reading of a message of ours: no difference, or one of four kinds of
difference."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import NamedTuple

from kafkadouble.messages.message import Message
from kafkadouble.wire.errors import UsageError, WireError

from .java import SAME, Witness
from .shrinking import shrink


class Case(NamedTuple):
    """A message as we write it: its bytes in hex, its JSON (empty if Kafka's JSON cannot express
    the message)."""

    name: str
    version: int
    hex: str
    json: str


def case_of(message: Message, version: int, with_json: bool) -> Case:
    data = message.encode(version)
    text = dumped(message.to_json(version)) if with_json else ""
    return Case(type(message).__name__, version, data.hex(), text)


def dumped(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def question(case: Case) -> tuple[object, ...]:
    """The words of the question; those of the answer go to `problems`."""
    if case.json:
        return "message", case.name, case.version, case.hex, case.json
    return "rewrite", case.name, case.version, case.hex


def problems(case: Case, answer: list[str], cls: type[Message]) -> Iterator[str]:
    """The differences of Kafka's answer, or of our own reading, from the message that we wrote."""
    if case.json:
        written, rewritten, text = answer
        if written != SAME:
            yield f"Kafka writes of the JSON {written}"
        if text not in (SAME, case.json) and (text.startswith("!") or dumped(json.loads(text)) != case.json):
            yield f"Kafka reads in the bytes {text}"
    else:
        rewritten, left = answer
        if left != "0":
            yield f"Kafka leaves {left} bytes unread"
    if rewritten != SAME:
        yield f"Kafka reads the bytes and writes {rewritten}"
    yield from _own_problems(case, cls)


def _own_problems(case: Case, cls: type[Message]) -> Iterator[str]:
    try:
        read = cls.decode(bytes.fromhex(case.hex), case.version)
        if (again := read.encode(case.version).hex()) != case.hex:
            yield f"we read the bytes and write {again}"
        if case.json:
            if (text := dumped(read.to_json(case.version))) != case.json:
                yield f"we read in the bytes {text}"
            parsed = cls.from_json(json.loads(case.json), case.version)
            if (again := parsed.encode(case.version).hex()) != case.hex:
                yield f"we write of the JSON {again}"
    except (WireError, UsageError) as error:
        yield f"we fail: {error!r}"


def smallest(witness: Witness, message: Message, version: int, with_json: bool) -> str:
    """A report with the smallest message that still differs."""
    message = copy.deepcopy(message)

    def found() -> list[str]:
        try:
            case = case_of(message, version, with_json)
        except UsageError:
            return []
        return list(problems(case, witness.answer(*question(case)), type(message)))

    shrink(message, version, lambda: bool(found()))
    case = case_of(message, version, with_json)
    lines = (f"{case.name} version {version}: {message!r}", f"our bytes {case.hex}", f"our JSON {case.json}", *found())
    return "\n  ".join(line[:2000] for line in lines)
