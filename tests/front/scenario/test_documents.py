"""What a scenario file's values are, and where each is."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkadouble.scenario.files.document import FilePosition, ValuePath
from kafkadouble.scenario.files.reading import read
from kafkadouble.scenario.files.toml_places import TomlPlaces

TOML = '''\
# a comment with [brackets] = and "quotes"
top = 1
dotted.key . "with space" = 2
'quoted "key"' = 3
"escaped \\u0041" = 4

[table]  # a comment
text = "a # b ] } , \\" c"
literal = 'C:\\path ["x'
multi = """
[not.a.table]
x = 1 \\""" still ""quoted"" """
literals = \'\'\'
[[no]] '' it's\'\'\'\'
after = 5

[table.below]
inline = { a = 1, "b.c" = [ { d = 2 }, { d = 3 } ], e.f = 4 }
list = [
  1, # one, [
  [2, 3],
  "four", # ]
  \'\'\'five
]\'\'\',
]
empty = []
nothing = {}

[[array]]
name = "first"
[[array.inner]]
n = 1
[[array.inner]]
n = 2
[[array]]
name = "second"
[array.sub]
x = 1.5e3
[[ spaced . "array" ]]
y = true
'''


def leaves(value: Any, path: ValuePath = ()) -> Iterator[tuple[ValuePath, Any]]:
    yield path, value
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(each, (*path, key))


def test_every_value_of_toml_has_its_place() -> None:
    places = TomlPlaces(TOML)
    found = dict(leaves(tomllib.loads(TOML)))
    assert set(places.values) == set(found)
    scalars = {path: value for path, value in found.items() if not isinstance(value, dict | list)}
    assert len(scalars) == 24
    for path, value in scalars.items():
        line = TOML[places.values[path] :]
        shown = {"True": "true", "1500.0": "1.5e3"}.get(str(value), str(value))
        assert line.startswith(('"', "'") if isinstance(value, str) else shown), path
        if isinstance(path[-1], str):
            assert path[-1].partition(" ")[0] in TOML[places.keys[path] :].partition("=")[0].replace('"', ""), path


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(TOML)), st.integers(0, 3), st.sampled_from(TOML)), max_size=3))
def test_toml_positions_are_found_for_every_document_of_tomllib(changes: list[tuple[int, int, str]]) -> None:
    text = TOML
    for at, removed, added in changes:
        text = text[:at] + added + text[at + removed :]
    try:
        value = tomllib.loads(text)
    except ValueError:
        return
    assert set(TomlPlaces(text).values) == {path for path, _ in leaves(value)}


def test_the_place_of_a_list_is_its_bracket() -> None:
    places = TomlPlaces(TOML)
    for path in (("table", "below", "list"), ("table", "below", "inline", "b.c"), ("table", "below", "empty")):
        assert TOML[places.values[path]] == "["
    assert TOML[places.values["table", "below", "inline", "b.c", 1]] == "{"


def test_the_place_of_a_table_is_its_key_in_the_header() -> None:
    places = TomlPlaces(TOML)
    for path, text in ((("array", 1), 'array]]\nname = "second"'), (("table", "below"), "below]\ninline")):
        assert TOML[places.values[path] :].startswith(text)


def test_plain_values_are_those_of_yaml_1_2(tmp_path: Path) -> None:
    path = tmp_path / "x.yml"
    path.write_text(
        "a: [no, yes, on, off, y, 2026-01-01, 12:30:45, 1_000, =, '5', ~, null, '', true, False]\n"
        "b: [5, -7, 0o17, 0x1F, 017, 1.5, .5, 1e3, -.inf, !!str 5, !!float '1', !!null '']\n"
        "c: {1: one, true: two, ~: three, 2026-01-01: four}\n"
        "d: |\n  two\n  lines\n"
    )
    assert read(path).value == {
        "a": ["no", "yes", "on", "off", "y", "2026-01-01", "12:30:45", "1_000", "=", "5", None, None, "", True, False],
        "b": [5, -7, 15, 31, 17, 1.5, 0.5, 1000.0, float("-inf"), "5", 1.0, None],
        "c": {"1": "one", "true": "two", "~": "three", "2026-01-01": "four"},
        "d": "two\nlines\n",
    }


def test_an_alias_stands_for_its_value(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: &same {x: [1]}\nb: *same\n")
    document = read(path)
    assert document.value == {"a": {"x": [1]}, "b": {"x": [1]}}
    assert document.locate(("b", "x", 0), False) == FilePosition(1, 15)


@pytest.mark.parametrize(("suffix", "text"), [(".yaml", "\ufefftopics: []\r\n"), (".TOML", "\ufefftopics = []\r\n")])
def test_scenario_with_windows_line_ends_is_read(tmp_path: Path, suffix: str, text: str) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(text.encode())
    assert read(path).value == {"topics": []}


@pytest.mark.parametrize("name", ["x.yaml", "x.toml"])
def test_an_empty_file_has_no_sections(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("# nothing\n")
    assert read(tmp_path / name).value == {}
