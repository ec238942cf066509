"""Waits for Kafka by requests, since its controller answers before its broker has applied the
change.

A change is applied when the broker shows a later one. The later one is a harmless setting of a
client metrics subscription, and it is made twice: the broker publishes one change after another, so
when it shows the second, all effects of the earlier ones are complete.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from itertools import count
from typing import Any

from tests.support.matching import errors_in

from .side import Outcome, Side

CHANGES = {"CreateTopics", "DeleteTopics", "CreatePartitions", "AlterConfigs", "IncrementalAlterConfigs"}
"""APIs after which the broker must apply a change."""

OF_REPLICAS = {"AlterPartitionReassignments", "ElectLeaders", "UnregisterBroker"}
"""More such APIs, where there are other brokers."""

FIRST: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("FindCoordinator", 4, {"keyType": 0, "coordinatorKeys": ["first"]}),
    ("OffsetFetch", 8, {"groups": [{"groupId": "first", "topics": None}]}),
    ("InitProducerId", 4, {"transactionalId": None}),
    ("FindCoordinator", 4, {"keyType": 1, "coordinatorKeys": ["first"]}),
    ("InitProducerId", 4, {"transactionalId": "first", "transactionTimeoutMs": 1000}),
)
"""Requests that Kafka refuses until it is ready for them."""

PATIENCE = 60.0
CLIENT_METRICS = 16
MARK = "settled"

_marks = count(1000)


def settle(side: Side, api: str, request: dict[str, Any], outcome: Outcome) -> None:
    """Returns when the broker has applied the change of the request."""
    changes = CHANGES | OF_REPLICAS if len(side.running) > 1 else CHANGES
    if api in changes and "NONE" in str(outcome) and not request.get("validateOnly"):
        for _ in range(2):
            mark(side, str(next(_marks)))
    elif api == "Metadata" and request.get("allowAutoTopicCreation", True) and isinstance(outcome, dict):
        for topic in outcome["topics"]:
            if topic["errorCode"] == "UNKNOWN_TOPIC_OR_PARTITION" and topic["name"]:
                _until_known(side, topic["name"])


def mark(side: Side, value: str) -> None:
    """Alters the mark, and waits until every broker shows it."""
    values = {"interval.ms": value, "match": "client_id=none"}
    configs = [{"name": name, "configOperation": 0, "value": text} for name, text in values.items()]
    resource = {"resourceType": CLIENT_METRICS, "resourceName": MARK}
    altered = {"resources": [{**resource, "configs": configs}]}
    first, *_ = clients = [f"settle@{id}" for id in sorted(side.running)]
    # The controller may be unavailable.
    _until(lambda: "NONE" in str(side.ask(first, "IncrementalAlterConfigs", 1, altered)))
    has_value = partial(_has_config, side, resource, f"'value': '{value}'")
    for client in clients:
        _until(partial(has_value, client))


def _has_config(side: Side, resource: dict[str, Any], text: str, client: str) -> bool:
    return text in str(side.ask(client, "DescribeConfigs", 4, {"resources": [resource]}))


def _until_known(side: Side, name: str) -> None:
    metadata = {"topics": [{"name": name}], "allowAutoTopicCreation": False}
    _until(lambda: "'leaderId': 1" in str(side.ask("settle", "Metadata", 12, metadata)))


def first_answers(side: Side) -> None:
    """Returns when the coordinators and the producer ids, which Kafka prepares at the first
    request, are available."""
    for api, version, request in FIRST:
        _until(partial(_is_answered, side, api, version, request))


def _is_answered(side: Side, api: str, version: int, request: dict[str, Any]) -> bool:
    outcome = side.ask("settle", api, version, request)
    return isinstance(outcome, dict) and not any(errors_in(outcome, ""))


def _until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, f"the broker did not come to know of a change: {holds}"
