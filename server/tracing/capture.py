"""Captures what passes over the sockets of one run: one row for each request, for a writer to take.

Rules. A row is a plain tuple, made when the answer was handed to the socket, or when it is certain
that there will be none. It is kept in memory until a writer takes it, on any thread. If no writer
takes them, rows are dropped and counted: memory stays bounded, and no client ever waits. Times are
from `nanos`, because a latency is far shorter than the milliseconds of a node's clock. Requests
that pass over no socket (links inside a process, the inside of an Envelope) have no row.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from struct import Struct
from typing import TYPE_CHECKING, Any

from ..requests.answer_errors import codes_in
from ..requests.principal import principal_of
from .secret_frames import holds_secrets
from .trace import ANSWERED, DISCONNECTED, Subscriber

if TYPE_CHECKING:
    from kafkadouble.messages.headers import RequestHead

    from ..requests.request import Peer, Request
    from .trace import RefusedVersion, TracedRequest

FIELDS = (
    "time",
    "node",
    "connection",
    "client_id",
    "client_software",
    "client_version",
    "address",
    "principal",
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
"""The fields of a row, in order; `kafkadouble.pipeline.traffic.schema` says what each means. A row
of a capture with frames ends in the bytes of the request and of the answer."""

Row = tuple[Any, ...]
Bodies = tuple[str | None, str | None]
FramePair = tuple[bytes | None, bytes | None]

MOST_ROWS = 100_000
MOST_TEXT = 64 << 20
"""Rows, and characters of bodies and bytes of frames in them, that wait to be taken: about 50 MB
and 64 MB."""

LONGEST_NAME = 255
"""The names of a client are cut to this many characters: they may be 32 KB, in every row."""

SIZE = 4
"""The bytes in front of a frame that hold its size."""

_HEAD = Struct(">hhih")


class Capture(Subscriber):
    """The rows of one run, with the `bodies` or the `frames` of requests and answers if they are
    kept. `epoch` added to `nanos` is ns since 1970."""

    def __init__(self, nanos: Callable[[], int], epoch: int, *, bodies: bool = False, frames: bool = False) -> None:
        self.nanos, self.epoch, self.bodies, self.wants_frames = nanos, epoch, bodies, frames
        self._is_large = bodies or frames
        self.lost = 0
        """Rows that were dropped because no writer took them in time."""
        self._rows: list[Row] = []
        self._text_in = self._text_out = 0  # each is written by one thread alone
        self._numbers = count(1)
        self._taps: dict[Peer, _Tap] = {}

    def connected(self, node_id: int, peer: Peer) -> None:
        """Connections are numbered over the whole run."""
        self._taps[peer] = _Tap(self, node_id, str(next(self._numbers)), peer)

    def disconnected(self, peer: Peer) -> None:
        self._taps.pop(peer, None)

    def ended(self, traced: TracedRequest) -> None:
        tap = self._taps.get(traced.request.peer)
        if tap is not None:
            tap.ended(traced)

    def rejected(self, peer: Peer, frame: bytes, began_ns: int) -> None:
        if (tap := self._taps.get(peer)) is not None:
            tap.rejected(frame, began_ns)

    def version_refused(self, peer: Peer, head: RequestHead, refusal: RefusedVersion) -> None:
        if (tap := self._taps.get(peer)) is not None:
            tap.version_refused(head, refusal)

    def add(self, row: Row) -> None:
        """Keeps a row."""
        rows = self._rows
        if len(rows) >= MOST_ROWS or self._text_in - self._text_out > MOST_TEXT:
            self.lost += 1
            return
        rows.append(row)
        if self._is_large:
            self._text_in += _length(row)

    def take(self, most: int) -> list[Row]:
        """The oldest rows, which are forgotten here. For other threads, copying the list is one
        step, and so is cutting it."""
        taken = self._rows[:most]
        del self._rows[: len(taken)]
        if self._is_large:
            self._text_out += sum(map(_length, taken))
        return taken

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        return f"{len(self._rows)} requests to be written, {self.lost} lost"


def _length(row: Row) -> int:
    return sum(len(each) for each in row[len(FIELDS) - 2 :] if each is not None)


def _bodies_of(request: Request[Any], answer: Any) -> Bodies:
    from .bodies import bodies_of

    return bodies_of(request, answer)


class _Tap:
    """The rows of one connection."""

    __slots__ = ("_add", "_address", "_bodies", "_epoch", "_frames", "_nanos", "_node", "_number", "_peer")

    def __init__(self, capture: Capture, node_id: int, number: str, peer: Peer) -> None:
        self._add, self._bodies, self._nanos, self._epoch = capture.add, capture.bodies, capture.nanos, capture.epoch
        self._frames = capture.wants_frames
        self._node, self._number, self._peer, self._address = node_id, number, peer, repr(peer)

    def ended(self, traced: TracedRequest) -> None:
        """A request that was decoded has an outcome."""
        request, answer = traced.request, traced.answer
        known = request.api_key, request.version, request.correlation_id, request.client_id, request.size
        errors = () if answer is None else codes_in(answer)
        bodies = _bodies_of(request, answer) if self._bodies else (None, None)
        frames = (traced.request_frame, traced.response_frame)
        if self._frames and holds_secrets(request.api_key, request.body):
            frames = (None, None)
        principal = None if traced.request.peer.authenticator is None else principal_of(traced.request)
        self._note(known, traced.outcome, errors, traced.response_bytes, traced.began_ns, bodies, frames, principal)

    def version_refused(self, head: RequestHead, refusal: RefusedVersion) -> None:
        """A version that is not served was answered with an error."""
        asked, answered = refusal.request_frame, refusal.response_frame
        known = head.api_key, head.api_version, head.correlation_id, head.client_id, len(asked)
        frames = (None, None) if holds_secrets(head.api_key) else (asked, answered)
        self._note(known, ANSWERED, (refusal.error_code,), len(answered), refusal.began_ns, frames=frames)

    def rejected(self, frame: bytes, began_ns: int) -> None:
        """The connection ends because of a frame. The row has as much of its header as there is."""
        if len(frame) < _HEAD.size:
            return
        key, version, correlation_id, length = _HEAD.unpack_from(frame)
        client_id = frame[_HEAD.size : _HEAD.size + max(length, 0)].decode("utf-8", "replace")
        known = key, version, correlation_id, client_id, len(frame)
        self._note(known, DISCONNECTED, (), None, began_ns, frames=(None if holds_secrets(key) else frame, None))

    def _note(
        self,
        known: tuple[int, int, int, str, int],
        outcome: str,
        errors: tuple[int, ...],
        sent: int | None,
        began: int,
        bodies: Bodies = (None, None),
        frames: FramePair = (None, None),
        principal: str | None = None,
    ) -> None:
        key, version, correlation_id, client_id, size = known
        (request_body, answer_body), peer = bodies, self._peer
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
                principal or peer.principal,
                key,
                version,
                size + SIZE,
                sent,
                correlation_id,
                errors,
                (self._nanos() - began) // 1000,
                outcome,
                None if served is None else served.highest,
                request_body,
                answer_body,
                *(frames if self._frames else ()),
            )
        )
