"""The log of Kroxylicious' ProtocolLogger: an entry for each request and one for each response,
which are joined by session and correlation id.

Rules. The session is outside of the entry, and may be missing, as may the time. Then entries are
joined by correlation id, API and version in order, and the latency is null. It is also null when
the logger writes seconds only. A request without a response has no outcome, except a Produce with
acks=0; a response without a request is a row of its own. The number of requests without a response
is bounded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import tzinfo
from typing import Any, NamedTuple

from kafkadouble.messages.api_keys import ApiKeys

from .apis import errors_in, key_of, offered_in
from .entries import LogEntry
from .stamps import Stamp, stamp_of

SESSION = re.compile(r'\bsessionId="?([^",}\]\s]+)')
MOST_WAITING, MOST_WAITING_CHARACTERS = 100_000, 16 << 20
"""Requests that wait for their responses, and sessions whose software is remembered. The oldest
requests of a larger log are rows without responses."""

MOST_NAME = 255


class _Half(NamedTuple):
    """A request or a response."""

    key: int
    version: int
    correlation_id: int
    session: str | None
    stamp: Stamp | None
    client_id: str | None
    payload: Any
    size: int

    @property
    def joined_by(self) -> tuple[Any, ...]:
        return self.session, self.correlation_id, self.key, self.version


class ProtocolLog:
    """Reads entries of one log and joins them. It remembers the software of clients, and the
    versions that the server offers."""

    def __init__(self, zone: tzinfo, *, bodies: bool) -> None:
        self._zone, self._bodies = zone, bodies
        self._waiting: dict[tuple[Any, ...], list[_Half]] = {}
        self._count = self._size = 0
        self._software: dict[str, tuple[str | None, str | None]] = {}
        self._offered: dict[int, int] = {}

    def rows(self, entry: LogEntry) -> Iterator[tuple[Any, ...]]:
        """The rows that are complete with this entry. Raises KeyError, TypeError or ValueError when
        it is no valid entry."""
        head = entry.object["header"]
        half = self._half(entry, head)
        if head["type"] == "RESPONSE":
            if half.key == ApiKeys.API_VERSIONS:
                self._offered |= offered_in(half.payload)
            yield self._row(self._request_of(half), half)
        elif half.key == ApiKeys.PRODUCE and isinstance(half.payload, dict) and half.payload.get("acks") == 0:
            yield self._row(half, None, "unanswered")
        else:
            self._note_software(half)
            if self._count >= MOST_WAITING or self._size > MOST_WAITING_CHARACTERS:
                yield from self.rest()
            self._waiting.setdefault(half.joined_by, []).append(half)
            self._count += 1
            self._size += half.size

    def rest(self) -> Iterator[tuple[Any, ...]]:
        """The requests without a response."""
        for halves in self._waiting.values():
            for half in halves:
                yield self._row(half, None)
        self._waiting.clear()
        self._count = self._size = 0

    def _half(self, entry: LogEntry, head: Any) -> _Half:
        key = key_of(head["apiKey"])
        if key is None or head["type"] not in ("REQUEST", "RESPONSE"):
            raise ValueError(f"{head['type']} of {head['apiKey']}")
        version, correlation_id, client_id = head["apiVersion"], head["correlationId"], head.get("clientId")
        if type(version) is not int or type(correlation_id) is not int:
            raise TypeError(f"version {version!r}, correlation id {correlation_id!r}")
        stamp = stamp_of(entry.around, entry.fields, self._zone)
        session, payload = _session(entry), entry.object.get("payload")
        return _Half(key, version, correlation_id, session, stamp, client_id, payload, entry.size)

    def _request_of(self, answer: _Half) -> _Half | None:
        waiting = self._waiting.get(answer.joined_by)
        if not waiting:
            return None
        found = waiting.pop(0)
        self._count -= 1
        self._size -= found.size
        if not waiting:
            del self._waiting[answer.joined_by]
        return found

    def _note_software(self, half: _Half) -> None:
        if half.key == ApiKeys.API_VERSIONS and half.session is not None and isinstance(half.payload, dict):
            names = half.payload.get("clientSoftwareName"), half.payload.get("clientSoftwareVersion")
            name, version = (name[:MOST_NAME] if isinstance(name, str) else None for name in names)
            if len(self._software) >= MOST_WAITING:
                self._software.clear()
            self._software[half.session[:MOST_NAME]] = name, version

    def _row(self, request: _Half | None, answer: _Half | None, outcome: str | None = None) -> tuple[Any, ...]:
        half = request or answer
        assert half is not None
        software = self._software.get((half.session or "")[:MOST_NAME], (None, None))
        return (
            None if half.stamp is None else half.stamp.micros,
            None,
            half.session,
            None if request is None else request.client_id,
            *software,
            None,
            None,
            half.key,
            half.version,
            None,
            None,
            half.correlation_id,
            () if answer is None else errors_in(answer.payload),
            _between(request, answer),
            outcome if answer is None else "answered",
            self._offered.get(half.key),
            self._body(request),
            self._body(answer),
            None,
        )

    def _body(self, half: _Half | None) -> str | None:
        has_body = self._bodies and half is not None and half.payload is not None
        return json.dumps(half.payload, separators=(",", ":")) if has_body and half is not None else None


def _between(request: _Half | None, answer: _Half | None) -> int | None:
    """The microseconds between both, when both times are more precise than seconds."""
    if request is None or answer is None or request.stamp is None or answer.stamp is None:
        return None
    fine = request.stamp.is_fine and answer.stamp.is_fine
    return max(0, answer.stamp.micros - request.stamp.micros) if fine else None


def _session(entry: LogEntry) -> str | None:
    for fields in (entry.fields, entry.fields.get("mdc")):
        if isinstance(fields, dict) and "sessionId" in fields:
            return str(fields["sessionId"])
    found = SESSION.search(entry.around)
    return None if found is None else found.group(1)
