"""The properties of Kafka's clients among the options: `kafka.` and Kafka's own name. The
properties that Spark's connector refuses are refused.

Rules: a property is refused when it would change the meaning of a query; the client warns of one
that has no effect. Properties for producers only are left out of a source, and those for consumers
only out of a sink, with a warning if they have no effect. The driver checks all values before any
task uses them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import UsageError

from ..client.others import BY_NAME as OTHERS
from ..client.others import warn_once
from ..client.settings import ClientSettings

PREFIX = "kafka."
_LOG = ClientLog(__name__)


class RefusedProperty(NamedTuple):
    """A property that is refused, in the kinds of query in `uses`."""

    name: str
    uses: tuple[str, ...]
    why: str


_SOURCE, _SINK = ("batch", "stream", "source"), ("sink",)

REFUSED: tuple[RefusedProperty, ...] = (
    RefusedProperty(
        "auto.offset.reset",
        _SOURCE,
        "set startingOffsets to earliest or latest instead: the query tracks the offsets itself, so that it misses no record when "
        "topics or partitions are added; startingOffsets applies only to a new query, and a resumed query continues where it stopped",
    ),
    RefusedProperty("key.deserializer", _SOURCE, "keys are bytes; decode them with DataFrame operations"),
    RefusedProperty("value.deserializer", _SOURCE, "values are bytes; decode them with DataFrame operations"),
    RefusedProperty("key.serializer", _SINK, "keys are written as the bytes or the text in the column"),
    RefusedProperty("value.serializer", _SINK, "values are written as the bytes or the text in the column"),
    RefusedProperty(
        "enable.auto.commit",
        _SOURCE,
        "the query keeps its offsets in its checkpoint; commitToGroup also commits them to a group",
    ),
    RefusedProperty(
        "interceptor.classes",
        (*_SOURCE, *_SINK),
        "an interceptor could change what is read, and it is a Java class",
    ),
    RefusedProperty("transactional.id", _SINK, "the sink writes at least once, without transactions"),
)

_OTHER_ROLE = {"sink": "consumer", "batch": "producer", "stream": "producer", "source": "producer"}
_BY_NAME = {row.name: row for row in REFUSED}
_GROUP = "the property kafka.group.id has no effect: no group is joined; commitToGroup commits to one"


def of_client(given: Mapping[str, str], use: str) -> dict[str, str]:
    """The client's properties among lower-cased options. Raises UsageError for a refused one, or
    without bootstrap servers."""
    found = {key.removeprefix(PREFIX): value for key, value in given.items() if key.startswith(PREFIX)}
    for name in found:
        if (row := _BY_NAME.get(name)) is not None and use in row.uses:
            raise UsageError(f"the property {PREFIX}{name} is not supported: {row.why}")
    if not found.get("bootstrap.servers", "").strip():
        raise UsageError("the option kafka.bootstrap.servers must be given: a list of host:port")
    if found.pop("group.id", None) is not None:
        _LOG.warning(_GROUP)
    found = {name: value for name, value in found.items() if _is_for(name, use)}
    ClientSettings(found)
    return found


def _is_for(name: str, use: str) -> bool:
    """Whether a property is for this kind of query, or for all."""
    row = OTHERS.get(name)
    if row is None or row.role != _OTHER_ROLE[use]:
        return True
    warn_once(
        f"the property {PREFIX}{name} has no effect in a {'sink' if use == 'sink' else 'source'}: it is for {row.role}s"
    )
    return False
