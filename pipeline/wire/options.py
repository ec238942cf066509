"""Reads the options of a query, by the table and the rules between options.

Rules: an unknown option is refused. An option for another kind of query has no effect, unless its
row refuses it. Keys are compared without case, because Spark passes them in lower case.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import UsageError

from . import properties
from .table import BATCH, BY_KEY, SINK, SOURCE, STREAM, TABLE, Use, WireOption

__all__ = ["BATCH", "SINK", "SOURCE", "STREAM", "QueryOptions", "read"]

_LOG = ClientLog(__name__)

SPARKS_OWN = ("checkpointlocation", "queryname", "outputmode")
"""Options that Spark itself adds to those of a sink."""


@dataclass(frozen=True)
class QueryOptions:
    """The options of one query: values by the names of the table, and the client's properties by
    Kafka's names, with passwords."""

    values: Mapping[str, Any]
    client: Mapping[str, str] = field(repr=False)

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


def read(given: Mapping[str, str], use: Use) -> QueryOptions:
    """The options of a query. Raises UsageError for an unknown option, an invalid value, or options
    that contradict each other."""
    lowered = {key.lower(): value for key, value in given.items()}
    found: dict[str, Any] = {option.name: None for option in TABLE}
    found |= {option.name: option.parse(option.default) for option in TABLE if option.default is not None}
    for key, value in lowered.items():
        if not key.startswith(properties.PREFIX) and key not in SPARKS_OWN:
            if key in ("path", "paths"):
                raise UsageError(
                    "kafka-wire has no path: name the topics by the option subscribe, subscribePattern, assign or topic"
                )
            if key not in BY_KEY:
                raise UsageError(f"kafka-wire has no option {key}; properties of Kafka's clients begin with kafka.")
            option = BY_KEY[key]
            if _counts(option, use):
                found[option.name] = _value(option, value)
    if use != SINK:
        _check(found, {BY_KEY[key].name for key in lowered if key in BY_KEY})
    return QueryOptions(found, properties.of_client(lowered, use))


def _counts(option: WireOption, use: str) -> bool:
    if use in option.uses or (use == SOURCE and option.uses != (SINK,)):
        return True
    if option.refused and use == STREAM:
        raise UsageError(f"the option {option.name} is not for a streaming query: {option.refused}")
    _LOG.warning("the option %s has no effect in a %s query", option.name, use)
    return False


def _value(option: WireOption, text: str) -> Any:
    try:
        return option.parse(text)
    except ValueError as problem:
        raise UsageError(f"the option {option.name} {problem}: {text!r}") from None


def _check(found: dict[str, Any], named: set[str]) -> None:
    """The rules between options of a source."""
    strategies = sorted(named & {"subscribe", "subscribePattern", "assign"})
    if len(strategies) != 1:
        wrong = f"{' and '.join(strategies)} are given" if strategies else "none is given"
        raise UsageError(
            f"exactly one of the options subscribe, subscribePattern and assign names what is read; {wrong}"
        )
    least, most = found["minOffsetsPerTrigger"], found["maxOffsetsPerTrigger"]
    if least is not None and most is not None and least > most:
        raise UsageError(f"the option minOffsetsPerTrigger ({least}) is higher than maxOffsetsPerTrigger ({most})")
