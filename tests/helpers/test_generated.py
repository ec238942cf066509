"""The libraries have every verb, and their generated files are up to date."""

import re
from pathlib import Path

import pytest

from helpers.generate import made
from helpers.generate.literals import LITERALS
from helpers.generate.model import VerbModel, optional_parameters, verbs
from helpers.generate.results import parsed, results
from kafkadouble import KafkaDouble
from kafkadouble.control.calls.verb_calls import described, short
from kafkadouble.verbs.forms.json_form import to_json
from kafkadouble.wire.wording import camel, exported
from tests.front import hello

FILES = made()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_generated_file_is_up_to_date(path: Path) -> None:
    assert path.read_text() == FILES[path], "run python -m helpers.generate"


def test_every_verb_of_the_control_plane_is_there() -> None:
    assert [verb.name for verb in verbs()] == [each["name"] for each in described()]


def test_every_parameter_is_there() -> None:
    given = {each["name"]: {one["name"] for one in each["parameters"]} for each in described()}
    assert {verb.name: {one.name for one in (*verb.required, *verb.optional)} for verb in verbs()} == given


def test_a_parameter_of_two_types_is_refused() -> None:
    first, *_ = [verb for verb in verbs() if verb.optional]
    other = first._replace(optional=(first.optional[0]._replace(shape="other"),))
    with pytest.raises(ValueError, match="has several types"):
        optional_parameters([first, other])


@pytest.mark.parametrize(
    ("result", "parts"),
    [
        ("integer", ("integer", [])),
        ("integer | None", ("optional", ["integer"])),
        ("list[Record]", ("list", ["Record"])),
        ("dict[text, dict[integer, integer]]", ("dict", ["text", "dict[integer, integer]"])),
    ],
)
def test_types_of_results_have_parts(result: str, parts: tuple[str, list[str]]) -> None:
    assert parsed(result) == parts


def test_a_request_has_the_fields_of_its_json() -> None:
    with KafkaDouble() as kafka:
        with hello.connect(kafka) as sock:
            hello.says_hello(sock)
        (seen,) = kafka.requests
        fields = {each.name for each in next(result for result in results() if result.name == "Request").fields}
        assert fields == {*seen.to_json(), *short(seen)}


def test_a_snapshot_has_the_fields_of_its_json() -> None:
    with KafkaDouble() as kafka:
        fields = [each.name for each in next(result for result in results() if result.name == "Snapshot").fields]
        assert fields == [*to_json(kafka.snapshot())]


def test_generated_enums_are_used() -> None:
    of_parameters = {word for verb in verbs() for each in (*verb.required, *verb.optional) for word in each.words}
    of_fields = {field.words for result in results() for field in result.fields}
    assert {*LITERALS} <= of_parameters | of_fields
    assert {parameter for parameter in of_parameters if parameter[0] != "'"} | of_fields - {""} <= {*LITERALS}


def test_node_has_a_type_for_every_parameter_of_json() -> None:
    """`any` is left where a parameter is any value of JSON."""
    text = next(text for path, text in FILES.items() if path.name == "verbs.d.ts")
    assert re.findall(r"(\w+)\??: any\b", text) == ["value"]


def test_go_has_a_method_for_every_verb() -> None:
    text = next(text for path, text in FILES.items() if path.name == "verbs.go")
    models: list[VerbModel] = verbs()
    assert all(f"func (c *Client) {exported(model.name)}(" in text for model in models)


def test_node_has_a_method_and_types_for_every_verb() -> None:
    code, types = (
        next(text for path, text in FILES.items() if path.name == name) for name in ("verbs.js", "verbs.d.ts")
    )
    assert all(f"\n  {camel(verb.name)}(" in code and f"\n  {camel(verb.name)}(" in types for verb in verbs())


def test_java_has_a_method_for_every_verb() -> None:
    text = next(text for path, text in FILES.items() if path.name == "Verbs.java")
    assert all(f" {camel(verb.name)}(" in text for verb in verbs())
