"""A filter of seen requests, and the fields in which another request differs from it.

Rules. `topic`, `partition`, `group` and `transactional_id` match a part of a request, all of them
the same part; with them, `error` is the error of that part. A request is about a part if it or its
answer names it. A filter that no request of an API could match is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from kafkadouble.arguments.parameters import check_given
from kafkadouble.common.kinds import given_as
from kafkadouble.messages import registry
from kafkadouble.messages.registry import Api
from kafkadouble.server.apis.part_lists import kinds_of
from kafkadouble.server.configs.did_you_mean import near
from kafkadouble.server.tracing.history import SeenRequest
from kafkadouble.server.tracing.seen_line import listed, text_of
from kafkadouble.wire.errors import UnknownMessage, UsageError
from kafkadouble.wire.wording import ShownValue

if TYPE_CHECKING:
    from kafkadouble.server.tracing.seen_parts import SeenPart

PARTS = ("topic", "partition", "group", "transactional_id")
ALWAYS = ("client_id", "principal", "broker", "error", "since")


class RequestNarrowing(TypedDict, total=False):
    """The keywords of `Requests.of` and of the assertions.

    - `topic`, `partition`, `group`, `transactional_id`: what the request or its answer names.
    - `client_id`, `broker` (a node id): of which client, and at which broker.
    - `principal`: of a client that is this principal, such as `User:alice`.
    - `error`: Kafka's name or number of an error in the answer; True for any error, False for none.
    - `since`: a time in ms since the epoch, or a SeenRequest: only requests after it.
    """

    topic: str | None
    partition: int | None
    group: str | None
    transactional_id: str | None
    client_id: str | None
    principal: str | None
    broker: int | None
    error: str | int | bool | None
    since: int | SeenRequest | SeenNumber | None


@given_as("number of a request")
class SeenNumber(NamedTuple):
    """The number of a request, for a caller that has no SeenRequest: its `number` and its `time`.
    Both, because a restart counts from 1 again."""

    number: int
    time: int

    def names(self, seen: SeenRequest) -> bool:
        """Whether it is this request."""
        return (seen.number, seen.time) == self


class RequestFilter(NamedTuple):
    """A checked filter; `given` has the fields that are not None. An empty `apis` means all."""

    apis: tuple[str, ...]
    given: dict[str, Any]

    @classmethod
    def checked(cls, apis: Sequence[str], given: RequestNarrowing) -> RequestFilter:
        """Raises UsageError for a filter that no request can match."""
        fields: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        _check_fields(fields)
        for name in apis:
            api = _api_named(name)
            kinds = () if api.retired else kinds_of(name, api.request)
            for kind in PARTS:
                if kind in fields and kind not in kinds:
                    allowed = ", ".join([*(each for each in PARTS if each in kinds), *ALWAYS])
                    raise UsageError(f"requests of {name} name no {kind.replace('_', ' ')}: narrow them by {allowed}")
        return cls(tuple(apis), fields)

    def among(self, requests: Sequence[SeenRequest]) -> list[SeenRequest]:
        """The requests that match, in their order."""
        return [seen for seen in self.since(requests) if self.matches(seen)]

    def since(self, requests: Sequence[SeenRequest]) -> Sequence[SeenRequest]:
        """The requests after the time or the request that is given."""
        start = self.given.get("since")
        if isinstance(start, SeenRequest | SeenNumber):
            places = [place for place, seen in enumerate(requests, 1) if _is(start, seen)]
            return requests[places[0] :] if places else requests
        return requests if start is None else [seen for seen in requests if seen.time >= start]

    def matches(self, seen: SeenRequest) -> bool:
        """Whether the request matches, whenever it came."""
        return next(self.differences(seen), None) is None

    def differences(self, seen: SeenRequest) -> Iterator[tuple[str, str]]:
        """The fields in which the request differs: each name, and the request's value."""
        if self.apis and seen.api not in self.apis:
            yield "api", seen.api
        for name in ("client_id", "principal", "broker"):
            if name in self.given and getattr(seen, name) != self.given[name]:
                yield name, repr(getattr(seen, name))
        yield from self._of_parts(seen)

    def _of_parts(self, seen: SeenRequest) -> Iterator[tuple[str, str]]:
        scope = {name: self.given[name] for name in PARTS if name in self.given}
        parts = seen.parts if scope else ()
        found = [part for part in parts if all(getattr(part, name) == value for name, value in scope.items())]
        if scope and not found:
            yield from _missing(scope, parts)
        if "error" in self.given:
            errors = _errors_at(found, seen)
            if not _has_error(self.given["error"], errors):
                yield "error", listed(errors) or ("none" if seen.outcome == "answered" else f"none, {seen.outcome}")

    def __str__(self) -> str:
        """The filter in words: `Produce with topic 'orders', any error`."""
        fields = ", ".join(in_words(name, value) for name, value in self.given.items() if name != "since")
        start = self.given.get("since")
        after = "" if start is None else " after " + (f"{start} ms" if isinstance(start, int) else repr(start))
        return (" or ".join(self.apis) or "a request") + (f" with {fields}" if fields else "") + after


def in_words(name: str, value: Any) -> str:
    """A field of a filter: `topic 'orders'`, `any error`."""
    if isinstance(value, bool):
        return f"{'any' if value else 'no'} {name}"
    return f"{name} {value!r}"


def _is(start: SeenRequest | SeenNumber, seen: SeenRequest) -> bool:
    return start.names(seen) if isinstance(start, SeenNumber) else seen is start


def _missing(scope: dict[str, Any], parts: Sequence[SeenPart]) -> Iterator[tuple[str, str]]:
    """The fields of the part that comes nearest; each with what all parts have there."""
    scores = [sum(getattr(part, name) == value for name, value in scope.items()) for part in parts]
    nearest = parts[scores.index(max(scores))] if parts else None
    for name, value in scope.items():
        if nearest is None or getattr(nearest, name) != value:
            values = [text_of(getattr(part, name)) for part in parts if getattr(part, name) is not None]
            yield name, listed(values) or "none"


def _errors_at(parts: Sequence[SeenPart], seen: SeenRequest) -> list[str]:
    """The errors of these parts, or of the whole answer if it is not kept or no part is meant."""
    if not parts or seen.answer is None:
        return list(seen.errors)
    return [part.error for part in parts if part.error is not None]


def _has_error(expected: str | bool, errors: Sequence[str]) -> bool:
    return expected in errors if isinstance(expected, str) else bool(errors) is expected


def _check_fields(fields: dict[str, Any]) -> None:
    unknown = next((name for name in fields if name not in (*PARTS, *ALWAYS)), None)
    if unknown is not None:
        names = (*PARTS, *ALWAYS)
        raise UsageError(f"requests have no filter {unknown!r}: {', '.join(names)}{near(unknown, names)}")
    check_given(**{name: value for name, value in fields.items() if name not in ("error", "since")})
    if not isinstance(fields.get("error", True), bool):
        from kafkadouble.server.faults.field_kinds import error_name  # where a filter is given

        fields["error"] = error_name(fields["error"])
    since = fields.get("since", 0)
    if isinstance(since, bool) or not isinstance(since, int | SeenRequest | SeenNumber):
        raise UsageError(
            "since is a time in ms since the epoch, or a SeenRequest, not {since}", since=ShownValue(since)
        )


def _api_named(name: str) -> Api:
    try:
        return registry.api_named(name)
    except UnknownMessage as unknown:
        raise UsageError(f"{unknown}{near(name, [api.name for api in registry.apis()])}") from None
