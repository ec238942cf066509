"""One fault as a value: what happens, to which requests, and how often.

Rules. A rule is plain data that goes through JSON and back unchanged: Python, a file and a command
line share it. It has no link to a node, and counts nothing (`armed.py` counts). Names are Kafka's.
A rule that makes no sense is refused when it is made, with the nearest valid name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypedDict, cast

from kafkadouble.messages import error_codes, registry
from kafkadouble.wire.errors import UsageError

from ..configs.did_you_mean import near

FAIL, DELAY, DISCONNECT = "fail", "delay", "disconnect"
BEFORE, AFTER = "before", "after"
EVERY_API = "*"


class Rule(NamedTuple):
    """What happens to the requests that match.

    `action`: `fail` answers with `error` (and `message`, if the response has a field for one);
    `delay` lets `seconds` pass; `disconnect` closes the connection without an answer. `when`:
    before the request is processed, or after it. `api` is a name, or `*`. A rule ignores the first
    `on_call - 1` requests that match, and applies to the next `times` of them (None: to all), to
    each with `probability`, decided by random numbers that start at `seed`. The other fields
    narrow the match; None is anything. `broker` is a node id.

    The rule applies to requests of clients. With `peers` it applies to requests between nodes too,
    over sockets and inside one process.
    """

    action: str
    api: str
    error: str | None = None
    message: str | None = None
    seconds: float | None = None
    when: str = BEFORE
    times: int | None = 1
    on_call: int = 1
    probability: float | None = None
    seed: int | None = None
    topic: str | None = None
    partition: int | None = None
    group: str | None = None
    transactional_id: str | None = None
    client_id: str | None = None
    broker: int | None = None
    peers: bool = False

    @classmethod
    def of(cls, **fields: Any) -> Rule:
        """A checked rule with these fields. Raises UsageError if it makes no sense."""
        return cls.from_dict(fields)

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Rule:
        """The rule that a JSON object describes."""
        for name in fields:
            if name not in cls._fields:
                raise _unknown("a rule has no field", name, cls._fields)
        if missing := [name for name in ("action", "api") if name not in fields]:
            raise UsageError(f"a rule needs {' and '.join(missing)}")
        return checked(cls(**fields))

    def to_dict(self) -> dict[str, Any]:
        """The fields that differ from the defaults, for `from_dict`."""
        defaults = self._field_defaults
        return {
            name: value
            for name, value in zip(self._fields, self, strict=True)
            if value != defaults.get(name, value) or name not in defaults
        }

    @property
    def code(self) -> int:
        """The error code of a rule that fails."""
        return cast(int, getattr(error_codes, cast(str, self.error)))

    def __repr__(self) -> str:
        try:
            checked(self)
        except UsageError:  # made by hand, and refused when it is armed
            return f"Rule({', '.join(f'{name}={value!r}' for name, value in self.to_dict().items())})"
        peers = "also between nodes" if self.peers else ""
        return " ".join(filter(None, (self._what(), self._where(), peers, self._how_often())))

    def _what(self) -> str:
        api = "any request" if self.api == EVERY_API else self.api
        late = f" {self.when} it is processed" if self.when == AFTER else ""
        details = {
            FAIL: f"with {self.error}",
            DELAY: f"by {self.seconds:g} s" if self.seconds is not None else "",
            DISCONNECT: "",
        }
        return " ".join(filter(None, (f"{self.action} {api}", details[self.action]))) + late

    def _where(self) -> str:
        return ", ".join(f"{name} {value!r}" for name, value in self.scope().items())

    def _how_often(self) -> str:
        first = f"from the {self.on_call}. on" if self.on_call > 1 else ""
        often = "every time" if self.times is None else "once" if self.times == 1 else f"{self.times} times"
        chance = f"with probability {self.probability:g}" if self.probability is not None else ""
        return " ".join(filter(None, (first, often, chance)))

    def scope(self) -> dict[str, str | int]:
        """The fields that narrow the match, by name."""
        return {name: value for name in SCOPE if (value := getattr(self, name)) is not None}


class Narrowing(TypedDict, total=False):
    """The keywords that narrow a rule or choose among matching requests; see `Rule`."""

    on_call: int
    probability: float | None
    seed: int | None
    topic: str | None
    partition: int | None
    group: str | None
    transactional_id: str | None
    client_id: str | None
    broker: int | None
    peers: bool


SCOPE = ("topic", "partition", "group", "transactional_id", "client_id", "broker")


def _integer_from(lowest: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= lowest


def _number(lowest: float, highest: float) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int | float) and not isinstance(value, bool) and lowest <= value <= highest


def _one_of(*values: str) -> Callable[[Any], bool]:
    return lambda value: value in values


def _text(value: Any) -> bool:
    return isinstance(value, str)


_CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "action": (_one_of(FAIL, DELAY, DISCONNECT), "fail, delay or disconnect"),
    "message": (_text, "a text"),
    "seconds": (_number(0, 86_400), "a number of seconds from 0 to 86400"),
    "when": (_one_of(BEFORE, AFTER), "before or after"),
    "times": (_integer_from(1), "a count from 1, or None for every time"),
    "on_call": (_integer_from(1), "a count from 1"),
    "probability": (_number(0, 1), "a number from 0 to 1"),
    "seed": (_integer_from(0), "an integer from 0"),
    "topic": (_text, "a topic's name"),
    "partition": (_integer_from(0), "an index from 0"),
    "group": (_text, "a group's id"),
    "transactional_id": (_text, "a text"),
    "client_id": (_text, "a text"),
    "broker": (_integer_from(0), "a node id from 0"),
    "peers": (lambda value: isinstance(value, bool), "True or False"),
}
"""The values of each field. Optional fields may be None as well."""

_NEVER_NONE = ("action", "when", "on_call", "peers")

_BELONGS_TO = {"error": FAIL, "message": FAIL, "seconds": DELAY}


def checked(rule: Rule) -> Rule:
    """The same rule, with its error by name. Raises UsageError for a field with a wrong value."""
    for name, (fits, expected) in _CHECKS.items():
        value = getattr(rule, name)
        if (value is None and name in _NEVER_NONE) or (value is not None and not fits(value)):
            raise UsageError(f"{name} of a rule is {expected}, not {value!r}")
    for name, action in _BELONGS_TO.items():
        if getattr(rule, name) is not None and rule.action != action:
            raise UsageError(f"{name} belongs to a rule that says {action}, not {rule.action}")
    if rule.action == DELAY and rule.seconds is None:
        raise UsageError("a rule that delays needs seconds")
    _check_api(rule.api)
    return rule._replace(error=_error_name(rule.error)) if rule.action == FAIL else rule


def _check_api(name: Any) -> None:
    if name != EVERY_API and name not in (names := [api.name for api in registry.apis()]):
        raise _unknown("Kafka has no API", name, names)


def _error_name(error: Any) -> str:
    """The name of an error, given by name or by code; NONE is not an error."""
    if error is None:
        raise UsageError("a rule that fails needs an error")
    names = [name for code, name in error_codes.NAMES.items() if code]
    by_code = isinstance(error, int) and not isinstance(error, bool) and error_codes.NAMES.get(error)
    name = by_code or error
    if name not in names:
        raise _unknown("Kafka has no error", error, names)
    return cast(str, name)


def _unknown(problem: str, name: Any, names: Iterable[str]) -> UsageError:
    return UsageError(f"{problem} {name!r}{near(name, names)}")
