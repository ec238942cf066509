"""The canonical text of a specification: what it keeps, what it refuses; and every committed spec
is written in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from codegen import jars, style

COMMITTED = sorted(jars.OURS.glob("*/*.json"))

CANONICAL = """\
{
  "apiKey": 7,
  "type": "request",
  "name": "PingRequest",
  "validVersions": "0-2",
  "flexibleVersions": "1+",
  "listeners": ["broker", "controller"],
  "commonStructs": [
    { "name": "Pair", "versions": "0+", "fields": [
      { "name": "Key", "type": "string", "versions": "0+", "about": "See https://example.org/* for keys." }
    ]}
  ],
  "fields": [
    { "name": "Pairs", "type": "[]Pair", "versions": "0+", "nullableVersions": "1+", "default": "null", "ignorable": true,
      "about": "A text that does not fit beside so many facts." },
    { "name": "Inner", "type": "Inner", "versions": "1+", "about": "A struct of its own.", "fields": [
      { "name": "Tagged", "type": "int32", "versions": "2+", "taggedVersions": "2+", "tag": 0, "default": -1 }
    ]},
    { "name": "Bare", "type": "Bare", "versions": "1+", "fields": []}
  ]
}
"""


def test_style_check_finds_message_specs() -> None:
    assert len(COMMITTED) == 286


def test_every_committed_spec_is_in_canonical_style() -> None:
    texts = {path.name: path.read_text(encoding="utf-8") for path in COMMITTED}
    assert [name for name, text in texts.items() if style.dumps(style.loads(text)) != text] == []


def test_every_field_of_every_spec_has_a_description() -> None:
    prose = re.compile(r"\w\S*( \S+){2,}\.")
    specs = [style.loads(path.read_text(encoding="utf-8")) for path in COMMITTED]
    found = [(spec["name"], field["name"], field.get("about", "")) for spec in specs for field in fields(spec)]
    assert len(found) > 2000
    assert [field for field in found if not prose.fullmatch(field[2])] == []


def test_canonical_spec_is_written_as_it_was_read() -> None:
    assert style.dumps(style.loads(CANONICAL)) == CANONICAL


def test_spec_of_any_layout_is_brought_into_canonical_style() -> None:
    noisy = CANONICAL.replace('"name": "PingRequest",', '"name": "PingRequest", // its name\n').replace(
        " { ", "\n{ /* a\n field */"
    )
    assert noisy != CANONICAL
    assert style.dumps(style.loads("// head\n" + noisy)) == CANONICAL


def test_keys_come_in_one_order() -> None:
    spec = style.loads(
        '{"fields": [{"about": "A.", "tag": 0, "type": "int8", "name": "F"}], "name": "M", "type": "data"}'
    )
    line = '    { "name": "F", "type": "int8", "tag": 0, "about": "A." }'
    assert style.dumps(spec) == f'{{\n  "type": "data",\n  "name": "M",\n  "fields": [\n{line}\n  ]\n}}\n'


@pytest.mark.parametrize(("spare", "lines"), [(0, 1), (-1, 2)])
def test_a_line_is_filled_to_the_width_and_no_further(spare: int, lines: int) -> None:
    frame = '    { "name": "F", "type": "int8", "versions": "0+", "about": "" },'
    about = "x" * (style.WIDTH - len(frame) - spare)
    other = {"name": "G", "type": "int8", "versions": "0+"}
    field = {"name": "F", "type": "int8", "versions": "0+", "about": about}
    text = style.dumps({"type": "data", "name": "M", "fields": [field, other]})
    assert max(map(len, text.splitlines())) <= style.WIDTH
    assert len(text.splitlines()) == 7 + lines


@pytest.mark.parametrize(
    "broken",
    [
        '{"name": "M", "fieldz": []}',
        '{"name": "M", "fields": [{"name": "F", "nulable": "0+"}]}',
        '{"name": "M", "commonStructs": [{"name": "S", "versions": "0+", "fields": [], "tag": 0}]}',
    ],
)
def test_a_key_that_would_be_lost_is_refused(broken: str) -> None:
    with pytest.raises(ValueError, match="unknown key"):
        style.dumps(style.loads(broken))


@pytest.mark.parametrize("broken", ["[]", "{", '{"name": "M", "name": "N"}', '{"name": "M",}', '{"name": "M"} x'])
def test_invalid_message_spec_is_refused(broken: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        style.loads(broken)


def fields(owner: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every field of a spec, including those of its structs."""
    for struct in owner.get("commonStructs", ()):
        yield from fields(struct)
    for field in owner.get("fields", ()):
        yield field
        yield from fields(field)
