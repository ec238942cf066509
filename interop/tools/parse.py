"""Parses the output of Kafka's tools: each function returns a plain value."""

from __future__ import annotations

import json
import re
from typing import Any

from .resident import ToolOutput


def lines(output: ToolOutput) -> list[str]:
    """The lines of the output, without empty ones."""
    return [line.rstrip() for line in output.out.splitlines() if line.strip()]


def errors(output: ToolOutput) -> list[str]:
    """The lines on standard error."""
    return [line.strip() for line in output.err.splitlines() if line.strip()]


def everything(output: ToolOutput) -> str:
    return output.out + output.err


def principals(output: ToolOutput) -> list[str]:
    """The users that the output names."""
    return re.findall(r"User:[\w-]+", output.out)


def columns(output: ToolOutput) -> list[dict[str, str]]:
    """A table whose columns begin below the words of its first line, which are at least two spaces
    apart; warnings may precede it."""
    found = [line for line in lines(output) if not line.startswith("Warn: ")]
    if not found:
        return []
    heads = list(re.finditer(r"\S+(?: \S+)*", found[0]))
    starts = [head.start() for head in heads]
    ends = [*starts[1:], None]
    return [
        {head.group(): line[start:end].strip() for head, start, end in zip(heads, starts, ends, strict=True)}
        for line in found[1:]
    ]


def tabbed(output: ToolOutput) -> list[dict[str, str]]:
    """A table with tabs between its columns."""
    found = [[cell.strip() for cell in line.split("\t")] for line in lines(output)]
    return [dict(zip(found[0], line, strict=False)) for line in found[1:]]


def commas(output: ToolOutput) -> list[dict[str, str]]:
    """A table with commas between its columns."""
    found = [line.split(", ") for line in lines(output)]
    return [dict(zip(found[0], line, strict=True)) for line in found[1:]]


def pairs(output: ToolOutput) -> list[dict[str, str]]:
    """Lines of `Name: value`, with tabs or many spaces between the pairs."""
    found = []
    for line in lines(output):
        parts = re.split(r"\t| {2,}(?=\w+:)", line.strip())
        cells = [part.partition(":") for part in parts if part]
        found.append({name.strip(): value.strip() for name, _, value in cells})
    return found


def settings(output: ToolOutput) -> dict[str, dict[str, str]]:
    """The output of kafka-configs --describe: the value, the sensitivity and the synonyms of each
    setting."""
    matches = re.findall(r"^  (\S+?)=(.*) sensitive=(\w+) synonyms=\{(.*)\}$", output.out, re.MULTILINE)
    return {
        name: {"value": value, "sensitive": secret, "synonyms": synonyms} for name, value, secret, synonyms in matches
    }


def objects(output: ToolOutput) -> list[dict[str, Any]]:
    """The lines that are JSON."""
    return [json.loads(line) for line in lines(output) if line.startswith("{")]


def stream(output: ToolOutput) -> list[Any]:
    """JSON objects one after the other, with or without line breaks between them."""
    found, rest, decoder = [], output.out.strip(), json.JSONDecoder()
    while rest:
        one, end = decoder.raw_decode(rest)
        found.append(one)
        rest = rest[end:].lstrip()
    return found


def counts(output: ToolOutput) -> dict[str, int]:
    """The number of objects with each name."""
    names = [one["name"] for one in objects(output)]
    return {name: names.count(name) for name in names}


def apis(output: ToolOutput) -> dict[str, str]:
    """The usable version of each API in the output of kafka-broker-api-versions, or the text in its
    place."""
    matches = re.findall(r"^\t(\w+)\(\d+\): (.*?),?$", output.out, re.MULTILINE)
    return {name: re.sub(r".*\[usable: (\d+)\]", r"\1", text) for name, text in matches}
