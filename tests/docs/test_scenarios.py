"""docs/scenarios.md: its examples run, and describe the same; the schema accepts and refuses what
kafkadouble does."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.scenario.files.document import DEEPEST, MOST_VALUES
from kafkadouble.scenario.files.reading import MOST_BYTES, read
from kafkadouble.scenario.scenario import SECTIONS, load
from kafkadouble.scenario.schema import ITEMS, STEPS, json_schema
from kafkadouble.scenario.step import LONGEST_S, SHORTEST_S, VERB, WHEN
from kafkadouble.scenario.steps import MOST_CALLS
from kafkadouble.verbs.registry import VERBS
from tests.support.pages import DOCS, Block, blocks, run_suite

pytest_plugins = ("pytester",)

PAGE = (DOCS / "scenarios.md").read_text()
FILES = {block.title: block.text for block in blocks(PAGE) if block.title}
EXAMPLES = list(blocks(PAGE, "python"))
SCHEMA = jsonschema.Draft202012Validator(json.loads((DOCS / "scenario.schema.json").read_text()))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with the files of the page."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def values(path: Path) -> Any:
    return read(path).value


def test_both_files_describe_the_same(folder: Path) -> None:
    assert set(FILES) == {"orders.yaml", "orders.toml", "shop.yaml", "ticks.yaml", "replies.yaml"}
    of_yaml, of_toml = values(folder / "orders.yaml"), values(folder / "orders.toml")
    del of_yaml["topics"][0]["records"][2]["value"]  # TOML has no null
    assert of_yaml == of_toml


@pytest.mark.parametrize("name", ["orders.yaml", "orders.toml"])
def test_the_example_runs_with_both(folder: Path, name: str) -> None:
    text = EXAMPLES[0].text.replace("orders.yaml", name)
    exec(compile("\n" * EXAMPLES[0].line + text, "scenarios.md", "exec"), {"__name__": "page"})


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("example", EXAMPLES[2:4], ids=["users", "replies"])
def test_the_examples_with_users_and_with_replies_run(example: Block) -> None:
    text = f"from kafkadouble import KafkaDouble\n{example.text}"
    exec(compile("\n" * example.line + text, "scenarios.md", "exec"), {"__name__": "page"})


def test_the_example_with_an_interval_runs(folder: Path) -> None:
    with KafkaDouble(scenario=folder / "ticks.yaml", stepped=True) as kafka:
        kafka.advance(100)
        assert len(kafka.records("ticks")) == 600
        assert [step.calls for step in kafka.scenario_steps] == [600, 10]


def test_the_suite_passes(pytester: pytest.Pytester) -> None:
    for name, text in FILES.items():
        (pytester.path / name).write_text(text)
    (pytester.path / "test_page.py").write_text(EXAMPLES[1].text)
    run_suite(pytester, "-W", "error").assert_outcomes(passed=1)


def test_scenario_errors_are_as_the_page_shows(folder: Path) -> None:
    changes = {
        "orders.yaml:4": ("partitions: 2", "partitons: 2", "orders.yaml"),
        "orders.yaml:20": ("verb: latency", "verb: kill_brokr", "orders.yaml"),
        "orders.toml:7": ("partition = 0", "partition = 2", "orders.toml"),
    }
    (shown,) = blocks(PAGE, "text")
    for line, (old, new, name) in zip(shown.text.splitlines(), changes.values(), strict=True):
        (folder / name).write_text(FILES[name].replace(old, new))
        with pytest.raises(UsageError) as refused:
            load(name)
        assert str(refused.value) == line
        (folder / name).write_text(FILES[name])


def test_the_limits_are_those_of_the_code() -> None:
    assert MOST_BYTES == 1 << 20
    assert f"| {MOST_VALUES:,}".replace(",", " ") in PAGE
    assert f"| depth | {DEEPEST} levels |" in PAGE
    assert f"from 0 to {LONGEST_S}" in PAGE
    assert f"a number of seconds from {SHORTEST_S}" in PAGE
    assert f"more than {MOST_CALLS}\n  calls" in PAGE


def test_every_section_is_in_the_page_and_in_the_schema() -> None:
    sections = PAGE.partition("\n## Sections\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)` \| ", sections, re.MULTILINE) == list(SECTIONS) == list(ITEMS)


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())


def test_no_parameter_hides_a_field_of_a_step() -> None:
    assert not any({*WHEN, VERB} & each.parameters.keys() for each in VERBS.values())


def test_page_of_scenarios_lists_verbs_that_cannot_be_steps() -> None:
    missing = {each.name for each in VERBS.values() if each not in STEPS and each.subject != "waiting"}
    assert missing == {"advance", "on", "reset", "restore"}


@pytest.mark.parametrize("name", FILES)
def test_the_schema_accepts_the_examples(folder: Path, name: str) -> None:
    SCHEMA.validate(values(folder / name))


WRONG: Mapping[str, Any] = {
    "an unknown section": {"topcs": []},
    "an unknown protocol": {"security": "TLS"},
    "an unknown certificate": {"security": "SSL", "certificate": "old"},
    "a password that is a number": {"security": "SASL_SSL", "users": {"alice": 5}},
    "no users": {"security": "SASL_SSL", "users": {}},
    "an ACL that is a number": {"acls": [5]},
    "an ACL with an unknown field": {"acls": [{"principal": "User:a", "operations": "ALL", "topic": "a"}]},
    "an ACL without a resource": {"acls": [{"principal": "User:a", "operations": "ALL"}]},
    "a super user without a type": {"super_users": ["admin"]},
    "a section that is no list": {"topics": {"orders": {}}},
    "an unknown field of a topic": {"topics": [{"name": "a", "partitons": 1}]},
    "no name": {"topics": [{"partitions": 1}]},
    "a wrong type": {"topics": [{"name": "a", "partitions": "many"}]},
    "an unknown field of a record": {"topics": [{"name": "a", "records": [{"valu": "x"}]}]},
    "a record that is a number": {"topics": [{"name": "a", "records": [5]}]},
    "a negative partition": {"topics": [{"name": "a", "records": [{"partition": -1}]}]},
    "a negative offset": {"groups": [{"group": "g", "offsets": {"a": {"0": -1}}}]},
    "no offsets": {"groups": [{"group": "g"}]},
    "an unknown part of a rule": {"rules": [{"acton": {}}]},
    "an unknown action": {"rules": [{"match": {"api": "Fetch"}, "action": {"type": "fali"}}]},
    "a rule without an API": {"rules": [{"match": {}, "action": {"type": "ignore"}}]},
    "a step in the past": {"steps": [{"at": -1, "verb": "down"}]},
    "a step without a time": {"steps": [{"verb": "down"}]},
    "no interval": {"steps": [{"every": 0, "verb": "down"}]},
    "an end without an interval": {"steps": [{"at": 1, "until": 2, "verb": "down"}]},
    "a record without a topic": {"steps": [{"on_record": {}, "verb": "produce", "topic": "a"}]},
    "another verb for a record": {"steps": [{"on_record": {"topic": "a"}, "verb": "down"}]},
    "a time for a record": {"steps": [{"on_record": {"topic": "a"}, "at": 1, "verb": "produce", "topic": "b"}]},
    "an unknown field for a record": {
        "steps": [{"on_record": {"topic": "a", "hits": 1}, "verb": "produce", "topic": "b"}]
    },
    "a field that no record has": {
        "steps": [{"on_record": {"topic": "a"}, "verb": "produce", "topic": "b", "key": {"record": "offset"}}]
    },
    "a record that did not arrive": {"steps": [{"at": 1, "verb": "produce", "topic": "b", "key": {"record": "key"}}]},
    "an unknown verb": {"steps": [{"at": 1, "verb": "kill_brokr", "broker": 1}]},
    "a verb that needs a function": {"steps": [{"at": 1, "verb": "on", "api": "Fetch"}]},
    "a parameter that is a function": {"steps": [{"at": 1, "verb": "ignore", "api": "Fetch", "predicate": "f"}]},
    "an unknown parameter": {"steps": [{"at": 1, "verb": "kill_broker", "brokr": 1}]},
    "no parameter": {"steps": [{"at": 1, "verb": "kill_broker"}]},
    "a wrong parameter": {"steps": [{"at": 1, "verb": "kill_broker", "broker": "one"}]},
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=list(WRONG))
def test_schema_and_file_refuse_the_same(tmp_path: Path, wrong: Any) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(json.dumps(wrong))
    with pytest.raises(UsageError, match=re.escape(f"{path}:1:")):
        load(path)
    assert list(SCHEMA.iter_errors(wrong)) != []
