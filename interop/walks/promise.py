"""The contract of every program: the records that it writes, the object that it writes at the end,
and the object that is expected.

Rules. The programs are in six languages, so this file is the only place where the contract is
stated for Python; README.md of `interop/programs` states it in words. This module starts no
process.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")
EACH = 200
"""Records of each codec."""
TOTAL = EACH * len(CODECS)
FURTHER = 30
"""Records that are written after the group has committed; their numbers continue from EACH."""
PARTITIONS = 3

VERBS = ("walk", "write", "read")
ENDURE = "endure"
TRANSFORM = "transform"
"""The verbs that are not part of the walk and have their own tests. Only Python has TRANSFORM."""

SESSION_TIMEOUT_MS = 6000
"""The session timeout of the members of TRANSFORM: the shortest that Kafka allows by default."""

BEHAVIOURS = (
    "create_topic",
    "create_twice",
    "describe_topic",
    *(f"produce_{codec}" for codec in CODECS),
    "read",
    "headers",
    "null_header",
    "group",
    "second_member",
    "commit",
    "resume",
    "offsets_by_time",
    "transactions",
)
"""The behaviours, in the order of the page of clients."""

PASS, NOT_OFFERED, NOT_TRIED = "pass", "not offered", "not tried"

WRITING = frozenset({"create_topic", *(f"produce_{codec}" for codec in CODECS)})
READING = frozenset({"read", "headers", "group", "commit"})
OF_VERB: Mapping[str, frozenset[str]] = {
    "walk": frozenset(BEHAVIOURS),
    "write": WRITING,
    "read": READING,
    ENDURE: frozenset({ENDURE}),
    TRANSFORM: frozenset({TRANSFORM}),
}
"""The behaviours that each verb reports."""


class Record(NamedTuple):
    """Record n of a codec."""

    codec: str
    number: int
    key: bytes | None
    value: bytes
    headers: tuple[tuple[str, bytes | None], ...]


def record(codec: str, number: int, null_header: bool = True) -> Record:
    key = None if number % 10 == 9 else b"k%d" % (number % 50)
    headers: tuple[tuple[str, bytes | None], ...] = (("c", codec.encode()), ("n", b"%d" % number))
    if null_header:
        headers += (("null", None),)
    return Record(codec, number, key, f"{codec}-{number}-{'x' * 100}".encode(), headers)


def records() -> Iterator[Record]:
    """All records that `write` writes."""
    return (record(codec, number) for codec in CODECS for number in range(EACH))


def results_of(topic: str) -> str:
    """The topic to which TRANSFORM writes."""
    return f"{topic}-results"


def result_of(value: bytes) -> bytes:
    """The value that TRANSFORM writes for a record."""
    return b"result of " + value


def fnv1a(data: bytes) -> int:
    """FNV-1a, 32 bits."""
    digest = 2166136261
    for byte in data:
        digest = (digest ^ byte) * 16777619 & 0xFFFFFFFF
    return digest


def print_of(codec: bytes, key: bytes | None, value: bytes) -> int:
    """The term that one record adds to the digest."""
    return fnv1a(b"|".join((codec, b"-" if key is None else key, value)))


DIGEST = sum(print_of(each.codec.encode(), each.key, each.value) for each in records()) & 0xFFFFFFFF
"""The digest does not depend on the order: it is the sum over all records of `write`, modulo
2**32."""


class ProgramResult(NamedTuple):
    """The object in the last line of a program."""

    client: str
    version: str
    verb: str
    behaviours: dict[str, str]
    seen: dict[str, int]
    digest: int
    committed: int


def parsed(line: str) -> ProgramResult:
    """The object in the last line. Raises ValueError if the line is no such object."""
    arguments = json.loads(line)
    if not isinstance(arguments, dict) or set(arguments) != set(ProgramResult._fields):
        raise ValueError(f"not an object of {', '.join(ProgramResult._fields)}: {line:.200}")
    return ProgramResult(**arguments)


def expected(
    client: str, version: str, verb: str, not_offered: Collection[str] = (), transactions: bool = False
) -> ProgramResult:
    """The object that a program writes if all went well. It is the same on every broker, except for
    transactions, which are tried where they are served."""
    values = dict.fromkeys((name for name in BEHAVIOURS if name in OF_VERB[verb]), PASS)
    if "transactions" in values and not transactions:
        values["transactions"] = NOT_TRIED
    values |= dict.fromkeys((name for name in values if name in not_offered), NOT_OFFERED)
    committed = 0 if verb == "write" or "commit" in not_offered else TOTAL
    return ProgramResult(client, version, verb, values, dict.fromkeys(CODECS, EACH), DIGEST, committed)


def differences(result: ProgramResult, contract: ProgramResult) -> list[str]:
    """A line for each part that differs from the expected one."""
    apart = [
        f"{name}: {ours!r}, not {theirs!r}"
        for name, ours, theirs in zip(ProgramResult._fields, result, contract, strict=True)
        if name != "behaviours" and ours != theirs
    ]
    names = dict.fromkeys((*contract.behaviours, *result.behaviours))
    return apart + [
        f"{name}: {result.behaviours.get(name, 'missing')}, not {contract.behaviours.get(name, 'of this verb')}"
        for name in names
        if result.behaviours.get(name) != contract.behaviours.get(name)
    ]
