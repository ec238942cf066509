"""What a controller allows a client to do: the cluster as a whole, or some of the requested
parts."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.access_control_entry_record import AccessControlEntryRecord
from kafkadouble.messages.generated.create_partitions import CreatePartitionsRequest
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.update_features import UpdateFeaturesRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.apis.row import NONE
from kafkadouble.server.apis.served import CONTROLLER_TABLE
from kafkadouble.server.security.acls import CLUSTER, CLUSTER_NAME
from kafkadouble.server.security.authorizer import ALTER, ALTER_CONFIGS, CLUSTER_ACTION, CREATE, DELETE, STANDARD
from tests.server import forwarded
from tests.server.config_requests import incremental
from tests.server.controllers import Controllers
from tests.server.topic_requests import creating

TOPIC, LITERAL, ALLOW = 2, 3, 3
DENIED = error_codes.TOPIC_AUTHORIZATION_FAILED
ANN = "User:ann"


@pytest.fixture
def cluster() -> Controllers:
    """Nodes are super users; ann has rights to the topic `mine`."""
    controllers = Controllers(1, {"authorizer.class.name": STANDARD, "super.users": "User:ANONYMOUS"})
    controllers.elect()
    controllers.leader.controller.commit(
        [
            AccessControlEntryRecord(
                id=Uuid(bytes([operation]) * 16),
                resource_type=TOPIC,
                resource_name="mine",
                pattern_type=LITERAL,
                principal=ANN,
                host="*",
                operation=operation,
                permission_type=ALLOW,
            )
            for operation in (CREATE, ALTER, DELETE, ALTER_CONFIGS)
        ]
    )
    return controllers


def ask_as(cluster: Controllers, body: Message, version: int, user: str = ANN) -> Any:
    return forwarded.ask_as(cluster, body, version, user)


def codes(results: Any) -> dict[str, int]:
    return {getattr(result, "name", None) or result.resource_name: result.error_code for result in results}


def test_topics_without_a_right_are_refused_and_others_processed(cluster: Controllers) -> None:
    made = codes(ask_as(cluster, creating("mine", "yours", brokers=[1]), 7).topics)
    assert made["yours"] == DENIED
    assert made["mine"] == error_codes.INVALID_REPLICA_ASSIGNMENT, "it was looked at: there is no broker 1"
    grown = CreatePartitionsRequest.CreatePartitionsTopic
    answer = ask_as(
        cluster,
        CreatePartitionsRequest(topics=[grown(name="mine", count=2), grown(name="yours", count=2)], timeout_ms=1000),
        3,
    )
    assert codes(answer.results) == {"mine": error_codes.UNKNOWN_TOPIC_OR_PARTITION, "yours": DENIED}
    answer = ask_as(cluster, DeleteTopicsRequest(topic_names=["mine", "yours"], timeout_ms=1000), 5)
    assert codes(answer.responses) == {"mine": error_codes.UNKNOWN_TOPIC_OR_PARTITION, "yours": DENIED}


def test_configurations_go_by_what_they_are_of(cluster: Controllers) -> None:
    named = ((2, "mine"), (2, "yours"), (4, ""), (32, "a-group"))
    body = incremental(*((kind, name, {"retention.ms": "1"}) for kind, name in named))
    assert [response.error_code for response in ask_as(cluster, body, 1).responses] == [
        error_codes.UNKNOWN_TOPIC_OR_PARTITION,
        DENIED,
        error_codes.CLUSTER_AUTHORIZATION_FAILED,
        error_codes.GROUP_AUTHORIZATION_FAILED,
    ]


@pytest.mark.parametrize(("operation", "allowed"), [(CLUSTER_ACTION, True), (ALTER_CONFIGS, False)])
def test_loggers_of_a_controller_need_cluster_action(cluster: Controllers, operation: int, allowed: bool) -> None:
    cluster.leader.controller.commit(
        [
            AccessControlEntryRecord(
                id=Uuid(b"l" * 16),
                resource_type=CLUSTER,
                resource_name=CLUSTER_NAME,
                pattern_type=LITERAL,
                principal="User:bob",
                host="*",
                operation=operation,
                permission_type=ALLOW,
            )
        ]
    )
    loggers = (8, str(cluster.leader.id), {"kafkadouble.server.raft": "INFO"})
    answer = ask_as(cluster, incremental(loggers, validate_only=True), 1, user="User:bob")
    assert (answer.responses[0].error_code != error_codes.CLUSTER_AUTHORIZATION_FAILED) is allowed


def test_cluster_request_needs_a_cluster_right(cluster: Controllers) -> None:
    body = UpdateFeaturesRequest(timeout_ms=1000)
    assert ask_as(cluster, body, 2).error_code == error_codes.CLUSTER_AUTHORIZATION_FAILED
    assert ask_as(cluster, body, 2, user="User:ANONYMOUS").error_code == 0


def checked() -> set[str]:
    """The APIs that require a right on the cluster or on each part."""
    return {
        served.name
        for served in CONTROLLER_TABLE
        if served.row.controller_right != NONE or served.row.controller_part_right.endswith((" topic", " resource"))
    }


def test_every_api_of_a_controller_asks_for_something() -> None:
    free = {served.name for served in CONTROLLER_TABLE} - checked()
    tokens = {"CreateDelegationToken", "RenewDelegationToken", "ExpireDelegationToken"}
    unknown = {"DescribeDelegationToken"}
    assert free == {"ApiVersions", "SaslHandshake", "SaslAuthenticate"} | tokens | unknown, "tokens have owners"


def test_without_an_authorizer_every_request_is_allowed() -> None:
    controllers = Controllers(1)
    controllers.elect()
    assert codes(ask_as(controllers, creating("yours", brokers=[1]), 7).topics) == {
        "yours": error_codes.INVALID_REPLICA_ASSIGNMENT
    }
