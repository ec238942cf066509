"""An exchange of a recording: a request as it was sent, and its answer, if there was one."""

from __future__ import annotations

from typing import Any, NamedTuple

from kafkadouble.messages import headers, registry


class Exchange(NamedTuple):
    """`number` counts the exchanges of a recording from 1, in the order in which they began.

    `began_us` and `ended_us` are us since the epoch: when the request came, and when its answer was
    handed to the network. `node` is the node that was asked, `connection` a name that is unique in
    the recording. `outcome` is that of the capture: answered, unanswered, disconnected, abandoned.
    `request_frame` is without its size, `response_frame` with it; None without an answer.
    """

    number: int
    began_us: int
    ended_us: int
    node: int
    connection: str
    outcome: str
    client_id: str | None
    correlation_id: int
    api_key: int
    version: int
    body_offset: int
    request_frame: bytes
    response_frame: bytes | None

    @property
    def api(self) -> str:
        """The name of the API."""
        return registry.api(self.api_key).name

    def request(self) -> Any:
        """The decoded request. It is a new object at each call, so that the caller may change it.
        Raises WireError."""
        body, _ = registry.api(self.api_key).request.read(self.request_frame, self.version, self.body_offset)
        return body

    def answer(self) -> Any:
        """The decoded answer, a new object at each call, or None. Raises WireError."""
        if self.response_frame is None:
            return None
        return headers.read_response(self.response_frame, self.api_key, self.version, SIZE)[1]

    def __repr__(self) -> str:
        return f"request {self.number}, {self.api} v{self.version} of {self.client_id!r} to broker {self.node}"


SIZE = 4
"""The bytes in front of a frame that hold its size."""
