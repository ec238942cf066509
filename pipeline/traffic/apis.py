"""What logs tell of APIs: their names as Kafka's enum spells them, the errors in an answer, and the versions that a server offers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kafkadouble.messages import registry
from kafkadouble.messages.api_keys import ApiKeys

_KEYS = {api.name.upper(): api.key for api in registry.apis()} | {
    "LISTCLIENTMETRICSRESOURCES": ApiKeys.LIST_CONFIG_RESOURCES
}


def key_of(name: str) -> int | None:
    """The key of an API by its name in `ApiKeys`, such as FIND_COORDINATOR; None when nobody knows it."""
    return _KEYS.get(name.replace("_", "").upper())


def errors_in(answer: Any) -> tuple[int, ...]:
    """All error codes in an answer's JSON but 0, each once, outermost first."""
    return tuple(dict.fromkeys(_codes(answer)))


def _codes(found: Any) -> Iterator[int]:
    """The names of fields that hold an error code end alike in every specification."""
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
    """The highest version of each API, as the JSON of an answer to ApiVersions lists them; nothing if it lists none."""
    listed = answer.get("apiKeys") if isinstance(answer, dict) else None
    if not isinstance(listed, list) or len(listed) < 2:  # with an error only ApiVersions itself is listed
        return {}
    return {each["apiKey"]: each["maxVersion"] for each in listed if isinstance(each, dict) and _is_range(each)}


def _is_range(each: dict[str, Any]) -> bool:
    return all(isinstance(each.get(name), int) for name in ("apiKey", "maxVersion"))
