"""The scripts: the transcript language of tests/conversations, with requests only, and with more
than one request in a line.

    a > Metadata v0..5 {topics: [{name: ~t}]}      the request in each of these versions; `v*` all that are served, `v3..`, `v..5`
    a >> JoinGroup v9 {...}                         its answer is not waited for
    a <                                             but here
    a < nothing yet                                 or is not there yet
    a ~> OffsetFetch v9 {...}                       asked again until both brokers say the same, for what Kafka does by and by
    a < {topics: [{topicId: $t}]}                   names for what each broker answered last; a name may be given anew
    a > ApiVersions raw 00120009000000010000        a frame of these bytes (without its size), whatever it says
    for n in 0 | -1 | "x"                           the lines up to `end`, with `<n>` for each value; they nest
    for v in Fetch                                  the same for every version of that API
    brokers delete.topic.enable=false               settings of both brokers, before anything else; such a script has two for itself

and, where there are three brokers on each side,

    a@2 > Metadata v0..5 {topics: [{name: ~t}]}     at broker 2; a client without a number is one of broker 1
    a ?> Metadata v12 {...} :: {topics: [...]}      asked again until the answer is like that, on either side
    kill 3                                          broker 3 ends without knowing, `stop 3`: in order
    gone 3                                          the others have heard of it
    start 3                                         it comes back, and all have heard of it

There, what only tells of a state is asked again until both sides say the same, with `>` as with
`~>`.

`~t` is a name that only this script has, `<v>` the version of the line. Of a request a version is
sent what it has: other fields are left out, and a null that it cannot say makes no request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kafkadouble.messages import registry
from kafkadouble.server.apis.served import TABLE
from tests.support.conversation import lines

SCRIPTS = Path(__file__).parent / "scripts"

ASK = re.compile(r"([\w@]+) (>|>>|~>|\?>) (\w+) (v(?:\*|[\d.]+)|raw)\s*(.*)\Z", re.DOTALL)
HEAR = re.compile(r"([\w@]+) <\s*(.*)\Z", re.DOTALL)
DEED = re.compile(r"(kill|stop|gone|start) (\d)\Z")
LOOP = re.compile(r"for (\w+) in (.*)\Z", re.DOTALL)
RANGE = re.compile(r"v(\d*)\.\.(\d*)\Z")
BROKERS = re.compile(r"brokers (.*)\Z", re.DOTALL)
OWN_NAME = re.compile(r"(?<![\w/])~(?=\w)")

SERVED = {served.name: (served.lowest, served.highest) for served in TABLE}

BRINGS_KAFKA_DOWN = {"FetchSnapshot": "with maxBytes -1 or the leader's own replica id it ends the process"}
"""APIs that are never sent, and why."""


class Ask(NamedTuple):
    """One request. `how`: `>` waits, `>>` does not, `~>` and `?>` ask again, the latter until the
    answer is as `wanted` says. `version` is None for `raw`, whose `body` is a frame in hex."""

    line: int
    client: str
    how: str
    api: str
    version: int | None
    body: str
    wanted: str = ""


class Hear(NamedTuple):
    """What came on a connection: `nothing yet`, a pattern to learn names from, or empty for
    whatever it is."""

    line: int
    client: str
    pattern: str


class Deed(NamedTuple):
    """What is done to a broker: `kill`, `stop`, `gone` or `start`."""

    line: int
    verb: str
    broker: int


Step = Ask | Hear | Deed


def settings(path: Path) -> tuple[str, ...]:
    """What both brokers must be told for a script, as `key=value`."""
    _, line = next(lines(path.read_text()), (0, ""))
    found = BROKERS.match(line)
    return tuple(found[1].split()) if found else ()


def steps(path: Path) -> Iterator[Step]:
    """The steps of a script in their order."""
    numbered = [(number, line) for number, line in lines(path.read_text()) if not BROKERS.match(line)]
    yield from _block(numbered, {}, path.stem.replace("_", "-"))


def _block(numbered: list[tuple[int, str]], values: dict[str, str], stem: str) -> Iterator[Step]:
    at = 0
    while at < len(numbered):
        number, line = numbered[at]
        if loop := LOOP.match(line):
            end = _end(numbered, at)
            for value in _values(loop[2]):
                yield from _block(numbered[at + 1 : end], {**values, loop[1]: value}, stem)
            at = end + 1
            continue
        yield from _line(number, _filled(line, values), stem)
        at += 1


def _end(numbered: list[tuple[int, str]], start: int) -> int:
    """The index of the `end` that belongs to the `for` at `start`."""
    depth = 0
    for index in range(start, len(numbered)):
        depth += bool(LOOP.match(numbered[index][1])) - (numbered[index][1] == "end")
        if depth == 0:
            return index
    raise ValueError(f"line {numbered[start][0]}: this `for` has no `end`")


def _values(text: str) -> list[str]:
    if text in SERVED:
        low, high = SERVED[text]
        return [str(version) for version in range(low, high + 1)]
    return [value.strip() for value in text.split(" | ")]


def _filled(line: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        line = line.replace(f"<{name}>", value)
    return line


def _line(number: int, line: str, stem: str) -> Iterator[Step]:
    line = OWN_NAME.sub(f"{stem}-", line)
    if asked := ASK.match(line):
        client, how, api, versions, body = asked.groups()
        if api in BRINGS_KAFKA_DOWN:
            raise ValueError(f"line {number}: {api} is not sent: {BRINGS_KAFKA_DOWN[api]}")
        for version in _versions(api, versions):
            text, _, wanted = (body if version is None else body.replace("<v>", str(version))).partition(" :: ")
            yield Ask(number, client, how, api, version, text, wanted)
    elif heard := HEAR.match(line):
        yield Hear(number, *heard.groups())
    elif done := DEED.match(line):
        yield Deed(number, done[1], int(done[2]))
    else:
        raise ValueError(f"line {number}: this is no line of a script: {line!r}")


def _versions(api: str, text: str) -> list[int] | list[None]:
    if text == "raw":
        return [None]
    low, high = registry.api_named(api).stable_versions
    if text == "v*":
        return list(range(low, high + 1))
    if found := RANGE.match(text):
        return list(range(int(found[1] or low), int(found[2] or high) + 1))
    return [int(text[1:])]
