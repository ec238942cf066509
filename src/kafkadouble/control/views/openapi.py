"""The OpenAPI description of the control plane, made from the routes and the registry of verbs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafkadouble.common.version import __version__
from kafkadouble.control.http.route import Route, StreamRoute
from kafkadouble.verbs.registry import VERBS
from kafkadouble.verbs.verb import Verb

ERROR = {
    "type": "object",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "kind": {
                    "enum": [
                        "usage",
                        "kafka",
                        "timeout",
                        "assertion",
                        "forbidden",
                        "unauthorized",
                        "not ready",
                        "busy",
                        "internal",
                    ]
                },
                "message": {"type": "string"},
                "code": {"type": "integer", "description": "the number of Kafka's error"},
                "name": {"type": "string", "description": "the name of Kafka's error"},
            },
            "required": ["kind", "message"],
        }
    },
    "required": ["error"],
}

STATUSES = {
    "400": "A parameter is unknown, missing or wrong.",
    "401": "The token is missing or wrong.",
    "403": "A page of another site may not call.",
    "408": "A wait has ended without the state.",
    "409": "Kafka's error, with its code and name.",
    "422": "An assertion does not hold.",
}


KINDS = {"/metrics": "text/plain"}
"""The type of what is no JSON."""


def description(routes: Sequence[Route], streams: Sequence[StreamRoute]) -> dict[str, Any]:
    """The description, as a value for JSON."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kafkadouble",
            "version": __version__,
            "description": "Drives and watches a running double: every verb of its registry is a POST.",
        },
        "paths": {
            **_paths([*routes, *streams]),
            **{f"/verbs/{verb.name}": {"post": _operation(verb)} for verb in _verbs()},
        },
        "components": {
            "schemas": {"Error": ERROR},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _verbs() -> list[Verb]:
    return [each for each in VERBS.values() if each.is_for_json and not each.reads_file]


def _paths(routes: Sequence[Route | StreamRoute]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for route in routes:
        if isinstance(route, StreamRoute) or route.method == "GET":
            made.setdefault(route.path, {})["get"] = _of_route(route)
    return made


def _of_route(route: Route | StreamRoute) -> dict[str, Any]:
    in_path = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    parameters = [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in in_path] + [
        {
            "name": name,
            "in": "query",
            "description": words,
            "schema": {"type": "string" if name == "names" else "integer"},
        }
        for name, words in route.query.items()
    ]
    kind = "text/event-stream" if isinstance(route, StreamRoute) else KINDS.get(route.path, "application/json")
    answer = {"description": "the answer", "content": {kind: {"schema": {}}}}
    return {"summary": route.summary, "parameters": parameters, "responses": {"200": answer, **_errors()}}


def _operation(verb: Verb) -> dict[str, Any]:
    result = {"type": "object", "properties": {"result": {"description": verb.result}}, "required": ["result"]}
    return {
        "operationId": verb.name,
        "summary": verb.summary_for_json,
        "tags": [verb.subject],
        "requestBody": {
            "required": any(parameter.is_required for parameter in verb.parameters.values()),
            "content": {"application/json": {"schema": verb.schema}},
        },
        "responses": {
            "200": {"description": "the result", "content": {"application/json": {"schema": result}}},
            **_errors(),
        },
    }


def _errors() -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    return {status: {"description": words, "content": content} for status, words in STATUSES.items()}
