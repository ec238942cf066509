"""The OpenAPI description is valid, and says of each verb what the registry says."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from openapi_spec_validator import validate

from kafkadouble import KafkaDouble
from kafkadouble.control.routes import ROUTES, STREAMS
from kafkadouble.control.views.openapi import description
from kafkadouble.verbs.registry import VERBS
from tests.control.http import call
from tests.front.verbs.good_calls import GOOD

DESCRIPTION: Any = json.loads(json.dumps(description(ROUTES, STREAMS)))


def test_openapi_document_is_valid() -> None:
    validate(DESCRIPTION)


def test_openapi_document_is_served(url: str) -> None:
    assert call(url, "GET", "/openapi.json").json == DESCRIPTION


def schema_of(verb: str) -> Any:
    return DESCRIPTION["paths"][f"/verbs/{verb}"]["post"]["requestBody"]["content"]["application/json"]["schema"]


@pytest.mark.parametrize("name", [name for name, good in GOOD.items() if not callable(good.given)])
def test_a_good_call_fits_its_schema(name: str) -> None:
    verb = VERBS[name]
    if not verb.is_for_json or verb.reads_file:
        assert f"/verbs/{name}" not in DESCRIPTION["paths"]
        return
    given = verb.to_json(GOOD[name].parameters(KafkaDouble()))
    jsonschema.validate(given, schema_of(name))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**given, "no_such_parameter": 1}, schema_of(name))


def test_each_path_answers(url: str) -> None:
    for path, methods in DESCRIPTION["paths"].items():
        if "{" not in path and path not in ("/events", "/views"):
            assert all(call(url, method.upper(), path, b"").status != 404 for method in methods)
