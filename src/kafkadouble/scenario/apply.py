"""Applies a scenario to a double that runs: `begin(kafka, scenario)`.

First, everything that the double's cluster would refuse is checked: a topic, a rule for an unknown
broker, offsets of a topic that is never created. Nothing happens if something is found. A topic
that is there already, in a data directory, stays as it is, without further records; so does a
group.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from kafkadouble.common.errors import UsageError, raise_for
from kafkadouble.host.host import host_of
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.records import seeding
from kafkadouble.rules import rule_handle as rules

from .contents import ScenarioTopic
from .steps import ScenarioSteps

if TYPE_CHECKING:
    from kafkadouble.verbs.double_api import DoubleApi

    from .calls import ScenarioCall
    from .scenario import Scenario


def begin(kafka: DoubleApi, scenario: Scenario) -> ScenarioSteps:
    """Creates topics and records, commits offsets, arms rules, and begins with the steps. Do not
    call it on the broker's own thread. Raises UsageError and KafkaError, which name the place in
    the file."""
    topics, groups = _to_create(kafka, scenario), _to_commit(kafka, scenario)
    _check_rules(kafka, scenario)
    host = host_of(kafka)
    host.turns = 0  # records without a key go to the same partitions each time
    calls = [call for topic in topics for call in (topic.creation, topic.records) if call is not None]
    for call in (*calls, *groups, *scenario.rules):
        call.call(kafka)
    running = host.serving()
    steps = ScenarioSteps(kafka, running, host.clock, scenario.steps)
    host.steps, running.before_stop = steps, steps.end
    steps.begin()
    return steps


def _to_create(kafka: DoubleApi, scenario: Scenario) -> list[ScenarioTopic]:
    """The topics that do not exist yet. KafkaError for one that the broker would not create."""
    there = kafka.topics(internal=True) if scenario.topics else {}
    missing = []
    for topic in scenario.topics:
        if topic.name not in there:
            missing.append(topic)
        elif topic.partitions not in (math.inf, count := len(there[topic.name].partitions)):
            raise UsageError(f"{topic.creation.where}: the topic is there already, with {count} partitions")
    if missing:
        _check_creation(kafka, missing)
    return missing


def _check_creation(kafka: DoubleApi, topics: list[ScenarioTopic]) -> None:
    answer = host_of(kafka).ask(_creation([topic.creation for topic in topics]))
    by_name = {topic.name: topic for topic in answer.topics}
    for topic in topics:
        with topic.creation.naming_the_place():
            raise_for(by_name[topic.name].error_code, by_name[topic.name].error_message)


def _creation(calls: list[ScenarioCall]) -> CreateTopicsRequest:
    """The request that only asks whether the topics could be created."""
    topics: list[CreateTopicsRequest.CreatableTopic] = []
    for call in calls:
        with call.naming_the_place():
            given = call.given
            replicas = given.get("replication_factor")
            request = seeding.to_create(
                given["name"],
                given.get("partitions", 1),
                given.get("config") or {},
                -1 if replicas is None else replicas,
            )
        topics += request.topics
    return CreateTopicsRequest(topics=topics, timeout_ms=seeding.TIMEOUT_MS, validate_only=True)


def _to_commit(kafka: DoubleApi, scenario: Scenario) -> list[ScenarioCall]:
    """The groups that do not exist yet. UsageError for offsets of a partition that will not
    exist."""
    if not scenario.groups:
        return []
    counts: dict[str, float] = {topic.name: topic.partitions for topic in scenario.topics}
    counts |= {name: len(topic.partitions) for name, topic in kafka.topics(internal=True).items()}
    for call in scenario.groups:
        for topic, index in call.given["offsets"]:
            if index >= counts.get(topic, 0):
                raise UsageError(f"{call.where}: there is no partition {topic}-{index}")
    there = kafka.groups()
    return [call for call in scenario.groups if call.given["group"] not in there]


def _check_rules(kafka: DoubleApi, scenario: Scenario) -> None:
    host = host_of(kafka)
    broker = host.serving().broker
    for call in scenario.rules:
        with call.naming_the_place():
            host.call(rules.check, call.given["rule"], broker)
