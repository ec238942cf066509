"""A client of a control plane: calls its verbs, with nothing but the standard library.

client = ControlClient("http://127.0.0.1:9099")
client.call("fail", {"api": "Produce", "error": "NOT_LEADER_OR_FOLLOWER"})
"""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from kafkadouble.common.errors import UsageError
from kafkadouble.common.version import __version__
from kafkadouble.wire.wording import Caller

MOST_BYTES = 256 << 20
"""The largest answer that is read, in bytes."""

CONNECT_S = 10
"""How long a connection may take, in seconds. A call may take as long as it does."""

LONGEST_LINE = 1 << 20


class ControlError(Exception):
    """A call that failed. `kind` is the control plane's word for it, `unreachable` if there is no
    control plane."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class ControlClient:
    """The control plane at a URL. Raises UsageError for what is no URL."""

    def __init__(self, url: str, token: str | None = None, agent: Caller = Caller.HTTP) -> None:
        parts = urlsplit(url)
        try:
            port = parts.port
        except ValueError:
            port = None
        if parts.scheme != "http" or not parts.hostname or port is None:
            raise UsageError(f"the URL of a control plane is http://HOST:PORT, not {url!r}")
        self.url, self._host, self._port = url, parts.hostname, port
        self._headers = {"User-Agent": f"{agent.value}/{__version__}"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"

    def call(self, verb: str, parameters: Mapping[str, Any]) -> Any:
        """The result of a verb. Raises ControlError."""
        body = json.dumps(parameters).encode()
        answer = self._json("POST", f"/verbs/{verb}", body)
        if "result" not in answer:
            raise self._no_control_plane("the answer has no result")
        return answer["result"]

    def events(self, path: str) -> Iterator[tuple[str, Any]]:
        """The name and the data of each event of a stream, until it ends. Raises ControlError."""
        connection, response = self._begin("GET", path, None)
        try:
            name = ""
            while line := response.readline(LONGEST_LINE):
                field, _, value = line.decode(errors="replace").rstrip("\r\n").partition(": ")
                if field == "event":
                    name = value
                elif field == "data":
                    yield name, self._parsed(value.encode())
        except (OSError, http.client.HTTPException) as problem:
            raise self._no_control_plane(str(problem)) from None
        finally:
            connection.close()

    def _json(self, method: str, path: str, body: bytes | None) -> dict[str, Any]:
        connection, response = self._begin(method, path, body)
        try:
            return self._object(self._read(response))
        finally:
            connection.close()

    def _begin(
        self, method: str, path: str, body: bytes | None
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        connection = http.client.HTTPConnection(self._host, self._port, timeout=CONNECT_S)
        own = {} if body is None else {"Content-Type": "application/json"}
        try:
            connection.connect()
            connection.sock.settimeout(None)
            connection.request(method, path, body, {**own, **self._headers})
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as problem:
            connection.close()
            raise self._no_control_plane(str(problem) or type(problem).__name__) from None
        if response.status == 200:
            return connection, response
        try:
            raise self._refusal(self._object(self._read(response)))
        finally:
            connection.close()

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        try:
            body = response.read(MOST_BYTES + 1)
        except (OSError, http.client.HTTPException) as problem:
            raise self._no_control_plane(str(problem)) from None
        if len(body) > MOST_BYTES:
            raise self._no_control_plane(f"the answer is larger than {MOST_BYTES} bytes")
        return body

    def _object(self, body: bytes) -> dict[str, Any]:
        found = self._parsed(body)
        if not isinstance(found, dict):
            raise self._no_control_plane("the answer is no object of JSON")
        return found

    def _parsed(self, text: bytes) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise self._no_control_plane("the answer is no JSON") from None

    def _refusal(self, answer: dict[str, Any]) -> ControlError:
        error = answer.get("error")
        if not isinstance(error, dict) or not isinstance(error.get("message"), str):
            return self._no_control_plane("the answer names no error")
        return ControlError(str(error.get("kind")), error["message"])

    def _no_control_plane(self, why: str) -> ControlError:
        return ControlError("unreachable", f"no control plane answers at {self.url}: {why}")
