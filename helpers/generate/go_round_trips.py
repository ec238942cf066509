"""The test in Go that gives results of verbs back; see `round_trips.py`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from kafkadouble.wire.wording import exported

from .go import HEAD, option
from .model import VerbModel
from .round_trips import ARGUMENTS, SCENARIO, SECTIONS
from .steps import ByPartition, Call, Ref, Send, Step, names_given_back

START = """
import (
	"os"
	"path/filepath"
	"testing"
	"time"

	kafkadouble "github.com/kafkadouble/kafkadouble/helpers/go"
)

func TestWhatVerbsReturnIsGivenBack(t *testing.T) {
	folder, ctx := t.TempDir(), t.Context()
	scenario := filepath.Join(folder, "scenario.toml")
	check(t, os.WriteFile(scenario, []byte(%s), 0o600))
	kafka := kafkadouble.New(t, kafkadouble.WithScenario(scenario),
		kafkadouble.WithArguments("--data-dir", filepath.Join(folder, "data")),
		kafkadouble.WithArguments(%s))
	client := rawClient{t, kafka.Brokers()[0]}
	var err error
"""


def test_file(found: list[VerbModel]) -> str:
    """The text of round_trips_test.go."""
    verbs = {model.name: model for model in found}
    used = names_given_back(chain(*SECTIONS.values()))
    lines: list[str] = []
    for title, steps in SECTIONS.items():
        lines += ["", f"\t// {title}", *(f"\t{line}" for step in steps for line in _lines(step, verbs, used))]
    start = START % (json.dumps(SCENARIO), ", ".join(map(json.dumps, ARGUMENTS)))
    return HEAD.replace("package kafkadouble", "package kafkadouble_test") + start + "\n".join([*lines, "}", ""])


def _lines(step: Step, verbs: Mapping[str, VerbModel], used: set[str]) -> Iterator[str]:
    if isinstance(step, Send):
        sent = f'"{step.frame}", {step.error_at}' if step.answered else f'"{step.frame}"'
        yield f"client.{'ask' if step.answered else 'hold'}({sent})"
    elif isinstance(step, Call):
        verb = verbs[step.verb]
        kept = "" if verb.result is None else f"{step.keep}, " if step.keep in used else "_, "
        yield f"{kept}err {':=' if step.keep in used else '='} {_call(verb, step)}"
        yield "check(t, err)"
    else:
        expected = _path(step.expected) if isinstance(step.expected, Ref) else json.dumps(step.expected)
        yield f"same(t, {expected}, {_path(step.actual)})"


def _call(verb: VerbModel, step: Call) -> str:
    required = [_value(step.given[each.name], each.shape) for each in verb.required]
    optional = [
        f"kafkadouble.{option(each.name)}({_spread(step.given[each.name], each.shape)})"
        for each in verb.optional
        if each.name in step.given
    ]
    return f"kafka.{exported(verb.name)}({', '.join(['ctx', *required, *optional])})"


def _spread(value: Any, shape: str) -> str:
    """A list of texts is given one by one."""
    if isinstance(value, list) and shape in ("text[]", "integer[]"):
        return ", ".join(_value(each) for each in value)
    return _value(value, shape)


def _value(value: Any, shape: str = "") -> str:
    if isinstance(value, Ref):
        return _path(value)
    if shape == "duration":
        return f"{round(value * 1000)}*time.Millisecond"
    if isinstance(value, ByPartition):
        at = f'{{Topic: "{value.topic}", Partition: {value.partition}}}'
        return f"map[kafkadouble.TopicPartition]any{{{at}: {_value(value.value)}}}"
    if isinstance(value, Mapping):
        fields = ", ".join(f"{_value(name)}: {_value(each)}" for name, each in value.items())
        return f"map[string]any{{{fields}}}"
    if isinstance(value, list):
        return f"[]any{{{', '.join(map(_value, value))}}}"
    if isinstance(value, bytes):
        return f"[]byte{{{', '.join(map(str, value))}}}"
    if value is None:
        return "nil"
    return json.dumps(value)


def _path(value: Ref) -> str:
    parts = (
        f".{exported(field)}" if field else f"[{index}]" if index else f'["{key}"]'
        for field, index, key in value.steps()
    )
    return value.name + "".join(parts)
