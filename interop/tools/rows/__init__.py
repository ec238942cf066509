"""The table of Kafka's command-line tools, a text for each kind of work.

    == configs of brokers: own
        a scenario, and the fields of it that are not empty: `own`, `transaction open`
    describe: kafka-cluster cluster-id (code 1, needs DescribeCluster)
        the text on the page and the call, with its exit code and the API that it needs; a call
        without a text only prepares or reads again

Below a call are lines with four spaces; those with eight continue one:

    stdin "one\\n"                    its input
    file plan.csv "{topic},0,1\\n"    a file that it reads
    refusal TEXT                     its error without the API
    ["Created topic {topic}."]       its output as YAML: lines, or what a function of `parse.py`
    columns [{LAG: "0"}]             makes of it, whose name comes first; "/.../" is a pattern
    columns has {LAG: "0"}, {...}    what must be found among them; also `lacks`, and `those X, Y`
    says TEXT                        a text somewhere in its output and errors; there can be several
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from .. import parse
from ..row import Has, Lacks, Row, Says, Scenario, Those

CALL = re.compile(r"(?:(.+?): )?(kafka-[\w-]+) ?(.*?)(?: \((?:code (\d+))?(?:, )?(?:needs (\w+))?\))?")
EXPECTED = re.compile(r"(?:(?!has |lacks |those )(\w+) )?(?:(has|lacks|those) )?(.*)")
AMONG = {"has": Has, "lacks": Lacks, "those": Those}


def scenarios(text: str) -> Iterator[Scenario]:
    text = re.sub(r"^#.*\n", "", re.sub(r"\n {8}", " ", text), flags=re.MULTILINE)
    for part in re.split(r"^== ", text, flags=re.MULTILINE)[1:]:
        head, *calls = re.split(r"\n(?=\S)", part.rstrip())
        name, _, options = head.partition(": ")
        words = [option.partition(" ") for option in options.split(", ") if option]
        fields: dict[str, Any] = {field: value or True for field, _, value in words}
        yield Scenario(name, [_row(call) for call in calls], **fields)


def _row(text: str) -> Row:
    call, *lines = text.split("\n    ")
    found = CALL.fullmatch(call)
    assert found, f"not a call: {call}"
    does, tool, words, code, needs = found.groups("")
    row = Row(tool, does, words, code=int(code or 0), needs=needs)
    for line in lines:
        kind, _, rest = line.partition(" ")
        if kind == "stdin":
            row = row._replace(stdin=yaml.safe_load(rest))
        elif kind == "file":
            name, _, content = rest.partition(" ")
            row = row._replace(files={**row.files, name: yaml.safe_load(content)})
        elif kind == "refusal":
            row = row._replace(refusal=rest)
        elif kind == "says":
            row = row._replace(expected=Says((*row.expected, rest)), parse=parse.everything)
        else:
            row = _expecting(row, line)
    return row


def _expecting(row: Row, line: str) -> Row:
    found = EXPECTED.fullmatch(line)
    assert found, f"not an output: {line}"
    assert row.expected == (), f"a second output: {line}"
    parser, among, text = found.groups("")
    value = _value(yaml.safe_load(f"[{text}]" if among else text))
    return row._replace(
        expected=AMONG[among](value) if among else value, parse=getattr(parse, parser) if parser else parse.lines
    )


def _value(given: Any) -> Any:
    if isinstance(given, dict):
        return {name: _value(one) for name, one in given.items()}
    if isinstance(given, list):
        return [_value(one) for one in given]
    if isinstance(given, str) and given.startswith("/") and given.endswith("/"):
        return re.compile(given[1:-1])
    return given


def _part(name: str) -> tuple[Scenario, ...]:
    return tuple(scenarios((Path(__file__).parent / f"{name}.txt").read_text()))


PARTS = "topics", "configs", "records", "groups", "streams", "cluster", "transactions", "performance"
SCENARIOS = tuple(scenario for name in PARTS for scenario in _part(name))
SECURED = _part("security")
"""For servers whose clients log in; see `interop/secured_servers.py`."""
ROWS = tuple(row for scenario in (*SCENARIOS, *SECURED) for row in scenario.rows if row.does)
"""The rows that the page lists."""
