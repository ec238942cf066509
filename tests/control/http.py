"""A client of the control plane, with nothing but the standard library."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """The answer to one call. `json` is None if the body is no JSON."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        return dict(self.json["error"])


def call(
    url: str,
    method: str,
    path: str,
    body: object = None,
    headers: Mapping[str, str] | None = None,
    timeout_s: float = 30,
) -> Answer:
    """One call on a connection of its own. A body that is no bytes is sent as JSON."""
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=timeout_s)
    sent = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    own = {} if body is None else {"Content-Type": "application/json"}
    try:
        connection.request(method, path, sent, {**own, **(headers or {})})
        response = connection.getresponse()
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
    finally:
        connection.close()


def post(url: str, verb: str, **parameters: object) -> Any:
    answer = call(url, "POST", f"/verbs/{verb}", parameters)
    assert answer.status == 200, answer
    return answer.json["result"]
