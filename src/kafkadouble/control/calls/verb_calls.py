"""Answers of the routes: calls of verbs, descriptions of verbs, and views of requests.

A function here takes the double and the parameters of a call, and returns values for JSON. It may
raise whatever a verb raises, or ControlProblem.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kafkadouble.control.http.problems import ControlProblem
from kafkadouble.host.host import host_of
from kafkadouble.messages import error_codes
from kafkadouble.server.apis.served import ROW_OF
from kafkadouble.verbs.forms.json_form import to_json
from kafkadouble.verbs.registry import VERBS
from kafkadouble.verbs.verb import Parameter, Verb
from kafkadouble.wire.wording import Caller, allowed_for

if TYPE_CHECKING:
    from kafkadouble.messages.message import Message
    from kafkadouble.server.tracing.history import SeenRequest
    from kafkadouble.verbs.double_api import DoubleApi

MOST_REQUESTS = 1000
"""The requests in one answer."""

SHORT = (
    "number",
    "time",
    "took",
    "broker",
    "client_id",
    "principal",
    "api",
    "version",
    "correlation_id",
    "outcome",
    "rules",
    "errors",
    "size",
    "answer_size",
)
"""The attributes of a request in a list."""


def verb_named(name: str) -> Verb:
    """The verb for a call over HTTP. Raises ControlProblem."""
    if name not in VERBS:
        try:
            VERBS[name]
        except ValueError as unknown:
            raise ControlProblem(404, "usage", str(unknown)) from None
    verb = VERBS[name]
    if not verb.is_for_json:
        raise ControlProblem(400, "usage", f"{name} takes a function: only a Python program can call it")
    if verb.reads_file:
        raise ControlProblem(
            400, "usage", f"{name} reads a file where the double runs: send the contents with produce_all"
        )
    return verb


async def call(kafka: DoubleApi, verb: Verb, given: Mapping[str, Any]) -> Any:
    """Calls a verb, and returns its result for JSON. A verb that waits takes no thread, and ends
    when it is cancelled."""
    if verb.subject != "waiting":
        return await asyncio.to_thread(verb.call_json, kafka, given)
    values = verb.from_json(given)
    verb.check(values)
    waiting = getattr(kafka.aio, verb.name)(**values)
    return await asyncio.to_thread(verb.to_json, await waiting)


def described() -> list[dict[str, Any]]:
    """Every verb that can be called over HTTP."""
    return [described_verb(each) for each in VERBS.values() if each.is_for_json and not each.reads_file]


def described_verb(verb: Verb) -> dict[str, Any]:
    """A verb as a value: its parameters, and what it does."""
    return {
        "name": verb.name,
        "subject": verb.subject,
        "summary": verb.summary_for_json,
        "result": verb.result,
        "parameters": [_described(parameter) for parameter in verb.parameters.values() if parameter.schema is not None],
    }


def _described(parameter: Parameter) -> dict[str, Any]:
    made = {
        "name": parameter.name,
        "kind": parameter.kind,
        "required": parameter.is_required,
        "allowed": allowed_for(parameter.allowed, Caller.HTTP),
        "schema": parameter.schema,
    }
    return made if parameter.is_required else {**made, "default": to_json(parameter.default)}


def names() -> dict[str, Any]:
    """The names of the APIs that are served, in the order of their keys, and of errors by code."""
    return {"apis": list(ROW_OF), "errors": error_codes.NAMES}


def requests_after(kafka: DoubleApi, number: int, most: int = MOST_REQUESTS) -> list[SeenRequest]:
    """The requests of clients with higher numbers, oldest first."""
    return host_of(kafka).look(lambda history: history.after(number, most))


def latest_requests(kafka: DoubleApi, most: int) -> list[SeenRequest]:
    """The latest requests of clients, oldest first."""
    return host_of(kafka).look(lambda history: history.after(max(0, history.received - most), most))


def newest_number(kafka: DoubleApi) -> int:
    """The number of the request that came last."""
    running = host_of(kafka).known()
    return running.on_thread(lambda: running.broker.history.received)


def short(seen: SeenRequest) -> dict[str, Any]:
    """A request for a list: without its contents, and `text`, a line for a person."""
    parts = [{name: value for name, value in part._asdict().items() if value is not None} for part in seen.parts]
    return {**{name: _plain(getattr(seen, name)) for name in SHORT}, "parts": parts, "text": repr(seen)}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def request_numbered(kafka: DoubleApi, number: int) -> SeenRequest:
    """The request with this number. Raises ControlProblem if it is not kept any more."""
    found = requests_after(kafka, number - 1, 1)
    if not found or found[0].number != number:
        raise ControlProblem(
            404, "usage", f"request {number} is not kept: the latest 10,000 are, fewer if they are large"
        )
    return found[0]


def hexdump(seen: SeenRequest) -> dict[str, str | None]:
    """The request and its answer as annotated hexdumps, without their headers; None where
    `to_json` has None. Records and secrets are left out, as there."""
    shown, bodies = seen.to_json(), {"request": seen.body, "answer": seen.answer}
    return {
        name: None if shown[name] is None else _dumped(type(body), shown[name], seen.version)
        for name, body in bodies.items()
    }


def _dumped(cls: type[Message], plain: dict[str, Any], version: int) -> str:
    from kafkadouble.messages import show  # slow to import, and seldom needed

    body = cls.from_json(plain, version).encode(version)
    return "\n".join(show.render(show.hexdump(body, cls, version)))
