"""Requests that a client sends directly to a controller, and that it answers differently from a
broker (KIP-919)."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.delete_topics import DeleteTopicsRequest
from kafkadouble.messages.generated.describe_cluster import DescribeClusterRequest
from kafkadouble.messages.generated.describe_configs import DescribeConfigsRequest
from kafkadouble.messages.generated.describe_delegation_token import DescribeDelegationTokenRequest
from kafkadouble.messages.generated.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.incremental_alter_configs import IncrementalAlterConfigsRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.apis.served import CONTROLLER_SERVED, CONTROLLER_TABLE
from kafkadouble.server.security.authorizer import STANDARD
from tests.server.config_requests import APPEND, SET, RequestedResource, incremental, whole
from tests.server.harness import Harness
from tests.server.topic_requests import creating

from .controller_listener import Controllers, versions

TOPIC, BROKER, BROKER_LOGGER = 2, 4, 8


@pytest.fixture
def cluster() -> Controllers:
    return Controllers()


# ApiVersions


@pytest.mark.parametrize("version", versions("ApiVersions"))
def test_apis_of_the_controller_listener_are_advertised(cluster: Controllers, version: int) -> None:
    software: dict[str, Any] = {} if version < 3 else {"client_software_name": "a", "client_software_version": "1"}
    response = cluster.submit(ApiVersionsRequest(**software), version)
    assert response.error_code == 0
    found = {api.api_key: (api.min_version, api.max_version) for api in response.api_keys}
    assert found == {key: (served.lowest, served.highest) for key, served in CONTROLLER_SERVED.items()}
    assert list(found) == sorted(found)


def test_controller_table_has_only_apis_of_the_controller_listener() -> None:
    assert {served.name for served in CONTROLLER_TABLE if "controller" not in served.api.listeners} == set()
    assert len({served.name for served in CONTROLLER_TABLE}) == len(CONTROLLER_TABLE)
    for served in CONTROLLER_TABLE:
        assert callable(served.handler.answer)
        assert callable(served.refuse)


@pytest.mark.parametrize(
    ("cluster_id", "node_id", "code"),
    [("wrong", 7, 0), (None, 7, error_codes.INVALID_REQUEST), ("wrong", -1, error_codes.INVALID_REQUEST)],
)
def test_the_cluster_and_node_that_a_client_means_are_not_checked(
    cluster: Controllers, cluster_id: str | None, node_id: int, code: int
) -> None:
    requested = ApiVersionsRequest(
        client_software_name="a", client_software_version="1", cluster_id=cluster_id, node_id=node_id
    )
    assert cluster.submit(requested, 5).error_code == code


# DescribeCluster


@pytest.mark.parametrize("version", [1, 2])
def test_describe_cluster_returns_the_controllers(version: int) -> None:
    cluster = Controllers({"node.id": 5, "controller.listener.names": "ctrl"}, advertised=("example.org", 1234))
    response = cluster.submit(
        DescribeClusterRequest(endpoint_type=2, include_cluster_authorized_operations=True), version
    )
    assert (response.error_code, response.error_message, response.endpoint_type) == (0, None, 2)
    assert (response.cluster_id, response.controller_id) == (str(cluster.node.cluster_id), 5)
    assert [(broker.broker_id, broker.host, broker.port, broker.rack) for broker in response.brokers] == [
        (5, "example.org", 1234, None)
    ]
    assert response.cluster_authorized_operations == 8096


@pytest.mark.parametrize(
    ("version", "endpoint_type", "code", "message"),
    [
        (0, 1, "INVALID_REQUEST", "The request was sent to an endpoint of type CONTROLLER, but we wanted an endpoint of type BROKER"),
        (1, 1, "MISMATCHED_ENDPOINT_TYPE", "The request was sent to an endpoint of type CONTROLLER, but we wanted an endpoint of type BROKER"),
        (2, 1, "MISMATCHED_ENDPOINT_TYPE", "The request was sent to an endpoint of type CONTROLLER, but we wanted an endpoint of type BROKER"),
        (2, 3, "UNSUPPORTED_ENDPOINT_TYPE", "Unsupported endpoint type 3"),
    ],
)  # fmt: skip
def test_describe_cluster_of_other_endpoint_type_is_refused(
    cluster: Controllers, version: int, endpoint_type: int, code: str, message: str
) -> None:
    response = cluster.submit(DescribeClusterRequest(endpoint_type=endpoint_type), version)
    assert (error_codes.name(response.error_code), response.error_message) == (code, message)
    assert list(response.brokers) == []


# Delegation tokens


@pytest.mark.parametrize("version", versions("DescribeDelegationToken"))
def test_delegation_tokens_are_not_described_by_the_controller(version: int) -> None:
    cluster = Controllers({"delegation.token.secret.key": "key"})
    response = cluster.submit(DescribeDelegationTokenRequest(owners=None), version)
    assert (error_codes.name(response.error_code), list(response.tokens)) == ("UNKNOWN_SERVER_ERROR", [])


# Configurations


def alter(cluster: Harness, *requested: RequestedResource, **fields: Any) -> list[tuple[str, str | None]]:
    return errors_in(cluster.submit(incremental(*requested, **fields), 1))


def replace(cluster: Harness, *requested: RequestedResource) -> list[tuple[str, str | None]]:
    return errors_in(cluster.submit(whole(*requested), 2))


def errors_in(response: Any) -> list[tuple[str, str | None]]:
    return [(error_codes.name(each.error_code), each.error_message) for each in response.responses]


REFUSED: list[tuple[int, str, tuple[str, str]]] = [
    (0, "x", ("UNSUPPORTED_VERSION", "Unknown resource type 0.")),
    (64, "", ("UNSUPPORTED_VERSION", "Unknown resource type 64.")),
    (BROKER, "x", ("INVALID_REQUEST", "Unable to parse broker name as a base 10 number.")),
    (BROKER, "-1", ("INVALID_REQUEST", "Invalid negative broker ID.")),
    (BROKER, "9", ("BROKER_ID_NOT_REGISTERED", "No node with id 9 found.")),
    (TOPIC, "nope", ("UNKNOWN_TOPIC_OR_PARTITION", "The topic 'nope' does not exist.")),
    (TOPIC, "", ("INVALID_REQUEST", "Default topic resources are not allowed.")),
]


@pytest.mark.parametrize(("kind", "name", "expected"), REFUSED)
def test_resources_that_a_controller_refuses(
    cluster: Controllers, kind: int, name: str, expected: tuple[str, str]
) -> None:
    assert alter(cluster, (kind, name, {"retention.ms": "5"})) == [expected]
    assert replace(cluster, (kind, name, {"retention.ms": "5"})) == [expected]


def test_the_configurations_of_a_broker_are_its_own_business(cluster: Controllers) -> None:
    """A controller cannot judge everything that a broker would refuse: such a request was checked
    by the broker before, or is not checked."""
    cluster.register(7)
    assert alter(cluster, (BROKER, "7", {"node.id": "8", "nope": "x", "num.io.threads": "many"})) == [("NONE", None)]
    assert cluster.image.config_overrides(BROKER, "7")["num.io.threads"] == "many"
    assert alter(cluster, (BROKER, "7", {"node.id": (APPEND, "8")})) == [
        ("INVALID_CONFIG", "Can't APPEND to key node.id because its type is not LIST.")
    ]


def test_config_null_deletes_and_the_last_of_two_counts(cluster: Controllers) -> None:
    cluster.create("t", configs={"retention.ms": "5", "segment.ms": "7"})
    of = IncrementalAlterConfigsRequest
    configs = [of.AlterableConfig(name="retention.ms", config_operation=SET, value=value) for value in ("6", None)]
    resource = of.AlterConfigsResource(resource_type=TOPIC, resource_name="t", configs=configs)
    assert errors_in(cluster.submit(of(resources=[resource]), 1)) == [("NONE", None)]
    assert dict(cluster.image.config_overrides(TOPIC, "t")) == {"segment.ms": "7"}
    assert replace(cluster, (TOPIC, "t", {"segment.ms": None, "retention.ms": "9"})) == [("NONE", None)]
    assert dict(cluster.image.config_overrides(TOPIC, "t")) == {"retention.ms": "9"}


@pytest.mark.parametrize("operation", [APPEND, 3, 4, -1])
def test_list_operation_with_null_is_refused_by_the_controller(cluster: Controllers, operation: int) -> None:
    cluster.create("t")
    [(code, _)] = alter(cluster, (TOPIC, "t", {"cleanup.policy": (operation, None)}))
    assert code == "INVALID_REQUEST"
    assert cluster.node.controller.leads


def test_a_duplicate_resource_is_answered_once(cluster: Controllers) -> None:
    cluster.create("t")
    twice = (TOPIC, "t", {"retention.ms": "5"})
    assert alter(cluster, twice, twice, twice) == [("INVALID_REQUEST", "Duplicate resource.")]
    assert replace(cluster, twice, twice) == [("INVALID_REQUEST", "Duplicate resource.")]


def test_loggers_are_refused_by_the_controller(cluster: Controllers) -> None:
    own = (BROKER_LOGGER, str(cluster.node.id), {"kafkadouble.nothing": "INFO"})
    assert alter(cluster, own) == [("INVALID_CONFIG", "Logger kafkadouble.nothing does not exist!")]
    assert replace(cluster, own) == [("INVALID_REQUEST", "Unexpected resource type BROKER_LOGGER.")]


def test_validate_only_at_the_controller_changes_no_config(cluster: Controllers) -> None:
    cluster.create("t")
    before = cluster.image
    assert alter(cluster, (TOPIC, "t", {"retention.ms": "5"}), validate_only=True) == [("NONE", None)]
    assert cluster.image is before


def test_a_controller_describes_configurations(cluster: Controllers) -> None:
    cluster.create("t", configs={"retention.ms": "5"})
    resources = [
        DescribeConfigsRequest.DescribeConfigsResource(
            resource_type=kind, resource_name=name, configuration_keys=["retention.ms", "node.id"]
        )
        for kind, name in ((TOPIC, "t"), (BROKER, str(cluster.node.id)))
    ]
    response = cluster.submit(DescribeConfigsRequest(resources=resources), 4)
    assert [[(config.name, config.value) for config in result.configs] for result in response.results] == [
        [("retention.ms", "5")],
        [("node.id", "1")],
    ]


# Rights


@pytest.fixture
def guarded() -> Controllers:
    """Its clients have no right."""
    return Controllers({"authorizer.class.name": STANDARD, "super.users": "User:owner"})


def test_scram_credentials_are_not_described_whatever_the_rights(cluster: Controllers, guarded: Controllers) -> None:
    of = DescribeUserScramCredentialsRequest
    for each in (cluster, guarded):
        answer = each.submit(of(users=[of.UserName(name="bob")]), 0)
        assert (answer.error_code, answer.error_message) == (error_codes.UNKNOWN_SERVER_ERROR, None)
        assert [(found.user, found.error_code) for found in answer.results] == [("", error_codes.UNKNOWN_SERVER_ERROR)]


@pytest.mark.parametrize("version", versions("Fetch"))
def test_a_refused_fetch_has_the_error_of_each_partition_before_topic_ids(guarded: Controllers, version: int) -> None:
    of = FetchRequest
    topic = of.FetchTopic(topic="any", topic_id=Uuid.METADATA_TOPIC_ID, partitions=[of.FetchPartition(partition=3)])
    answer = guarded.submit(of(session_id=7, session_epoch=1, topics=[topic]), version)
    denied = error_codes.CLUSTER_AUTHORIZATION_FAILED
    assert answer.error_code == (denied if version >= 7 else 0)
    assert answer.session_id == (7 if version >= 7 else 0)
    found = [(part.partition_index, part.error_code) for response in answer.responses for part in response.partitions]
    assert found == ([(3, denied)] if version < 13 else [])


def test_invalid_topics_are_found_before_rights(guarded: Controllers) -> None:
    answer = guarded.submit(creating("twice", "twice", "__cluster_metadata", "once"), 7)
    assert sorted((topic.name, topic.error_code) for topic in answer.topics) == [
        ("__cluster_metadata", error_codes.INVALID_REQUEST),
        ("once", error_codes.TOPIC_AUTHORIZATION_FAILED),
        ("twice", error_codes.INVALID_REQUEST),
    ]
    deleted = guarded.submit(DeleteTopicsRequest(topic_names=["twice", "twice", "once"], timeout_ms=1000), 5)
    assert sorted((response.name, response.error_code) for response in deleted.responses) == [
        ("once", error_codes.TOPIC_AUTHORIZATION_FAILED),
        ("twice", error_codes.INVALID_REQUEST),
    ]


def test_loggers_are_refused_by_alter_configs_before_rights(guarded: Controllers) -> None:
    responses = guarded.submit(whole((BROKER_LOGGER, "1", {}), (BROKER, "1", {})), 2).responses
    assert sorted((response.resource_type, response.error_code) for response in responses) == [
        (BROKER, error_codes.CLUSTER_AUTHORIZATION_FAILED),
        (BROKER_LOGGER, error_codes.INVALID_REQUEST),
    ]
    assert all(response.error_message for response in responses)
