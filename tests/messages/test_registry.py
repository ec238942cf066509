"""The index: every key, retired and unstable ones, header versions."""

from __future__ import annotations

import json

import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.wire.errors import UnknownMessage

RETIRED = {
    ApiKeys.LEADER_AND_ISR: "LeaderAndIsr",
    ApiKeys.STOP_REPLICA: "StopReplica",
    ApiKeys.UPDATE_METADATA: "UpdateMetadata",
    ApiKeys.CONTROLLED_SHUTDOWN: "ControlledShutdown",
}


def test_an_api_by_key_and_by_name() -> None:
    fetch = registry.api(ApiKeys.FETCH)
    assert fetch is registry.api_named("Fetch")
    assert (fetch.key, fetch.name, fetch.versions, fetch.listeners) == (1, "Fetch", (4, 18), ("broker", "controller"))
    assert fetch.request.__name__ == "FetchRequest"
    assert fetch.response.__name__ == "FetchResponse"
    assert registry.message("FetchRequest") is fetch.request
    assert repr(fetch) == "Api(1 Fetch, versions 4-18)"


def test_all_apis_rise_by_key() -> None:
    keys = [api.key for api in registry.apis()]
    assert keys == sorted(set(keys))
    assert len(keys) == 95
    assert keys[:4] == [0, 1, 2, 3]


def test_unknown_api_is_refused() -> None:
    for ask in (
        lambda: registry.api(4242),
        lambda: registry.api(-1),
        lambda: registry.api_named("fetch"),
        lambda: registry.message("Fetch"),
    ):
        with pytest.raises(UnknownMessage):
            ask()
    with pytest.raises(UnknownMessage):
        registry.entry("")


@pytest.mark.parametrize(("key", "name"), RETIRED.items())
def test_retired_apis_keep_their_key(key: int, name: str) -> None:
    api = registry.api(key)
    assert (api.name, api.versions, api.stable_versions, api.retired) == (name, (0, -1), (0, -1), True)
    assert not api.has_version(0)
    assert repr(api) == f"Api({key} {name}, retired)"
    with pytest.raises(UnknownMessage, match="is retired"):
        _ = api.request
    with pytest.raises(UnknownMessage, match="is retired"):
        registry.message(name + "Response")


def test_stable_versions_leave_out_one_that_is_worked_on() -> None:
    unstable = [api for api in registry.apis() if api.latest_version_unstable]
    assert unstable
    for api in unstable:
        low, high = api.versions
        assert api.stable_versions == ((low, high - 1) if low < high else (0, -1))
    assert registry.api(ApiKeys.FETCH).stable_versions == registry.api(ApiKeys.FETCH).versions


def test_header_versions() -> None:
    fetch, versions, shutdown = (
        registry.api(key) for key in (ApiKeys.FETCH, ApiKeys.API_VERSIONS, ApiKeys.SASL_HANDSHAKE)
    )
    assert [fetch.request_header_version(version) for version in (4, 11, 12, 18)] == [1, 1, 2, 2]
    assert [fetch.response_header_version(version) for version in (4, 11, 12, 18)] == [0, 0, 1, 1]
    assert [versions.request_header_version(version) for version in (0, 2, 3, 99)] == [1, 1, 2, 2]
    assert [versions.response_header_version(version) for version in (0, 2, 3, 99)] == [0, 0, 0, 0]
    assert (shutdown.name, shutdown.request_header_version(1), shutdown.response_header_version(1)) == (
        "SaslHandshake",
        1,
        0,
    )


def test_request_and_response_have_the_same_versions() -> None:
    for api in registry.apis():
        assert api.request_entry.versions == api.response_entry.versions


def test_description_of_all_messages_is_json() -> None:
    described = registry.describe()
    assert len(described) == 286
    assert json.loads(json.dumps(described)) == described
    by_name = {item["name"]: item for item in described}
    assert by_name["FetchRequest"] == {
        "name": "FetchRequest",
        "kind": "request",
        "apiKey": 1,
        "validVersions": "4-18",
        "flexibleVersions": "12+",
        "latestVersionUnstable": False,
        "listeners": ["broker", "controller"],
    }
    assert by_name["StopReplicaRequest"]["validVersions"] == "none"
    assert by_name["TopicRecord"]["apiKey"] == 2
    assert by_name["RequestHeader"]["apiKey"] is None


def test_entries_by_kind_and_family() -> None:
    assert {entry.kind for entry in registry.entries("metadata")} == {"metadata"}
    assert {entry.family for entry in registry.entries("metadata")} == {"metadata", "storage"}
    assert [entry.name for entry in registry.entries("coordinator-key", "transaction_coordinator")] == [
        "TransactionLogKey"
    ]
    assert len(registry.entries()) == 286
