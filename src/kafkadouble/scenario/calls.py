"""A call of a verb that a scenario describes, checked by the verb's own checks.

Every error has the place of the value that is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from kafkadouble.common.errors import KafkaError, UsageError
from kafkadouble.server.configs.did_you_mean import near
from kafkadouble.verbs.double_api import DoubleApi
from kafkadouble.verbs.forms.json_form import from_json
from kafkadouble.verbs.verb import Verb

from .files.document import ScenarioDocument, ValuePath

if TYPE_CHECKING:
    from kafkadouble.host.host import Host
    from kafkadouble.server.faults.rule import Rule


class ScenarioCall(NamedTuple):
    """A verb and its parameters as Python values. `path` leads to it in the document.
    `rule` is the fault rule that it arms, if it arms one."""

    verb: Verb
    given: Mapping[str, Any]
    document: ScenarioDocument
    path: ValuePath
    rule: Rule | None = None

    @property
    def where(self) -> str:
        """FILE:LINE:COLUMN."""
        return self.document.where(self.path)

    def call(self, kafka: DoubleApi) -> None:
        """Calls the verb. An error names the place in the file."""
        with self.naming_the_place():
            self.verb.call(kafka, **self.given)

    @contextmanager
    def naming_the_place(self) -> Iterator[None]:
        """An error of the block names the place in the file."""
        try:
            yield
        except UsageError as problem:
            raise UsageError("{where}: {problem}", where=self.where, problem=problem) from None
        except KafkaError as problem:
            raise KafkaError(problem.code, f"{self.where}: {problem.text}") from None


class _RuleCheck:
    """Stands for the host of a double in a verb that arms a rule: a rule is checked when it is
    made."""

    @property
    def double(self) -> _RuleCheck:
        """Itself."""
        return self

    def arm(self, rule: Rule) -> Rule:
        """The rule, which a scenario arms later."""
        return rule


@contextmanager
def located(document: ScenarioDocument, path: ValuePath, of_key: bool = False) -> Iterator[None]:
    """A UsageError of the block gets this place."""
    try:
        yield
    except UsageError as problem:
        raise document.problem(path, str(problem), of_key) from None


def fields_of(document: ScenarioDocument, path: ValuePath, owner: str, value: Any, names: Collection[str]) -> Any:
    """The value, a mapping with these fields. `owner` is for the error, as `a topic`."""
    if not isinstance(value, Mapping):
        raise document.problem(path, f"{owner} is a mapping with {', '.join(names)}, not {value!r}")
    for name in value:
        if name not in names:
            problem = f"{owner} has no field {name!r}{near(name, names)}; it has {', '.join(names)}"
            raise document.problem((*path, name), problem, of_key=True)
    return value


def items_of(document: ScenarioDocument, path: ValuePath, value: Any) -> Iterator[tuple[ValuePath, Any]]:
    """The elements of a list, each with its path."""
    if not isinstance(value, list):
        raise document.problem(path, f"{path[-1]} is a list, not {value!r}")
    yield from (((*path, index), each) for index, each in enumerate(value))


def checked_call(document: ScenarioDocument, path: ValuePath, verb: Verb, given: Mapping[str, Any]) -> ScenarioCall:
    """The call of a verb with parameters from JSON, which are those that the verb has."""
    values: dict[str, Any] = {}
    for name, value in given.items():
        with located(document, (*path, name)):
            values[name] = from_json(name, value)
            verb.parameters[name].check(values[name])
        if verb.reads_file and name == "path":  # relative to the folder of the scenario
            values[name] = os.path.join(os.path.dirname(document.file), value)
    with located(document, path):
        verb.check(values)
        rule = _rule_of(verb, values)
    return ScenarioCall(verb, values, document, path, rule)


def _rule_of(verb: Verb, values: Mapping[str, Any]) -> Rule | None:
    """The rule that a verb arms, if it arms one. Raises UsageError if the rule makes no sense."""
    if verb.result != "RuleHandle":
        return None
    rule: Rule = (
        values["rule"] if verb.name == "arm" else verb.function(DoubleApi(cast("Host", _RuleCheck())), **values)
    )
    return rule
