"""Reads facts about APIs from logs: names in the spelling of Kafka's enum, the error codes of a
response, and the versions that a server offers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafkadouble.messages import registry
from kafkadouble.messages.api_keys import ApiKeys

_KEYS = {api.name.upper(): api.key for api in registry.apis()} | {
    "LISTCLIENTMETRICSRESOURCES": ApiKeys.LIST_CONFIG_RESOURCES
}


def key_of(name: str) -> int | None:
    """The key of an API by its name in `ApiKeys`, such as FIND_COORDINATOR; None for an unknown
    name."""
    return _KEYS.get(name.replace("_", "").upper())


def errors_in(answer: Any) -> tuple[int, ...]:
    """All error codes in a response's JSON except 0, each once, outermost first."""
    return tuple(dict.fromkeys(_codes(answer)))


def _codes(found: Any) -> Iterator[int]:
    """In every specification, the names of fields with an error code have the same ending."""
    if isinstance(found, dict):
        for name, value in found.items():
            if name.endswith(("errorCode", "ErrorCode")):
                if isinstance(value, int) and value:
                    yield value
            elif isinstance(value, dict | list):
                yield from _codes(value)
    elif isinstance(found, list):
        for each in found:
            if isinstance(each, dict | list):
                yield from _codes(each)


def offered_in(answer: Any) -> dict[int, int]:
    """The highest version of each API, from the JSON of an ApiVersions response; empty if it lists
    none."""
    listed = answer.get("apiKeys") if isinstance(answer, dict) else None
    # a response with an error lists only ApiVersions
    if not isinstance(listed, list) or len(listed) < 2:
        return {}
    return {each["apiKey"]: each["maxVersion"] for each in listed if isinstance(each, dict) and _is_range(each)}


def _is_range(each: dict[str, Any]) -> bool:
    return all(isinstance(each.get(name), int) for name in ("apiKey", "maxVersion"))
