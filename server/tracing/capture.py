"""What passes between clients and the nodes of one run: a row for each request, for somebody who writes it down.

Rules. A row is a plain tuple, made when the answer has been handed to the socket, or when it is certain that there will be none. It is kept in
memory until it is taken, on whatever thread; where nobody takes them rows are left out and counted, so that memory stays bounded and no client
ever waits. What the time is, is asked of `nanos`, as a latency is far shorter than the ms that nodes go by.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from struct import Struct
from typing import TYPE_CHECKING, Any

from ..requests.answer_errors import codes_in

if TYPE_CHECKING:
    from kafkadouble.messages.headers import RequestHead

    from ..requests.request import Peer, Request

FIELDS = (
    "time",
    "node",
    "connection",
    "client_id",
    "client_software",
    "client_version",
    "address",
    "api_key",
    "version",
    "request_bytes",
    "response_bytes",
    "correlation_id",
    "errors",
    "latency_us",
    "outcome",
    "highest",
    "request",
    "response",
)
"""What a row has, in order; `kafkadouble.pipeline.traffic.schema` says what each means."""

ANSWERED, UNANSWERED, DISCONNECTED, ABANDONED = "answered", "unanswered", "disconnected", "abandoned"
"""The outcomes: an answer; none, as the protocol has none; the server closed the connection; the client did, before it had its answer."""

Row = tuple[Any, ...]
Bodies = tuple[str | None, str | None]

MOST_ROWS = 100_000
MOST_TEXT = 64 << 20
"""Rows, and characters of bodies in them, that wait to be taken; some 50 and 64 MB."""

LONGEST_NAME = 255
"""What a client calls itself is cut there: it may be 32 KB, in every row."""

SIZE = 4
"""The bytes of a frame's length, which stand in front of it."""

_HEAD = Struct(">hhih")


class Capture:
    """The rows of one run, with the `bodies` of requests and answers if they are wanted. `epoch` added to `nanos` is ns since 1970."""

    def __init__(self, nanos: Callable[[], int], epoch: int, *, bodies: bool = False) -> None:
        self.nanos, self.epoch, self.bodies = nanos, epoch, bodies
        self.lost = 0
        """Rows that nobody took in time."""
        self._rows: list[Row] = []
        self._text_in = self._text_out = 0  # each is written by one thread alone
        self._numbers = count(1)

    def connection(self, node_id: int, peer: Peer) -> Tap:
        """For a connection that was accepted; they are numbered over the whole run."""
        return Tap(self, node_id, str(next(self._numbers)), peer)

    def add(self, row: Row) -> None:
        """Keep a row."""
        rows = self._rows
        if len(rows) >= MOST_ROWS or self._text_in - self._text_out > MOST_TEXT:
            self.lost += 1
            return
        rows.append(row)
        if self.bodies:
            self._text_in += _length(row)

    def take(self, most: int) -> list[Row]:
        """The oldest rows, which are forgotten here. Copying and cutting the list are one step each for other threads."""
        taken = self._rows[:most]
        del self._rows[: len(taken)]
        if self.bodies:
            self._text_out += sum(map(_length, taken))
        return taken

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"{len(self._rows)} requests to be written down, {self.lost} lost"


def _length(row: Row) -> int:
    return len(row[-2] or "") + len(row[-1] or "")


def _told(request: Request[Any], answer: Any) -> Bodies:
    from .bodies import bodies_of

    return bodies_of(request, answer)


class Tap:
    """One connection's end of it. `began` is when the request that is under way came to the node, by `nanos`."""

    __slots__ = ("_add", "_address", "_bodies", "_epoch", "_node", "_number", "_peer", "began", "nanos")

    def __init__(self, capture: Capture, node_id: int, number: str, peer: Peer) -> None:
        self._add, self._bodies, self.nanos, self._epoch = capture.add, capture.bodies, capture.nanos, capture.epoch
        self._node, self._number, self._peer, self._address = node_id, number, peer, repr(peer)
        self.began = 0

    def answered(self, request: Request[Any], answer: Any, sent: int) -> None:
        """An answer of so many bytes went out."""
        known = request.api_key, request.version, request.correlation_id, request.client_id, request.size
        bodies = _told(request, answer) if self._bodies else (None, None)
        self._note(known, ANSWERED, codes_in(answer), sent, bodies)

    def unanswered(self, request: Request[Any], outcome: str) -> None:
        """There is no answer, and why."""
        known = request.api_key, request.version, request.correlation_id, request.client_id, request.size
        self._note(known, outcome, (), None, _told(request, None) if self._bodies else (None, None))

    def not_served(self, head: RequestHead, size: int, code: int, sent: int) -> None:
        """A version that is not served was answered with an error."""
        known = head.api_key, head.api_version, head.correlation_id, head.client_id, size
        self._note(known, ANSWERED, (code,), sent)

    def turned_away(self, frame: bytes) -> None:
        """The connection ends over a frame that is no request that is served: told is as much of its header as is there."""
        if len(frame) < _HEAD.size:
            return
        key, version, correlation_id, length = _HEAD.unpack_from(frame)
        client_id = frame[_HEAD.size : _HEAD.size + max(length, 0)].decode("utf-8", "replace")
        self._note((key, version, correlation_id, client_id, len(frame)), DISCONNECTED, (), None)

    def _note(
        self,
        known: tuple[int, int, int, str, int],
        outcome: str,
        errors: tuple[int, ...],
        sent: int | None,
        bodies: Bodies = (None, None),
    ) -> None:
        key, version, correlation_id, client_id, size = known
        (asked, told), peer, began = bodies, self._peer, self.began
        served = peer.apis.get(key)
        self._add(
            (
                (began + self._epoch) // 1000,
                self._node,
                self._number,
                client_id[:LONGEST_NAME],
                peer.software_name[:LONGEST_NAME] or None,
                peer.software_version[:LONGEST_NAME] or None,
                self._address,
                key,
                version,
                size + SIZE,
                sent,
                correlation_id,
                errors,
                (self.nanos() - began) // 1000,
                outcome,
                None if served is None else served.highest,
                asked,
                told,
            )
        )
