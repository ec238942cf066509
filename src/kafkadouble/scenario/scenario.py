"""A scenario: what a double starts with, checked. `load` reads it from a file.

Everything that can be known without a double is checked here: fields, types, names of verbs, APIs
and errors, names that are there twice, partitions that a topic does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.access.client_access import NAMES, ClientAccess

from .access_sections import access_of, acls_of, certificate_of, protocol_of, super_users_of, tokens_of, users_of
from .calls import ScenarioCall, fields_of
from .contents import ScenarioTopic, groups_of, no_partition, rules_of, topics_of
from .files.document import ScenarioDocument, ValuePath
from .files.reading import read
from .record_trigger import TOPIC
from .step import ScenarioStep, steps_of

if TYPE_CHECKING:
    from os import PathLike

    from kafkadouble.access.acls import AclBinding
    from kafkadouble.common.literals import TokenKind
    from kafkadouble.server.faults.rule import Rule


class Scenario(NamedTuple):
    """The sections of a scenario, in the order of the file; steps are in the order of their times.
    `access` is what the first six sections give together."""

    file: str
    security: str | None = None
    certificate: str | None = None
    users: Mapping[str, str] | None = None
    oauthbearer: TokenKind | None = None
    acls: tuple[AclBinding | str, ...] | None = None
    super_users: tuple[str, ...] | None = None
    topics: tuple[ScenarioTopic, ...] = ()
    groups: tuple[ScenarioCall, ...] = ()
    rules: tuple[ScenarioCall, ...] = ()
    steps: tuple[ScenarioStep, ...] = ()
    access: ClientAccess = ClientAccess()

    def __repr__(self) -> str:
        return f"the scenario {self.file}"

    @property
    def all_rules(self) -> tuple[Rule, ...]:
        """The fault rules of the section, and those that steps arm."""
        calls = (*self.rules, *(step.call for step in self.steps))
        return tuple(call.rule for call in calls if call.rule is not None)


SECTIONS: dict[str, Callable[[ScenarioDocument, ValuePath, Any], Any]] = {
    "security": protocol_of,
    "certificate": certificate_of,
    "users": users_of,
    "oauthbearer": tokens_of,
    "acls": acls_of,
    "super_users": super_users_of,
    "topics": topics_of,
    "groups": groups_of,
    "rules": rules_of,
    "steps": steps_of,
}
"""By name: what checks a section."""


def load(scenario: str | PathLike[str]) -> Scenario:
    """The scenario in a file, *.yaml, *.yml or *.toml. Raises UsageError, which begins with
    FILE:LINE:COLUMN if the file can be read."""
    document = read(scenario)
    fields = fields_of(document, (), "a scenario", document.value, SECTIONS)
    arguments: dict[str, Any] = {
        name: check(document, (name,), fields[name]) for name, check in SECTIONS.items() if name in fields
    }
    made = Scenario(document.file, **arguments)
    made = made._replace(access=access_of(document, {name: getattr(made, name) for name in NAMES}))
    check_circles(made.steps)
    for group in made.groups:
        _check_partitions(group, made.topics)
    return made


def _check_partitions(group: ScenarioCall, topics: tuple[ScenarioTopic, ...]) -> None:
    by_name = {topic.name: topic for topic in topics}
    for name, index in group.given["offsets"]:
        if name in by_name and not index < by_name[name].partitions:
            path = (*group.path, "offsets", name, str(index))
            raise group.document.problem(path, no_partition(by_name[name], index), of_key=True)


def check_circles(steps: Iterable[ScenarioStep]) -> None:
    """Refuses steps that would produce for each other without an end: those from whose topics
    records are led back to them. A step with `times` leads to an end."""
    leads = [step for step in steps if step.on_record and step.on_record.times is None and TOPIC not in step.taken]
    while leads:
        topics = {step.on_record.topic for step in leads if step.on_record}
        going_on = [step for step in leads if step.call.given[TOPIC] in topics]
        if len(going_on) == len(leads):
            raise _circle(leads)
        leads = going_on


def _circle(steps: list[ScenarioStep]) -> Exception:
    """The error for steps each of which leads to another one of them."""
    by_topic: Mapping[str, ScenarioStep] = {step.on_record.topic: step for step in steps if step.on_record}
    way = [next(iter(by_topic))]
    while (topic := by_topic[way[-1]].call.given[TOPIC]) not in way:
        way.append(topic)
    call = by_topic[topic].call
    names = " to ".join([*way[way.index(topic) :], topic])
    problem = f"records would go from {names} without an end: give on_record times"
    return call.document.problem((*call.path, "on_record"), problem)
