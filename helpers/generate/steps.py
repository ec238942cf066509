"""A step of a test that is generated in every language: a call of a verb, a request of a client, or
an assertion about a result.

A result is named by `keep`, and given back as a `Ref`: `records[0].headers`, `groups{shop}.state`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kafkadouble.messages import headers
from kafkadouble.messages.message import Message


class Ref(NamedTuple):
    """A part of a result: the name by which it was kept, and a path of fields (`.leader`), indexes
    (`[0]`) and keys (`{shop}`)."""

    name: str
    path: str = ""

    def steps(self) -> Iterator[tuple[str, str, str]]:
        """The field, the index and the key of each step; two of them are empty."""
        for found in re.finditer(r"\.(\w+)|\[(\d+)\]|\{(\w+)\}", self.path):
            yield found[1] or "", found[2] or "", found[3] or ""


class ByPartition(NamedTuple):
    """A mapping by TopicPartition, which each language has in its own form."""

    topic: str
    partition: int
    value: Any


class Call(NamedTuple):
    """A call of a verb. `keep` names its result, empty for one that is not given back."""

    verb: str
    given: Mapping[str, Any]
    keep: str = ""


class Send(NamedTuple):
    """A request in hex, to the broker with the id 1. If it is not `answered`, it waits. It is sent
    again while its answer has an error at this offset, if that is not 0: a coordinator loads."""

    frame: str
    answered: bool = True
    error_at: int = 0


class Same(NamedTuple):
    """An assertion: what a result has, as a text, `null` for nothing; or another result."""

    actual: Ref
    expected: str | Ref


Step = Call | Send | Same


def ref(text: str) -> Ref:
    """`records[0].value` -> the Ref."""
    name, path = re.fullmatch(r"(\w+)(.*)", text).groups()  # type: ignore[union-attr]
    return Ref(name, path)


def call(verb: str, keep: str = "", **given: Any) -> Call:
    """A call; `keep` names its result."""
    return Call(verb, given, keep)


def send(body: Message, version: int, client_id: str = "asks", answered: bool = True, error_at: int = 0) -> Send:
    """A request of a client."""
    frame = b"".join(map(bytes, headers.write_request(body, 1, client_id, version)))
    return Send(frame.hex(), answered, error_at)


def same(actual: str, expected: Any) -> Same:
    """An assertion."""
    return Same(ref(actual), expected if isinstance(expected, Ref) else str(expected))


def names_given_back(steps: Iterable[Step]) -> set[str]:
    """The names of results that a later step takes."""
    found: set[str] = set()

    def note(value: Any) -> None:
        if isinstance(value, Ref):
            found.add(value.name)
        elif isinstance(value, Mapping):
            for key, each in value.items():
                note(key)
                note(each)
        elif isinstance(value, list | ByPartition | Same | Call):
            for each in value:
                note(each)

    for step in steps:
        note(step)
    return found
