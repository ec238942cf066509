"""One fault as a value: to what it happens (requests, connections, links, disks), when, and what.

Rules. A rule is plain data that goes through JSON and back unchanged: Python, a file and a command
line share it. It has no link to a node, and counts nothing (`armed.py` counts). Names are Kafka's.
A rule that makes no sense is refused when it is made, with the nearest valid name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from kafkadouble.wire.errors import UsageError
from kafkadouble.wire.wording import ShownValue

from . import LINK, REQUEST, field_kinds
from .action_form import action_from_json, action_schemas, action_to_json, exact_bytes, types_of_requests
from .actions import ACTIONS, TYPES, Action, Call, Fail, Respond
from .connection_actions import Latency
from .dialogue import Dialogue
from .dialogue_steps import check_steps, check_times
from .field_kinds import AFTER, EVERY_API, check_api, check_fields, error_name, from_object, given_fields, schema_of
from .match import MATCH_FIELDS, Match
from .planes import check_plane, plane_of
from .sentence import sentence
from .trigger import TRIGGER_FIELDS, Trigger

__all__ = ["AFTER", "EVERY_API", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """`match` says to what it happens, `trigger` when, `action` what happens. Raises UsageError if
    the rule makes no sense."""

    match: Match
    action: Action
    trigger: Trigger = field(default_factory=Trigger)

    def __post_init__(self) -> None:
        """The one check of a rule, however it was made: no other place checks one again. Its error
        is then given by name, and its link is a pair."""
        if type(self.action) not in TYPES or not isinstance(self.match, Match) or not isinstance(self.trigger, Trigger):
            raise UsageError(f"a rule has a Match, an action and a Trigger, not {self.match!r}, {self.action!r}")
        row = ACTIONS[TYPES[type(self.action)]]
        action = _normal(self.action)
        check_fields("a rule", self.match, MATCH_FIELDS)
        check_fields("a rule", self.trigger, TRIGGER_FIELDS)
        check_fields("a rule", action, row.kinds)
        self._keep("action", _checked_steps(self, action) if isinstance(action, Dialogue) else action)
        # JSON has no tuples.
        link: Any = self.match.link
        self._keep("match", replace(self.match, link=tuple(link)) if isinstance(link, list) else self.match)
        check_plane(self.plane, TYPES[type(action)], self.match, row.without if self.plane != LINK else ())
        if self.plane == REQUEST:
            if self.match.api is None:
                raise UsageError("api of a rule is the name of an API, or *, not {none}", none=ShownValue(None))
            check_api(self.match.api)
        if isinstance(action, Latency) and action.jitter > action.seconds:
            raise UsageError(f"jitter of a rule is at most its seconds, {action.seconds:g}, not {action.jitter}")

    def _keep(self, name: str, value: Any) -> None:
        """Sets a field while the rule is made; it does not change later."""
        object.__setattr__(self, name, value)

    @classmethod
    def of(cls, action: str, **given: Any) -> Rule:
        """A rule from keywords. `action` is the type of an action; the keywords are the fields of
        the action, of Match and of Trigger. Raises UsageError if the rule makes no sense."""
        if action not in ACTIONS:
            raise field_kinds.unknown("a rule has no action", action, ACTIONS)
        own = {each.name for each in fields(ACTIONS[action].cls)}
        parts: dict[str, dict[str, Any]] = {"match": {}, "trigger": {}, "action": {"type": action}}
        for name, value in given.items():
            parts[_part_of(name, own)][name] = value
        return cls.from_dict(parts)

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> Rule:
        """The rule that a JSON object describes. Raises UsageError."""
        for name in given:
            if name not in ("match", "trigger", "action"):
                raise field_kinds.unknown("a rule has no field", name, ("match", "trigger", "action"))
        match = from_object("the match of a rule", Match, _with_api(given))
        trigger = from_object("the trigger of a rule", Trigger, given.get("trigger", {}))
        action = action_from_json(given.get("action"))
        if isinstance(action, Dialogue):
            check_times(given.get("trigger", {}))
        return cls(match, action, trigger)

    @property
    def plane(self) -> str:
        """The plane that its action works in: request, connection, link or disk."""
        return plane_of(ACTIONS[TYPES[type(self.action)]].planes, self.match)

    @property
    def is_one_off(self) -> bool:
        """Whether it holds nothing once it was applied, so that it ends when it is spent."""
        return ACTIONS[TYPES[type(self.action)]].is_one_off

    @property
    def times(self) -> int | None:
        """To how many requests, connections and so on it applies; None is to all."""
        return len(self.action.steps) if isinstance(self.action, Dialogue) else self.trigger.times

    @property
    def has_function(self) -> bool:
        """Whether it calls a function of the program."""
        return self.match.predicate is not None or isinstance(self.action, Call)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object, without fields that have their default. Raises UsageError for a
        function."""
        if self.has_function:
            raise UsageError("a rule with a function cannot be written as JSON")
        trigger = given_fields(self.trigger)
        return {
            "match": _as_json(given_fields(self.match)),
            **({"trigger": trigger} if trigger else {}),
            "action": action_to_json(self.action),
        }

    @staticmethod
    def json_schema() -> dict[str, Any]:
        """The JSON schema of the objects that `from_dict` takes."""
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "A fault rule of kafkadouble",
            "type": "object",
            "properties": {
                "match": schema_of(Match, MATCH_FIELDS),
                "trigger": schema_of(Trigger, TRIGGER_FIELDS),
                "action": {"oneOf": action_schemas()},
            },
            "required": ["action"],
            "additionalProperties": False,
            "if": {"properties": {"action": {"properties": {"type": {"enum": types_of_requests()}}}}},
            "then": {"required": ["match"], "properties": {"match": {"required": ["api"]}}},
        }

    def __repr__(self) -> str:
        return sentence(self.match, self.action, self.trigger)


def _part_of(name: str, own: set[str]) -> str:
    if name in own:
        return "action"
    if name in MATCH_FIELDS:
        return "match"
    if name in TRIGGER_FIELDS:
        return "trigger"
    raise field_kinds.unknown("a rule has no field", name, [*own, *MATCH_FIELDS, *TRIGGER_FIELDS])


def _as_json(match: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in match.items()}


def _with_api(given: Mapping[str, Any]) -> Any:
    """The JSON object of the match. A rule for requests must have an API in it."""
    match, action = given.get("match", {}), given.get("action")
    name = action.get("type") if isinstance(action, Mapping) else None
    has_no_api = isinstance(name, str) and name in ACTIONS and REQUEST not in ACTIONS[name].planes
    names = {each.name for each in fields(Match)}
    if isinstance(match, Mapping) and match.keys() <= names and "api" not in match and not has_no_api:
        raise UsageError("the match of a rule needs api")
    return match


def _normal(action: Action) -> Action:
    """The same action, with an error by its name and exact bytes as bytes."""
    if isinstance(action, Fail):
        return replace(action, error=error_name(action.error))
    return replace(action, body=exact_bytes(action.body)) if isinstance(action, Respond) else action


def _checked_steps(rule: Rule, dialogue: Dialogue) -> Dialogue:
    check_times(rule.trigger)
    check_steps(dialogue.steps)
    return Dialogue(tuple(step and replace(rule, action=step).action for step in dialogue.steps))
