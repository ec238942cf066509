"""A controller's decisions take effect, and are answered, when they are committed; and only the
leader decides."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes, registry
from kafkadouble.messages.generated.create_partitions import CreatePartitionsRequest
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.messages.message import Message
from tests.server.config_requests import incremental, whole
from tests.server.controllers import Controllers
from tests.server.topic_requests import creating, deleting

CLIENT_METRICS = 16


def growing(name: str) -> CreatePartitionsRequest:
    topic = CreatePartitionsRequest.CreatePartitionsTopic(name=name, count=2, assignments=None)
    return CreatePartitionsRequest(topics=[topic], timeout_ms=1000)


def setting(name: str) -> IncrementalAlterConfigsRequest:
    return incremental((CLIENT_METRICS, name, {"interval.ms": "100"}))


REQUESTS = [
    creating("t"),
    creating("t", validate_only=True),
    growing("t"),
    deleting("t"),
    setting("m"),
    whole((CLIENT_METRICS, "m", {})),
]


def newest(body: Message) -> int:
    return registry.api(body.api_key or 0).stable_versions[1]


def kind(body: Message) -> str:
    return type(body).__name__


@pytest.mark.parametrize("body", REQUESTS, ids=kind)
def test_a_controller_that_does_not_lead_refuses(body: Message) -> None:
    three = Controllers(3)
    leader = three.elect()
    other = next(node for node in three.nodes.values() if node is not leader)
    response = three.ask(other, body, newest(body))
    results = getattr(response, "topics", None) or getattr(response, "responses", None) or response.results
    assert {error_codes.name(result.error_code) for result in results} == {"NOT_CONTROLLER"}


@pytest.mark.parametrize("body", REQUESTS, ids=kind)
def test_an_answer_waits_until_its_records_are_committed(body: Message) -> None:
    three = Controllers(3)
    leader = three.elect()
    three.cut = {id for id in three.ids if id != leader.id}
    first: list[Any] = []
    three.submit(leader, setting("before"), 1, first.append)
    answers: list[Any] = []
    three.submit(leader, body, newest(body), answers.append)
    three.step(100)
    assert (first, answers) == ([], [])
    three.cut = set()
    three.until(lambda: bool(first and answers))


def test_a_decision_that_another_leader_takes_back_is_not_controller() -> None:
    three = Controllers(3)
    leader = three.elect()
    three.cut = {leader.id}
    answers: list[Any] = []
    three.submit(leader, setting("m"), 1, answers.append)
    three.until(lambda: bool(answers))
    assert [error_codes.name(response.error_code) for response in answers[0].responses] == ["NOT_CONTROLLER"]
    assert all(not node.controller.image.configs.get((CLIENT_METRICS, "m")) for node in three.nodes.values())
