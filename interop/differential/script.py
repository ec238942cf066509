"""The language of scripts: that of the transcripts in tests/conversations, with requests only, and
with several requests on one line.

    a > Metadata v0..5 {topics: [{name: ~t}]}
        the request in each of these versions; `v*` is every served version, also `v3..`, `v..5`
    a >> JoinGroup v9 {...}            does not wait for the answer
    a <                                waits for it here
    a < nothing yet                    it must not have come yet
    a ~> OffsetFetch v9 {...}          repeated until both brokers answer alike, where Kafka is late
    a < {topics: [{topicId: $t}]}      names values of each broker's last answer; can rename
    a > ApiVersions raw 00120009000000010000
        a frame of these bytes (without its size), whatever they mean
    for n in 0 | -1 | "x"              the lines up to `end`, with `<n>` for each value; can nest
    for v in Fetch                     the same for every version of that API
    play quorum                        the lines of scripts/quorum.txt, without its settings
    guest > Metadata v13 {}            a client whose name begins so connects from 127.0.0.2
    brokers delete.topic.enable=false
        settings of both brokers, first in the script; it then has two brokers of its own, for whose
        folders `{folder}` stands

Where there are three brokers on each side, there are also

    a@2 > Metadata v0..5 {topics: [{name: ~t}]}
        a request to broker 2; a client without a number uses broker 1
    a ?> Metadata v12 {...} :: {topics: [...]}
        repeated until the answer matches, on both sides
    kill 3                             kills broker 3; `stop 3` shuts it down cleanly
    gone 3                             waits until the others know that it is gone
    start 3                            starts it, and waits until all know of it

There, requests that only read are repeated until both sides answer alike, with `>` as with `~>`.

`~t` is a name that only this script has, `<v>` the version of the line. A request has only the
fields of its version: other fields are left out. If a version does not allow a null, no request is
sent.
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
PLAY = re.compile(r"play (\w+)\Z")
OWN_NAME = re.compile(r"(?<![\w/])~(?=\w)")

SERVED = {served.name: (served.lowest, served.highest) for served in TABLE}
ADVERTISED = {served.name: SERVED[served.name] for served in TABLE if not served.row.hidden}
"""What both brokers advertise; the scripts play every version of it."""

BRINGS_KAFKA_DOWN = {
    "FetchSnapshot": ("replicaId: 7, maxBytes: 10,", "with maxBytes -1 or the leader's own replica id")
}
"""What a request of an API must have, since it can end Kafka's process, and when it does."""


class Ask(NamedTuple):
    """One request. `how`: `>` waits, `>>` does not, `~>` and `?>` repeat it, the latter until the
    answer matches `expected`. `version` is None for `raw`, whose `body` is a frame in hex."""

    line: int
    client: str
    how: str
    api: str
    version: int | None
    body: str
    expected: str = ""


class Hear(NamedTuple):
    """Reads the next answer of a connection: `nothing yet`, a pattern to learn names from, or empty
    for any answer."""

    line: int
    client: str
    pattern: str


class Deed(NamedTuple):
    """A change to a broker or a wait for it: `kill`, `stop`, `gone` or `start`."""

    line: int
    verb: str
    broker: int


Step = Ask | Hear | Deed


def settings(path: Path) -> tuple[str, ...]:
    """The settings that both brokers need for a script, as `key=value`."""
    _, line = next(lines(path.read_text()), (0, ""))
    found = BROKERS.match(line)
    return tuple(found[1].split()) if found else ()


def by_settings(folder: Path) -> list[tuple[tuple[str, ...], list[Path]]]:
    scripts: dict[tuple[str, ...], list[Path]] = {}
    for path in sorted(folder.glob("*.txt")):
        scripts.setdefault(settings(path), []).append(path)
    return sorted(scripts.items())


def steps(path: Path) -> Iterator[Step]:
    """The steps of a script in their order."""
    yield from _block(_numbered(path), {}, path.stem.replace("_", "-"))


def _numbered(path: Path) -> list[tuple[int, str]]:
    """The lines without settings, and those of other scripts in the place of `play`."""
    found: list[tuple[int, str]] = []
    for number, line in lines(path.read_text()):
        if other := PLAY.match(line):
            found += _numbered(SCRIPTS / f"{other[1]}.txt")
        elif not BROKERS.match(line):
            found.append((number, line))
    return found


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
    """The index of the `end` that matches the `for` at `start`."""
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
    if request := ASK.match(line):
        client, how, api, versions, body = request.groups()
        harmless, danger = BRINGS_KAFKA_DOWN.get(api, ("", ""))
        if harmless not in body:
            raise ValueError(f"line {number}: {api} is sent only with {harmless!r}: {danger} it ends the process")
        for version in _versions(api, versions):
            text, _, expected = (body if version is None else body.replace("<v>", str(version))).partition(" :: ")
            yield Ask(number, client, how, api, version, text, expected)
    elif response := HEAR.match(line):
        yield Hear(number, *response.groups())
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
