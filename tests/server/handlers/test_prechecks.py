"""A node prechecks every request from clients and from nodes, with and without an authorizer."""

from __future__ import annotations

import ast
from inspect import getsource
from types import GeneratorType, ModuleType
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_acls import CreateAclsRequest
from kafkadouble.messages.generated.feature_level_record import FeatureLevelRecord
from kafkadouble.server import dispatch
from kafkadouble.server.apis.row import ServedApi
from kafkadouble.server.apis.served import CONTROLLER_TABLE, FORWARDED, TABLE
from kafkadouble.server.groups.features import FEATURES
from kafkadouble.server.node import Node
from kafkadouble.server.requests.answer import DISCONNECT
from kafkadouble.server.requests.request import Peer, Request
from kafkadouble.server.security.authorizer import STANDARD
from tests.server import forwarded
from tests.server.harness import NOW, Harness
from tests.support.listeners import CONTROLLER

AUTHORIZER = {"authorizer.class.name": STANDARD, "super.users": "User:owner"}

OF_BROKERS = {f"{verb}ShareGroupState" for verb in ("Initialize", "Read", "Write", "Delete")} | {
    "ReadShareGroupStateSummary"
}
"""Requests of brokers to the share coordinator. They are answered even if the cluster does not
support share groups."""

OF_GROUPS = [
    served
    for served in TABLE
    if served.name.startswith(("ConsumerGroup", "Share", "Streams")) or "ShareGroup" in served.name
]

HANDLERS: dict[str, ModuleType] = {
    served.handler.__name__: served.handler  # type: ignore[attr-defined, misc]
    for served in (*TABLE, *CONTROLLER_TABLE)
}


def request_at(node: Node, served: ServedApi, *, is_in_process: bool = False, is_node: bool = False) -> Request[Any]:
    """A request with default fields, from a client unless `is_in_process` or `is_node` is set."""
    listener = node.listeners[0] if served in TABLE else CONTROLLER
    peer = Peer(1, "127.0.0.1", 50_000, listener)
    peer.is_in_process, peer.is_node = is_in_process, is_node
    return Request(served.api.key, served.highest, 0, "test", served.request(), peer, received=NOW, size=0)


@pytest.mark.parametrize("served", [*TABLE, *CONTROLLER_TABLE], ids=lambda served: served.name)
@pytest.mark.parametrize("settings", [{}, AUTHORIZER], ids=["open", "authorizer"])
def test_dispatch_prechecks_requests_of_clients_and_nodes(
    served: ServedApi, settings: dict[str, object], nodes: dict[str, Node], monkeypatch: pytest.MonkeyPatch
) -> None:
    checked = list[Request[Any]]()

    def precheck(node: Node, request: Request[Any]) -> Any:
        checked.append(request)
        return DISCONNECT

    monkeypatch.setitem(served.__dict__, "precheck", precheck)
    node = nodes[str(settings)]
    requests = [
        request_at(node, served),
        request_at(node, served, is_in_process=True),
        request_at(node, served, is_node=True),
    ]
    assert [dispatch.answer(node, request) for request in requests] == [DISCONNECT] * 3
    assert [id(each) for each in checked] == list(map(id, requests))


@pytest.fixture(scope="module")
def nodes() -> dict[str, Node]:
    return {str(settings): Harness(settings).node for settings in ({}, AUTHORIZER)}


@pytest.mark.parametrize("served", OF_GROUPS, ids=lambda served: served.name)
def test_group_api_is_refused_without_its_feature(served: ServedApi, groupless: Node) -> None:
    answer = dispatch.answer(groupless, request_at(groupless, served))
    refused = dispatch.refused(request_at(groupless, served), error_codes.UNSUPPORTED_VERSION)
    is_refused = not isinstance(answer, GeneratorType) and repr(answer) == repr(refused)
    assert is_refused is (served.name not in OF_BROKERS)


@pytest.fixture(scope="module")
def groupless() -> Node:
    node = Harness().node
    node.controller.commit([FeatureLevelRecord(name=name, feature_level=0) for name in FEATURES.values()])
    return node


def test_controller_prechecks_a_forwarded_request(nodes: dict[str, Node]) -> None:
    undecoded = CreateAclsRequest(creations=[CreateAclsRequest.AclCreation(resource_name="t", host="*")])
    [served] = (each for each in CONTROLLER_TABLE if each.name == "Envelope")
    request = request_at(nodes["{}"], served)
    request.body = forwarded.envelope(undecoded, 3, "User:ann")
    answer = dispatch.answer(nodes["{}"], request)
    assert isinstance(answer, GeneratorType)
    with pytest.raises(StopIteration) as end:
        next(answer)
    assert end.value.value is DISCONNECT


def test_forwarding_broker_does_not_precheck(nodes: dict[str, Node], monkeypatch: pytest.MonkeyPatch) -> None:
    node, checked = nodes["{}"], list[str]()
    monkeypatch.setattr(node, "lifecycle", ForwardingLifecycle())
    for served in TABLE:
        monkeypatch.setitem(served.__dict__, "precheck", lambda node, request: checked.append(request))
        if served.api.key in FORWARDED:
            answer = dispatch.answer(node, request_at(node, served))
            assert isinstance(answer, GeneratorType)
            assert list(answer) == ["forwarded"]
    assert checked == []


class ForwardingLifecycle:
    """The lifecycle of a broker that forwards every request."""

    def forward(self, request: Request[Any]) -> Any:
        yield "forwarded"


@pytest.mark.parametrize("name", HANDLERS)
def test_handler_does_not_repeat_its_precheck(name: str) -> None:
    """Dispatch calls `answer` only after the precheck, so the handler must not repeat its
    checks."""
    tree = ast.parse(getsource(HANDLERS[name]))
    others = [
        each
        for each in tree.body
        if not isinstance(each, ast.Assign) and getattr(each, "name", "") not in ("precheck", "admit")
    ]
    called = {
        node.func.id
        for other in others
        for node in ast.walk(other)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert called & {"precheck", "admit", "requires_protocol", "check_group"} == set()
    assert not (hasattr(HANDLERS[name], "precheck") and hasattr(HANDLERS[name], "admit")), (
        "only precheck or admit is called"
    )
