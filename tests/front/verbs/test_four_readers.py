"""The registry has four readers: Python, HTTP, the command line, and scenario files. They take the
same inputs, and refuse the same inputs with the same message, in the words of the reader."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.cli import ctl
from kafkadouble.cli.calling import words as ctl_words
from kafkadouble.control.server import ControlServer
from kafkadouble.scenario import scenario
from kafkadouble.scenario.step import reason_against
from kafkadouble.verbs.registry import VERBS
from kafkadouble.verbs.verb import Parameter, Verb
from kafkadouble.wire.wording import Caller
from tests.control.http import call
from tests.front.verbs.good_calls import GOOD

WRONG: dict[str, Any] = {
    "text": [1],
    "integer": "five",
    "number": "five",
    "switch": "yes",
    "object": "five",
    "list": "five",
    "value": [1.5],
}
"""By kind of parameter: a value that is wrong."""

READ = [verb for verb in VERBS.values() if verb.is_for_json and not verb.reads_file]
ROWS = [(verb, parameter) for verb in READ for parameter in verb.parameters.values() if parameter.schema is not None]
GOOD_CALLS = [verb.name for verb in READ if not callable(GOOD[verb.name].given)]


@pytest.fixture(scope="module")
def control() -> Iterator[ControlServer]:
    with KafkaDouble() as kafka, ControlServer(kafka) as control:
        yield control


def python_says(verb: Verb, given: dict[str, Any]) -> UsageError | None:
    try:
        verb.check(verb.from_json(given))
    except UsageError as problem:
        return problem
    return None


def load_step(folder: Path, verb: Verb, given: dict[str, Any]) -> Any:
    """The step of a scenario file; JSON is YAML."""
    file = folder / "scenario.yaml"
    file.write_text(json.dumps({"steps": [{"at": 0, "verb": verb.name, **given}]}))
    return scenario.load(file).steps[0]


@pytest.mark.parametrize(("verb", "parameter"), ROWS, ids=[f"{verb.name}-{each.name}" for verb, each in ROWS])
def test_wrong_parameter_of_a_verb_is_refused_by_all_four_readers(
    verb: Verb,
    parameter: Parameter,
    control: ControlServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = {**_before(verb, parameter), parameter.name: WRONG[parameter.kind]}
    problem = python_says(verb, given)
    if problem is None:
        assert parameter.name in ("value", "headers", "records", "predicate"), given
        return
    answer = call(control.url, "POST", f"/verbs/{verb.name}", given)
    assert (answer.status, answer.error["message"]) == (400, problem.in_words_of(Caller.HTTP))
    words = [f"--{name}={json.dumps(value) if not isinstance(value, str) else value}" for name, value in given.items()]
    if parameter.kind in ("integer", "number"):
        # A shell can give a text where one of these is allowed.
        assert ctl.main(["--url", control.url, verb.name, *words]) == 2
        assert capsys.readouterr().err == f"kafkadouble: {problem.in_words_of(Caller.COMMAND_LINE)}\n"
    if reason_against(verb) is None:
        with pytest.raises(UsageError) as refused:
            load_step(tmp_path, verb, given)
        assert str(refused.value).endswith(f": {problem}")


def _before(verb: Verb, parameter: Parameter) -> dict[str, Any]:
    """Good values for the required parameters that are checked before."""
    good = GOOD[verb.name]
    names = list(verb.parameters)
    required = [name for name in names[: names.index(parameter.name)] if verb.parameters[name].is_required]
    values = STAND_IN if callable(good.given) else verb.to_json(good.parameters(KafkaDouble()))
    return {name: values[name] for name in required}


STAND_IN = {"topic": "t", "partition": 0, "group": "g", "member_id": "m", "broker": 1, "rule": 1, "snapshot": "s"}


@pytest.mark.parametrize("name", GOOD_CALLS)
def test_good_call_of_a_verb_is_accepted_by_all_four_readers(name: str, tmp_path: Path) -> None:
    verb = VERBS[name]
    python = GOOD[name].parameters(KafkaDouble())
    given = verb.to_json(python)
    assert python_says(verb, given) is None
    assert verb.to_json(verb.from_json(given)) == given
    words = [
        (
            f"--{'' if value else 'no-'}{key}"
            if isinstance(value, bool) and key != "error"
            else f"--{key}={_text(value)}"
        )
        for key, value in given.items()
    ]
    assert ctl_words.parameters(verb, words) == given
    if reason_against(verb) is None:
        assert verb.to_json(load_step(tmp_path, verb, given).call.given) == given


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
