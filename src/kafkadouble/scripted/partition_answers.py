"""Builds answers of APIs with one result per partition, for a combination of partitions that was
not recorded.

A client commits the offsets of the partitions that it has read, and these partitions differ in each
run. The result for a partition is the result of the last recorded request with this partition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kafkadouble.messages import registry
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.fields import fields_of
from kafkadouble.messages.uuid import Uuid
from kafkadouble.replay.recorded.exchange import Exchange

MAY_BE_NEW = (ApiKeys.OFFSET_COMMIT, ApiKeys.TXN_OFFSET_COMMIT)
"""APIs whose answer for a partition that no recorded request named is a success."""

COMBINED = (*MAY_BE_NEW, ApiKeys.LIST_OFFSETS)

OWNERS = ("group_id", "transactional_id")


def combined(exchanges: Sequence[Exchange], body: Any, topic_names: Mapping[Uuid, str]) -> Any:
    """The answer for the partitions of a request, from the exchanges of its API; None if a
    partition has no recorded result."""
    api = registry.api(body.api_key)
    topic_class, partition_class = _structs(api.response)
    known = _known([exchange for exchange in exchanges if _is_of_same_owner(exchange.request(), body)], topic_names)
    topics = []
    for topic in body.topics:
        partitions = []
        for each in topic.partitions:
            found = known.get((_named(topic, topic_names), each.partition_index, getattr(each, "timestamp", None)))
            if found is None and api.key not in MAY_BE_NEW:
                return None
            partitions.append(found or partition_class(partition_index=each.partition_index))
        named = {name: getattr(topic, name) for name in ("name", "topic_id") if hasattr(topic, name)}
        topics.append(topic_class(partitions=partitions, **named))
    made: Any = api.response()
    made.topics = topics
    return made


def _known(exchanges: Sequence[Exchange], topic_names: Mapping[Uuid, str]) -> dict[Any, Any]:
    """The last answer for each partition, by topic, partition and timestamp."""
    found: dict[Any, Any] = {}
    for exchange in exchanges:
        timestamps = {
            (_named(topic, topic_names), each.partition_index): getattr(each, "timestamp", None)
            for topic in exchange.request().topics
            for each in topic.partitions
        }
        answer = exchange.answer()
        for topic in () if answer is None else answer.topics:
            for each in topic.partitions:
                partition_key = _named(topic, topic_names), each.partition_index
                found[(*partition_key, timestamps.get(partition_key))] = each
    return found


def _structs(response: Any) -> tuple[Any, Any]:
    """The struct classes of a topic, and of a partition in it."""
    (topic,) = [field.struct for field in fields_of(response) if field.name == "topics"]
    assert topic is not None
    (partition,) = [field.struct for field in fields_of(topic) if field.name == "partitions"]
    return topic, partition


def _named(topic: Any, topic_names: Mapping[Uuid, str]) -> str:
    return topic.name or topic_names.get(getattr(topic, "topic_id", Uuid.ZERO), "")


def _is_of_same_owner(one: Any, other: Any) -> bool:
    return all(getattr(one, name, None) == getattr(other, name, None) for name in OWNERS)
