"""Kafka's own request log (`log4j.logger.kafka.request.logger=DEBUG`): one entry for each request,
written after the response was sent.

Rules. The time of a line is that of the response; the request arrived `totalTimeMs` earlier. Sizes
and nodes are not logged. Kafka does not log why a request has no response: its outcome is
`unanswered`. Requests that a broker forwarded to its controller are left out, because the log of
the broker contains the original.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import tzinfo
from typing import Any

from kafkadouble.messages.api_keys import ApiKeys

from .apis import errors_in, offered_in
from .entries import LogEntry
from .stamps import stamp_of

UNKNOWN = "unknown"
"""The software of a client that did not send it."""


class RequestLog:
    """Reads entries of one log. It remembers the versions that the server offers."""

    def __init__(self, zone: tzinfo, *, bodies: bool) -> None:
        self._zone, self._bodies = zone, bodies
        self._offered: dict[int, int] = {}

    def rows(self, entry: LogEntry) -> Iterator[tuple[Any, ...]]:
        """The row of an entry, or none when it is left out. Raises KeyError, TypeError or
        ValueError when it is no valid entry."""
        if entry.object.get("isForwarded") is not True:
            yield self._row(entry)

    def _row(self, entry: LogEntry) -> tuple[Any, ...]:
        found = entry.object
        head, answer, took = found["requestHeader"], found.get("response"), int(found["totalTimeMs"] * 1000)
        key, connection = _int(head["requestApiKey"]), str(found.get("connection") or "")
        if key == ApiKeys.API_VERSIONS:
            self._offered |= offered_in(answer)
        stamp, software = stamp_of(entry.around, entry.fields, self._zone), _software(key, found)
        # The client's address is in `HOST:PORT-HOST:PORT-...`.
        parts = connection.split("-")
        return (
            None if stamp is None else stamp.micros - took,
            None,
            connection,
            _text(head.get("clientId")),
            *software,
            parts[1] if len(parts) > 2 else None,
            _text(found.get("principal")),
            key,
            _int(head["requestApiVersion"]),
            None,
            None,
            _int(head["correlationId"]),
            errors_in(answer),
            took,
            "answered" if isinstance(answer, dict) else "unanswered",
            self._offered.get(key),
            self._body(found.get("request")),
            self._body(answer),
            head.get("requestApiVersionDeprecated") is True,
        )

    def _body(self, found: Any) -> str | None:
        return json.dumps(found, separators=(",", ":")) if self._bodies and isinstance(found, dict) else None


def _software(key: int, found: dict[str, Any]) -> tuple[str | None, str | None]:
    """Kafka logs the client software of an ApiVersions request only with later requests."""
    known, request = found.get("clientInformation") or {}, found.get("request")
    if key == ApiKeys.API_VERSIONS and isinstance(request, dict) and request.get("clientSoftwareName"):
        return _text(request["clientSoftwareName"]), _text(request.get("clientSoftwareVersion"))
    return _known(known.get("softwareName")), _known(known.get("softwareVersion"))


def _known(text: Any) -> str | None:
    return None if text == UNKNOWN else _text(text)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _int(value: Any) -> int:
    if type(value) is not int:
        raise TypeError(f"{value!r} is no number")
    return value
