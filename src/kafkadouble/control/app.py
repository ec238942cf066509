"""The control plane as an ASGI application: the guard, the routes, and the streams of events.

Rules. Every answer is JSON, except the streams and the metrics, and says `Cache-Control: no-store`.
A call whose client leaves is cancelled. No header lets pages of other sites read an answer. No path
names a file, except those of the live page.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route as HttpRoute

from kafkadouble.wire.wording import caller_of

from .assets import ASSETS, PAGE_HEADERS, Asset, contents
from .calls.call_log import log_call
from .http.bodies import BodyReader
from .http.guard import Guard
from .http.problems import ControlProblem, problem_of
from .http.route import ControlCall, Route, StreamRoute
from .oauth import OAUTH, OAuthRoute
from .routes import ROUTES, STREAMS, check_query

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Receive, Scope, Send

    from kafkadouble.verbs.double_api import DoubleApi

    from .http.streams import EventStream

MOST_STREAMS = 32

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

STREAM_TYPE = "text/event-stream"

HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


class ControlApp:
    """The application over one double."""

    def __init__(self, kafka: DoubleApi, guard: Guard) -> None:
        self._kafka, self._guard = kafka, guard
        self._streams, self._bodies = 0, BodyReader()
        routes = [HttpRoute(each.path, self._endpoint(each), methods=[each.method]) for each in ROUTES]
        streams = [HttpRoute(each.path, self._stream(each), methods=["GET"]) for each in STREAMS]
        assets = [HttpRoute(each.path, self._asset(each), methods=["GET"]) for each in ASSETS]
        tokens = [HttpRoute(each.path, self._oauth(each), methods=[each.method]) for each in OAUTH]
        self.asgi = Starlette(
            routes=[*routes, *streams, *tokens, *assets], exception_handlers={HTTPException: _no_route}
        )

    def _endpoint(self, route: Route) -> Any:
        async def endpoint(request: Request) -> Response:
            try:
                self._guard.check(request.url.path, request.headers)
                check_query(request.url.path, route.query, request.query_params.multi_items())
                body = {}
                if route.method == "POST":
                    body = await self._bodies.parameters(request)
                    log_call(request, body)
                call = ControlCall(self._kafka, request.path_params, request.query_params, body)
                return _answer(200, await _unless_left(request, route.answer(call)))
            except ClientDisconnect:
                return Response(status_code=499)
            except Exception as error:  # each error is an answer
                return _failed(problem_of(error, caller_of(request.headers.get("user-agent", ""))))

        return endpoint

    def _oauth(self, route: OAuthRoute) -> Any:
        async def endpoint(request: Request) -> Response:
            try:
                self._guard.check(request.url.path, request.headers)
                return _answer(*await route.answer(self._kafka, request, self._bodies))
            except ClientDisconnect:
                return Response(status_code=499)
            except Exception as error:  # each error is an answer
                return _failed(problem_of(error))

        return endpoint

    def _asset(self, asset: Asset) -> Any:
        async def endpoint(request: Request) -> Response:
            try:
                self._guard.check(request.url.path, request.headers, is_page=True)
            except ControlProblem as problem:
                return _failed(problem)
            return Response(contents(asset), media_type=asset.media_type, headers=PAGE_HEADERS)

        return endpoint

    def _stream(self, route: StreamRoute) -> Any:
        async def endpoint(request: Request) -> Response:
            try:
                self._guard.check(request.url.path, request.headers)
                check_query(request.url.path, route.query, request.query_params.multi_items())
                if request.method == "HEAD":
                    return Response(media_type=STREAM_TYPE, headers=HEADERS)
                if self._streams >= MOST_STREAMS:
                    raise ControlProblem(503, "busy", f"{MOST_STREAMS} streams are open: close one of them")
                last = request.headers.get("last-event-id")
                events = route.make(self._kafka, {**request.query_params, **({} if last is None else {"after": last})})
            except Exception as error:  # each error is an answer
                return _failed(problem_of(error))
            # At once: other streams are checked before this one begins.
            self._streams += 1
            return _StreamAnswer(events, self._end_stream)

        return endpoint

    def _end_stream(self) -> None:
        self._streams -= 1


class _StreamAnswer(StreamingResponse):
    """The events of one stream. `ended` is called when the client has left, or the stream has
    ended."""

    def __init__(self, events: EventStream, ended: Callable[[], None]) -> None:
        self._texts, self._ended = events.texts(), ended
        super().__init__(self._texts, media_type=STREAM_TYPE, headers=HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._ended()
            await self._texts.aclose()


async def _unless_left(request: Request, answer: Any) -> Any:
    """The result of a call; cancels the call when the client closes the connection."""
    calling, leaving = asyncio.ensure_future(answer), asyncio.ensure_future(_left(request))
    try:
        await asyncio.wait([calling, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not calling.done():
            raise ClientDisconnect
        return calling.result()
    finally:
        for task in (calling, leaving):
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task


async def _left(request: Request) -> None:
    """Returns when the client closes the connection. The body was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _answer(status: int, value: Any) -> Response:
    if isinstance(value, str):
        return PlainTextResponse(value, status, headers=HEADERS, media_type=METRICS_TYPE)
    return JSONResponse(value, status, headers=HEADERS)


def _failed(problem: ControlProblem) -> Response:
    return _answer(problem.status, problem.to_json())


async def _no_route(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    known = ", ".join(f"{method} {path}" for method, path in _all_routes())
    return _failed(
        ControlProblem(status, "usage", f"there is no {request.method} {request.url.path}: there are {known}")
    )


def _all_routes() -> list[tuple[str, str]]:
    own = [(each.method, each.path) for each in (*ROUTES, *OAUTH)]
    return own + [("GET", each.path) for each in STREAMS]
