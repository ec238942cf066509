"""Turns the short form of a request into a message of one version: fields that the version lacks
are left out."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages import registry
from kafkadouble.messages.fields import fields_of
from kafkadouble.messages.message import Struct
from kafkadouble.wire.errors import UsageError
from tests.support.values import struct


def body_of(api: str, version: int, given: dict[str, Any]) -> Any:
    """The request. Raises UsageError for a null that the version does not allow."""
    found = registry.api_named(api)
    return struct(found.request, _complete(found.request, given, min(version, found.stable_versions[1])))


def _complete(cls: type[Struct], given: dict[str, Any], version: int) -> dict[str, Any]:
    fields = {field.json_name: field for field in fields_of(cls)}
    unknown = given.keys() - fields.keys()
    if unknown:
        raise ValueError(f"{cls.__name__} has no {sorted(unknown)}; it has {sorted(fields)}")
    complete = {}
    for name, value in given.items():
        field = fields[name]
        if not field.present(version):
            continue
        if value is None and not field.is_nullable(version):
            raise UsageError(f"{name} cannot be null in version {version}")
        inner = field.struct
        if inner is not None and isinstance(value, list):
            value = [_complete(inner, each, version) for each in value]
        elif inner is not None and isinstance(value, dict):
            value = _complete(inner, value, version)
        complete[name] = value
    return complete
