"""The test in Java that gives results of verbs back; see `round_trips.py`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import chain
from typing import Any

from kafkadouble.wire.wording import camel

from .java import HEAD
from .model import VerbModel
from .round_trips import ARGUMENTS, SCENARIO, SECTIONS
from .steps import ByPartition, Call, Ref, Send, Step, names_given_back

START = """
import static io.github.kafkadouble.Params.*;
import static io.github.kafkadouble.RawClient.same;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RoundTripTests {
    @Test
    void whatVerbsReturnIsGivenBack(@TempDir Path folder) throws IOException {
        Path scenario = Files.writeString(folder.resolve("scenario.toml"), %s);
        var builder = KafkaDouble.builder()
                .scenario(scenario)
                .arguments("--data-dir", folder.resolve("data").toString())
                .arguments(%s);
        try (var kafka = builder.start();
                var client = new RawClient(kafka.bootstrapServers())) {"""


def test_file(found: list[VerbModel]) -> str:
    """The text of RoundTripTests.java."""
    verbs = {model.name: model for model in found}
    used = names_given_back(chain(*SECTIONS.values()))
    lines: list[str] = []
    for title, steps in SECTIONS.items():
        lines += ["", f"// {title}", *(_line(step, verbs, used) for step in steps)]
    start = START % (json.dumps(SCENARIO), ", ".join(map(json.dumps, ARGUMENTS)))
    body = "\n".join(f"            {line}".rstrip() for line in lines)
    return f"{HEAD}{start}{body}\n        }}\n    }}\n}}\n"


def _line(step: Step, verbs: Mapping[str, VerbModel], used: set[str]) -> str:
    if isinstance(step, Send):
        return f'client.ask("{step.frame}", {step.error_at});' if step.answered else f'client.hold("{step.frame}");'
    if isinstance(step, Call):
        kept = f"var {step.keep} = " if step.keep in used else ""
        return f"{kept}{_call(verbs[step.verb], step)};"
    expected = _path(step.expected) if isinstance(step.expected, Ref) else json.dumps(step.expected)
    return f"same({expected}, {_path(step.actual)});"


def _call(verb: VerbModel, step: Call) -> str:
    required = [_value(step.given[each.name], each.shape) for each in verb.required]
    optional = [
        f"{camel(each.name)}({_spread(step.given[each.name], each.shape)})"
        for each in verb.optional
        if each.name in step.given
    ]
    return f"kafka.{camel(verb.name)}({', '.join([*required, *optional])})"


def _spread(value: Any, shape: str) -> str:
    """A list of texts is given one by one."""
    if isinstance(value, list) and shape in ("text[]", "integer[]"):
        return ", ".join(_value(each) for each in value)
    return _value(value, shape)


def _value(value: Any, shape: str = "") -> str:
    if isinstance(value, Ref):
        return _path(value)
    if shape == "duration":
        return f"Duration.ofMillis({round(value * 1000)})"
    if isinstance(value, ByPartition):
        return f'Map.of(new TopicPartition("{value.topic}", {value.partition}), {_value(value.value)})'
    if isinstance(value, Mapping):
        return f"Map.of({', '.join(_value(part) for entry in value.items() for part in entry)})"
    if isinstance(value, list):
        function = "Arrays.asList" if None in value else "List.of"
        return f"{function}({', '.join(map(_value, value))})"
    if isinstance(value, bytes):
        return f"new byte[] {{{', '.join(map(str, value))}}}"
    return json.dumps(value)


def _path(value: Ref) -> str:
    parts = (
        f".{camel(field)}()" if field else f".get({index})" if index else f'.get("{key}")'
        for field, index, key in value.steps()
    )
    return value.name + "".join(parts)
