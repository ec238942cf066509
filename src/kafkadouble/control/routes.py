"""The routes of the control plane: a table, which the application and the OpenAPI description
read."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kafkadouble.common.on_first_use import OnFirstUse
from kafkadouble.common.version import __version__
from kafkadouble.host.host import host_of
from kafkadouble.server.configs.did_you_mean import near

from .calls import verb_calls as calls
from .http.problems import ControlProblem
from .http.route import ControlCall, Route, StreamRoute

if TYPE_CHECKING:
    from kafkadouble.control.views import metrics, openapi, request_events, view_events
    from kafkadouble.server.tracing.history import SeenRequest
    from kafkadouble.verbs.double_api import DoubleApi

    from .http.streams import EventStream
else:  # a start waits for none of them
    metrics = OnFirstUse("kafkadouble.control.views.metrics")
    openapi = OnFirstUse("kafkadouble.control.views.openapi")
    request_events = OnFirstUse("kafkadouble.control.views.request_events")
    view_events = OnFirstUse("kafkadouble.control.views.view_events")


def integer(query: Mapping[str, str], name: str, default: int) -> int:
    """A parameter of the path or of the query. Raises ControlProblem."""
    text = query.get(name, str(default))
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise ControlProblem(400, "usage", f"{name} is an integer from 0, not {text!r}")
    return int(text)


def check_query(path: str, allowed: Mapping[str, str], given: Sequence[tuple[str, str]]) -> None:
    """Raises ControlProblem for a parameter that the route does not have, or that is there
    twice."""
    names = [name for name, _ in given]
    for name in names:
        if name not in allowed:
            known = f"it has {', '.join(allowed)}" if allowed else "it has none in its query"
            raise ControlProblem(400, "usage", f"{path} has no parameter {name!r}{near(name, allowed)}; {known}")
        if names.count(name) > 1:
            raise ControlProblem(400, "usage", f"{name} is there {names.count(name)} times: give it once")


async def _health(call: ControlCall) -> Any:
    return {"status": "running", "version": __version__}


async def _ready(call: ControlCall) -> Any:
    running = host_of(call.kafka).serving()
    if not all(member.listener.opened.is_set() for member in running.broker.members):
        raise ControlProblem(503, "not ready", "the brokers do not accept clients yet")
    return {"status": "ready", "bootstrap_servers": call.kafka.bootstrap_servers}


async def _metrics(call: ControlCall) -> Any:
    return await asyncio.to_thread(metrics.exposition, call.kafka)


async def _openapi(call: ControlCall) -> Any:
    return openapi.description(ROUTES, STREAMS)


async def _names(call: ControlCall) -> Any:
    return calls.names()


async def _verbs(call: ControlCall) -> Any:
    return {"verbs": calls.described()}


async def _verb(call: ControlCall) -> Any:
    return calls.described_verb(calls.verb_named(call.path["name"]))


async def _call_verb(call: ControlCall) -> Any:
    return {"result": await calls.call(call.kafka, calls.verb_named(call.path["name"]), call.body)}


async def _requests(call: ControlCall) -> Any:
    most = integer(call.query, "limit", calls.MOST_REQUESTS)
    if most > calls.MOST_REQUESTS:
        raise ControlProblem(400, "usage", f"limit is an integer from 0 to {calls.MOST_REQUESTS}, not {most}")
    if "after" in call.query:
        found = await asyncio.to_thread(calls.requests_after, call.kafka, integer(call.query, "after", 0), most)
    else:
        found = await asyncio.to_thread(calls.latest_requests, call.kafka, most)
    return {"requests": [calls.short(each) for each in found]}


async def _request(call: ControlCall) -> Any:
    return (await _found(call)).to_json()


async def _hexdump(call: ControlCall) -> Any:
    return calls.hexdump(await _found(call))


async def _found(call: ControlCall) -> SeenRequest:
    return await asyncio.to_thread(calls.request_numbered, call.kafka, integer(call.path, "number", 0))


ROUTES = (
    Route("GET", "/health", "Answers while the process runs.", _health),
    Route("GET", "/ready", "Answers 200 once clients are accepted, and 503 before.", _ready),
    Route("GET", "/metrics", "Metrics for Prometheus, with Kafka's names.", _metrics),
    Route("GET", "/openapi.json", "This description.", _openapi),
    Route("GET", "/names", "The names of APIs, and the error codes with their names.", _names),
    Route("GET", "/verbs", "Every verb with its parameters.", _verbs),
    Route("GET", "/verbs/{name}", "One verb with its parameters.", _verb),
    Route("POST", "/verbs/{name}", "Calls a verb.", _call_verb),
    Route(
        "GET",
        "/requests",
        "The latest requests of clients, oldest first, without their contents.",
        _requests,
        {
            "after": "the first requests with higher numbers, instead of the latest ones",
            "limit": "at most so many, from 0 to 1000",
        },
    ),
    Route("GET", "/requests/{number}", "One request of a client, decoded, with its answer.", _request),
    Route("GET", "/requests/{number}/hexdump", "The same as annotated hexdumps.", _hexdump),
)


def _request_events(kafka: DoubleApi, query: Mapping[str, str]) -> EventStream:
    return request_events.RequestEvents(kafka, integer(query, "after", 0) if "after" in query else None)


def _view_events(kafka: DoubleApi, query: Mapping[str, str]) -> EventStream:
    return view_events.ViewEvents(kafka, view_events.names_of(query.get("names")))


STREAMS = (
    StreamRoute(
        "/events",
        "The requests of clients as they come, as server-sent events.",
        _request_events,
        {"after": "begins after the request with this number; without it, with the next request"},
    ),
    StreamRoute(
        "/views",
        "The cluster, topics, groups, transactions, rules and snapshots, again whenever they change.",
        _view_events,
        {"names": "only these views, separated by commas"},
    ),
)
