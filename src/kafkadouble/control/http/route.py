"""A route of the control plane, and a call of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from kafkadouble.verbs.double_api import DoubleApi

    from .streams import EventStream


class ControlCall(NamedTuple):
    """A call: the values of its path, its query and its body."""

    kafka: DoubleApi
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, Any]


class Route(NamedTuple):
    """A route. `answer` returns a value for JSON, or text. `query` has the parameters of the
    query, and what each of them means."""

    method: str
    path: str
    summary: str
    answer: Callable[[ControlCall], Awaitable[Any]]
    query: Mapping[str, str] = {}


class StreamRoute(NamedTuple):
    """A route that answers with server-sent events. `make` gets the parameters of the query, with
    the Last-Event-ID of a reader that connects again as `after`, and may raise ControlProblem."""

    path: str
    summary: str
    make: Callable[[DoubleApi, Mapping[str, str]], EventStream]
    query: Mapping[str, str]
