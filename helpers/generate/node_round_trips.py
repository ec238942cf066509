"""The test in JavaScript that gives results of verbs back; see `round_trips.py`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from kafkadouble.wire.wording import camel

from .model import VerbModel
from .node import HEAD
from .round_trips import ARGUMENTS, SCENARIO, SECTIONS
from .steps import ByPartition, Call, Ref, Send, Step, names_given_back

START = """'use strict';

const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { test } = require('node:test');

const { start } = require('..');
const { RawClient, same } = require('./raw_client');

test('what verbs return is given back', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kafkadouble-'));
  const scenario = path.join(folder, 'scenario.toml');
  fs.writeFileSync(scenario, %s);
  const kafka = await start({ scenario, arguments: ['--data-dir', path.join(folder, 'data'), %s] });
  const client = new RawClient(kafka.brokers[0]);
  try {
    await played(kafka, client);
  } finally {
    client.close();
    await kafka.stop();
    fs.rmSync(folder, { recursive: true });
  }
});

async function played(kafka, client) {
"""

PAIRS: Mapping[str, Mapping[str, int]] = {
    "headers": {"key": 0, "value": 1},
    "assignment": {"topic": 0, "partition": 1},
}
"""A list of pairs -> the places of what has a name in other languages."""

FIELDS: Mapping[str, str] = {"definition": "rule"}
"""A field that has another name here."""


def test_file(found: list[VerbModel]) -> str:
    """The text of round_trips.test.js."""
    verbs = {model.name: model for model in found}
    used = names_given_back(chain(*SECTIONS.values()))
    lines: list[str] = []
    for title, steps in SECTIONS.items():
        lines += ["", f"  // {title}", *(f"  {_line(step, verbs, used)}" for step in steps)]
    start = START % (_text(SCENARIO), ", ".join(map(_text, ARGUMENTS)))
    return HEAD + start + "\n".join(lines[1:]) + "\n}\n"


def _text(value: str) -> str:
    return "'" + json.dumps(value)[1:-1].replace("'", "\\'").replace('\\"', '"') + "'"


def _line(step: Step, verbs: Mapping[str, VerbModel], used: set[str]) -> str:
    if isinstance(step, Send):
        return (
            f"await client.ask('{step.frame}', {step.error_at});" if step.answered else f"client.hold('{step.frame}');"
        )
    if isinstance(step, Call):
        kept = f"const {step.keep} = " if step.keep in used else ""
        return f"{kept}await {_call(verbs[step.verb], step)};"
    expected = _path(step.expected) if isinstance(step.expected, Ref) else _text(step.expected)
    return f"same({expected}, {_path(step.actual)});"


def _call(verb: VerbModel, step: Call) -> str:
    required = [_value(step.given[each.name]) for each in verb.required]
    optional = [
        f"{camel(each.name)}: {_value(step.given[each.name])}" for each in verb.optional if each.name in step.given
    ]
    options = [f"{{ {', '.join(optional)} }}"] if optional else []
    return f"kafka.{camel(verb.name)}({', '.join([*required, *options])})"


def _value(value: Any) -> str:
    if isinstance(value, Ref):
        return _path(value)
    if isinstance(value, ByPartition):
        return f"new Map([[['{value.topic}', {value.partition}], {_value(value.value)}]])"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'[{_value(name)}]: {_value(each)}' for name, each in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bytes):
        return f"Buffer.from([{', '.join(map(str, value))}])"
    return _text(value) if isinstance(value, str) else json.dumps(value)


def _path(value: Ref) -> str:
    return value.name + "".join(_parts(value))


def _parts(value: Ref) -> Iterator[str]:
    pairs: Mapping[str, int] = {}
    for field, index, key in value.steps():
        if field in pairs:
            yield f"[{pairs[field]}]"
        else:
            yield f".{camel(FIELDS.get(field, field))}" if field else f"[{index}]" if index else f".{key}"
        pairs = PAIRS.get(field, {}) if field else pairs
