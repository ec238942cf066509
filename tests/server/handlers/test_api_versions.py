"""ApiVersions at every version: it advertises what is served (KIP-511, KIP-584, KIP-1242)."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes, registry
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest, ApiVersionsResponse
from kafkadouble.server.apis.served import SERVED, TABLE
from kafkadouble.server.handlers.api_versions import unsupported
from tests.server.harness import Harness, versions


def ask(cluster: Harness, version: int, **fields: Any) -> ApiVersionsResponse:
    given = {} if version < 3 else {"client_software_name": "a-client", "client_software_version": "1.0"}
    response = cluster.submit(ApiVersionsRequest(**given | fields), version)
    assert isinstance(response, ApiVersionsResponse)
    return response


@pytest.mark.parametrize("version", versions("ApiVersions"))
def test_served_apis_are_advertised(version: int) -> None:
    response = ask(Harness(), version)
    assert response.error_code == 0
    ranges = {api.api_key: (api.min_version, api.max_version) for api in response.api_keys}
    assert ranges == {
        key: (served.advertised_from, served.highest) for key, served in SERVED.items() if not served.row.hidden
    }
    assert [api.api_key for api in response.api_keys] == sorted(ranges)


def test_every_line_of_the_table_has_a_handler() -> None:
    for served in TABLE:
        assert callable(served.handler.answer)
        assert callable(served.refuse)
    assert len({served.name for served in TABLE}) == len(TABLE)


def test_only_exceptions_with_a_reason_advertise_what_is_not_served() -> None:
    odd = [served for served in TABLE if served.advertised_from != served.lowest]
    assert [served.name for served in odd] == ["Produce"]
    assert all(served.reason for served in odd)


def test_versions_that_kafka_holds_back_are_hidden() -> None:
    assert registry.api(ApiKeys.INIT_PRODUCER_ID).latest_version_unstable
    assert SERVED[ApiKeys.INIT_PRODUCER_ID].highest == registry.api(ApiKeys.INIT_PRODUCER_ID).versions[1] - 1


SUPPORTED = {
    "metadata.version": (7, 33),
    "kraft.version": (0, 1),
    "eligible.leader.replicas.version": (0, 1),
    "transaction.version": (0, 2),
    "group.version": (0, 1),
    "share.version": (0, 2),
    "streams.version": (0, 1),
}


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (0, {}),
        (2, {}),
        (3, {"metadata.version": (7, 33)}),
        (4, SUPPORTED),
        (5, SUPPORTED),
    ],
)
def test_features_that_are_supported(version: int, expected: dict[str, tuple[int, int]]) -> None:
    response = ask(Harness(), version)
    assert {found.name: (found.min_version, found.max_version) for found in response.supported_features} == expected


@pytest.mark.parametrize("version", [3, 4, 5])
def test_features_that_are_final(version: int) -> None:
    cluster = Harness()
    response = ask(cluster, version)
    levels = {found.name: (found.min_version_level, found.max_version_level) for found in response.finalized_features}
    assert levels == {
        "metadata.version": (33, 33),
        "eligible.leader.replicas.version": (1, 1),
        "transaction.version": (2, 2),
        "group.version": (1, 1),
        "share.version": (2, 2),
        "streams.version": (1, 1),
    }
    assert response.finalized_features_epoch == cluster.node.controller.log.log_end_offset - 1


@pytest.mark.parametrize("name", ["a", "ok-1", "librdkafka", "a.b-c.9", "9"])
def test_api_versions_notes_the_client_software(name: str) -> None:
    cluster = Harness()
    assert ask(cluster, 3, client_software_name=name, client_software_version="1.2").error_code == 0
    assert (cluster.peer.software_name, cluster.peer.software_version) == (name, "1.2")


@pytest.mark.parametrize("field", ["client_software_name", "client_software_version"])
@pytest.mark.parametrize("name", ["", "x y", "-x", "x-", "x.", "a_b", "ü", "a\n"])
@pytest.mark.parametrize("version", [3, 4, 5])
def test_api_versions_refuses_impossible_client_software_names(field: str, name: str, version: int) -> None:
    cluster = Harness()
    response = ask(cluster, version, **{field: name})
    assert (response.error_code, list(response.api_keys)) == (error_codes.INVALID_REQUEST, [])
    assert list(response.finalized_features) == []
    assert cluster.peer.software_name == ""


OWN = "own"

MEANT: list[tuple[str | None, int, int]] = [  # cluster id, node id -> error
    (None, -1, 0),
    (OWN, 1, 0),
    (None, 1, error_codes.INVALID_REQUEST),
    (OWN, -1, error_codes.INVALID_REQUEST),
    ("", -1, error_codes.INVALID_REQUEST),
    ("wrong", -1, error_codes.INVALID_REQUEST),
    ("wrong", 1, error_codes.REBOOTSTRAP_REQUIRED),
    (OWN, 7, error_codes.REBOOTSTRAP_REQUIRED),
    ("wrong", 7, error_codes.REBOOTSTRAP_REQUIRED),
]


@pytest.mark.parametrize(("cluster_id", "node_id", "code"), MEANT)
def test_the_cluster_and_node_that_the_client_means(cluster_id: str | None, node_id: int, code: int) -> None:
    cluster = Harness()
    meant = str(cluster.node.cluster_id) if cluster_id == OWN else cluster_id
    response = ask(cluster, 5, cluster_id=meant, node_id=node_id)
    assert response.error_code == code
    assert bool(response.api_keys) == (code == 0)


def test_the_answer_to_a_version_that_is_not_served() -> None:
    answer = unsupported(SERVED)
    body = answer.encode(0)
    found = ApiVersionsResponse.decode(body, 0)
    assert found.error_code == error_codes.UNSUPPORTED_VERSION
    assert [(api.api_key, api.min_version, api.max_version) for api in found.api_keys] == [(ApiKeys.API_VERSIONS, 0, 5)]
