"""docs/faults.md: every example runs, and the page names every verb and every field."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, fields
from typing import Any

import pytest

from kafkadouble import Match, RuleHandle, Trigger
from kafkadouble.server.faults.actions import ACTIONS
from kafkadouble.server.faults.match import MATCH_FIELDS
from kafkadouble.server.faults.planes import PLANES
from kafkadouble.server.faults.trigger import TRIGGER_FIELDS
from kafkadouble.verbs.double_api import DoubleApi
from kafkadouble.verbs.registry import VERBS
from tests.support.pages import DOCS, Block, blocks

pytest.importorskip("confluent_kafka")

PAGE = (DOCS / "faults.md").read_text()
SETUP, *EXAMPLES = blocks(PAGE, "python")
FIELDS = (*MATCH_FIELDS, *TRIGGER_FIELDS)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: f"line-{example.line}")
def test_example_runs(example: Block) -> None:
    names: dict[str, Any] = {"__name__": "faults"}
    exec(compile(SETUP.text, "faults.md", "exec"), names)
    try:
        exec(compile("\n" * example.line + example.text, "faults.md", "exec"), names)
    finally:
        names["kafka"].stop()


def rows(heading: str) -> list[str]:
    section = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    (found,) = (part for part in section if part.startswith(f"{heading}\n"))
    return re.findall(r"^\| `(?:kafka\.|handle\.)?(\w+)", found, re.MULTILINE)


def test_every_verb_has_a_row_and_an_example() -> None:
    assert sorted(rows("Verbs")) == [name for name, verb in VERBS.items() if verb.subject == "faults"]
    for verb in rows("Verbs"):
        assert re.search(rf"^### {verb}$", PAGE, re.MULTILINE)
        assert any(re.search(rf"kafka\.{verb}\b", example.text) for example in EXAMPLES)


def test_every_attribute_of_a_handle_has_a_row() -> None:
    assert set(rows("Handles")) == {name for name in vars(RuleHandle) if not name.startswith("_")}


def test_every_field_has_a_row_and_an_example() -> None:
    assert tuple(rows("Fields")) == FIELDS
    headings = re.findall(r"^### ([\w, ]+)$", PAGE.partition("## Fields")[2], re.MULTILINE)
    assert sorted(", ".join(headings).split(", ")) == sorted(FIELDS)


def test_the_defaults_are_those_of_the_code() -> None:
    cells = {
        row.split("|")[1].strip(" `"): row.split("|")[3].strip(" `") for row in PAGE.splitlines() if row.count("|") == 5
    }
    for field in (*fields(Match), *fields(Trigger)):
        if field.default is not MISSING:
            assert cells[field.name] == str(field.default)


def test_every_plane_has_a_row_with_its_fields() -> None:
    (table,) = re.findall(r"^## Planes\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL)
    cells = [[cell.strip() for cell in row.split("|")[1:4]] for row in table.splitlines() if row.startswith("| ")]
    found = {plane: tuple(re.findall(r"`(\w+)`", names)) for plane, names, _ in cells[1:]}
    assert found == {plane: row.fields for plane, row in PLANES.items()}


LISTS = ("fail", "respond")
"""The verbs that make a dialogue of a list."""


@pytest.mark.parametrize("action", ACTIONS)
def test_every_action_has_a_verb_that_takes_its_fields(action: str) -> None:
    if action == "dialogue":
        assert all(f"`{verb}`" in PAGE.partition("## Dialogues")[2] for verb in LISTS)
        return
    verb = {"call": "on"}.get(action, action)
    taken = set(inspect.signature(getattr(DoubleApi, verb)).parameters) | ({"when"} if verb == "disconnect" else set())
    assert set(ACTIONS[action].kinds) <= taken
