"""A reader of server-sent events, with nothing but the standard library."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Stream:
    """The events that come on one connection."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self._response = response

    def next(self) -> tuple[str, Any]:
        """The name and the data of the next event."""
        found: dict[str, str] = {}
        while True:
            line = self._response.readline().decode().rstrip("\n")
            if not line and "data" in found:
                return found["event"], json.loads(found["data"])
            name, _, value = line.partition(": ")
            if name:
                found[name] = value

    def drain(self) -> None:
        """Reads until the server ends the stream."""
        while self._response.readline():
            pass


@contextmanager
def streaming(url: str, path: str = "/events", headers: dict[str, str] | None = None) -> Iterator[Stream]:
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=30)
    try:
        connection.request("GET", path, headers=headers or {})
        response = connection.getresponse()
        assert (response.status, response.headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
        response.readline()  # the stream has begun
        yield Stream(response)
    finally:
        connection.close()
