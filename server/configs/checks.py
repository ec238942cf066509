"""Checks a value against the words of its row.

    >=1  0..0.5        a number in these bounds; as in Kafka, NaN is in all of them
    number             not NaN
    in:a,b             one of these texts; in a list, every element
    any-case:A,B       one of these texts, in upper or lower case
    nonempty           neither the empty text nor the empty list
    replicas           `*`, or PARTITION:BROKER in every element (KIP-73)
    voters             ID@HOST:PORT in every element (KIP-595)
    endpoints          HOST:PORT in every element (KIP-853)
    reset              latest, earliest or by_duration:P... (KIP-932)
    gzip-level         1 to 9, or -1

A list refuses duplicates and empty elements without a word for it, unless it has a form of its own.
The error messages are close to those of ConfigDef, because clients show them.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .definition import ConfigKey, ConfigType, InvalidConfig, Value

HOST_PORT = r"(?:.*?://)?\[?([0-9a-zA-Z\-%._:]*)\]?:([0-9]+)"
DURATION = r"p(?=.)(\+?[0-9]+d)?(t(?=.)(\+?[0-9]+h)?(\+?[0-9]+m)?(\+?[0-9]+([.,][0-9]{0,9})?s)?)?"
OWN_FORMS = frozenset({"replicas", "voters", "endpoints"})


def checked(config: ConfigKey, value: Value, strict: bool) -> Value:
    """The value, if its row allows it. Duplicates in a list are dropped, or refused if `strict`."""
    if config.type is ConfigType.LIST and not OWN_FORMS.intersection(config.checks):
        elements = _elements(value) if strict else tuple(dict.fromkeys(_elements(value)))
        _check_list(config, elements)
        return elements
    for word in config.checks:
        kind, _, rest = word.partition(":")
        (NAMED.get(kind) or _in_range)(config.name, value, rest or word)
    return value


def _elements(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else ()


def _check_list(config: ConfigKey, elements: tuple[str, ...]) -> None:
    allowed = next((word[3:].split(",") for word in config.checks if word.startswith("in:")), [])
    place = f"Configuration '{config.name}'"
    if not elements and "nonempty" in config.checks:
        valid = "[" + ", ".join(allowed) + "]" if allowed else "any non-empty value"
        raise InvalidConfig(config.name, elements, text=f"{place} must not be empty. Valid values include: {valid}")
    if len(set(elements)) < len(elements):
        raise InvalidConfig(config.name, elements, text=f"{place} values must not be duplicated.")
    for element in elements:
        if not element:
            raise InvalidConfig(config.name, elements, text=f"{place} values must not be empty.")
        if allowed and element not in allowed:
            raise InvalidConfig(config.name, element, "String must be one of: " + ", ".join(allowed))


def _in_range(name: str, value: Value, bounds: str) -> None:
    low, dots, high = bounds.removeprefix(">=").partition("..")
    if not isinstance(value, int | float) or value < float(low):
        raise InvalidConfig(name, value, f"Value must be at least {low}")
    if dots and value > float(high):
        raise InvalidConfig(name, value, f"Value must be no more than {high}")


def _is_number(name: str, value: Value, _: str) -> None:
    if value != value:
        raise InvalidConfig(name, value, "Value must be a number")


def _one_of(name: str, value: Value, allowed: str) -> None:
    if value not in allowed.split(","):
        raise InvalidConfig(name, value, "String must be one of: " + allowed.replace(",", ", "))


def _one_in_any_case(name: str, value: Value, allowed: str) -> None:
    if str(value).upper() not in allowed.split(","):
        raise InvalidConfig(name, value, "String must be one of (case insensitive): " + allowed.replace(",", ", "))


def _not_empty(name: str, value: Value, _: str) -> None:
    if not value:
        raise InvalidConfig(name, value, "String must be non-empty")


def _gzip_level(name: str, value: Value, _: str) -> None:
    if not isinstance(value, int) or not (1 <= value <= 9 or value == -1):
        raise InvalidConfig(name, value, "Value must be between 1 and 9 or equal to -1")


def _replicas(name: str, value: Value, _: str) -> None:
    elements = _elements(value)
    if "".join(elements) != "*" and not all(re.fullmatch("([0-9]+:[0-9]+)?", element) for element in elements):
        form = "replicas in the following format: [partitionId]:[brokerId],[partitionId]:[brokerId],..."
        raise InvalidConfig(name, value, f"{name} must be the literal '*' or a list of {form}")


def _voters(name: str, value: Value, _: str) -> None:
    form = "Each entry should be in the form `{id}@{host}:{port}`."
    for entry in _elements(value):
        voter, at, address = entry.partition("@")
        if not at or "@" in address:
            raise InvalidConfig(name, value, text=f"Invalid configuration value for {name}. {form}")
        if not re.fullmatch("[+-]?[0-9]+", voter):
            raise InvalidConfig(name, value, text=f"Failed to parse voter ID as an integer from {voter}")
        _address(name, value, address, f"from entry {entry} for the configuration {name}. {form}")


def _endpoints(name: str, value: Value, _: str) -> None:
    for entry in _elements(value):
        form = f'from {entry} for the configuration {name}. Each entry should be in the form "{{host}}:{{port}}"'
        _address(name, value, entry, form)


def _address(name: str, value: Value, address: str, rest: str) -> None:
    if not re.fullmatch(HOST_PORT, address):
        raise InvalidConfig(name, value, text=f"Failed to parse host name {rest}")


def _reset(name: str, value: Value, _: str) -> None:
    strategy, colon, duration = str(value).partition(":")
    if strategy in ("latest", "earliest") and not colon:
        return
    if strategy == "by_duration" and re.fullmatch(DURATION, duration.lower()):
        return
    forms = "'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'"
    why = f"Invalid value `{value}` for configuration {name}. The value must be either {forms}."
    raise InvalidConfig(name, value, why)


NAMED: dict[str, Callable[[str, Value, str], None]] = {
    "number": _is_number,
    "in": _one_of,
    "any-case": _one_in_any_case,
    "nonempty": _not_empty,
    "gzip-level": _gzip_level,
    "replicas": _replicas,
    "voters": _voters,
    "endpoints": _endpoints,
    "reset": _reset,
}
