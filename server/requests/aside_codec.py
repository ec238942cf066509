"""Reads wide requests and writes wide answers aside: the codec takes a microsecond for each
element, and the node serves others meanwhile.

Rules. A frame is wide if it has more than `WIDE` bytes, and many elements in them; records are
bytes to the codec, however many there are. An answer is wide if its request was, or if its handler
took `MANY_SLICES` slices. Nothing else uses a request before it is read, or an answer after it was
made, so neither needs a lock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from kafkadouble.messages.elements import exceed
from kafkadouble.messages.headers import RequestHead

from ..apis.row import ServedApi
from .bounds import MOST_ELEMENTS
from .codec import read_request, write_response
from .gc_pause import all_kept
from .request import Peer, Request
from .waiting import SLICE, Aside, Wait

T = TypeVar("T")

WIDE = MOST_ELEMENTS
"""The bytes of the largest frame that is read and written at once: about 20 ms."""

MANY_SLICES = 8
MANY = MANY_SLICES * SLICE
"""The elements that are read or written at once: about 2 ms."""


def is_wide(frame: bytes, head: RequestHead, served: ServedApi) -> bool:
    """Whether it takes long to read the request."""
    if len(frame) <= WIDE:
        return False
    return not served.request._bulky or exceed(served.request, frame, head.api_version, head.body_offset, MANY)


def is_wide_answer(slices: int) -> bool:
    """Whether it takes long to write the answer of a handler that took so many slices."""
    return slices >= MANY_SLICES


def read_aside(frame: bytes, head: RequestHead, served: ServedApi, peer: Peer, received: int) -> Wait[Request[Any]]:
    """As `read_request`."""
    return (yield from aside(partial(read_request, frame, head, served, peer, received)))


def write_aside(request: Request[Any], answer: Any) -> Wait[Sequence[Any]]:
    """As `write_response`."""
    return (yield from aside(partial(write_response, request, answer)))


def aside(work: Callable[[], T]) -> Wait[T]:
    """The result of work that touches no state, done on another thread."""
    waited = Aside(partial(_without_collections, work))
    yield waited
    result: T = waited.result()
    return result


def aside_if(is_wide: bool, work: Callable[[], T]) -> Wait[T]:
    """The result of work, done aside or here."""
    return (yield from aside(work)) if is_wide else work()


def _without_collections(work: Callable[[], T]) -> T:
    with all_kept():
        return work()
