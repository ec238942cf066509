"""Features, quotas, credentials and ACLs over the wire: each decision is in the log, in a snapshot,
and still there after a restart."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_client_quotas import AlterClientQuotasRequest
from kafkadouble.messages.generated.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.create_acls import CreateAclsRequest
from kafkadouble.messages.generated.create_delegation_token import CreateDelegationTokenRequest
from kafkadouble.messages.generated.delete_acls import DeleteAclsRequest
from kafkadouble.messages.generated.describe_acls import DescribeAclsRequest
from kafkadouble.messages.generated.describe_client_quotas import DescribeClientQuotasRequest
from kafkadouble.messages.generated.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from kafkadouble.messages.generated.expire_delegation_token import ExpireDelegationTokenRequest
from kafkadouble.messages.generated.renew_delegation_token import RenewDelegationTokenRequest
from kafkadouble.messages.generated.update_features import UpdateFeaturesRequest
from kafkadouble.server.apis.served import SERVED
from kafkadouble.server.logs.memory import MemoryLogs
from kafkadouble.server.metadata.image import Image
from kafkadouble.server.metadata.metadata_versions import NAMES
from kafkadouble.server.tracing.history import errors_in
from tests.server.harness import Harness, versions
from tests.server.images import image_of_log, image_of_snapshot
from tests.server.metadata.cluster_story import made
from tests.server.security.acl_requests import ANYTHING, STANDARD, acl_filter, creation

MV, ELR, KRAFT = "metadata.version", "eligible.leader.replicas.version", "kraft.version"
UP, SAFE = 1, 2


def at_level(level: int, settings: dict[str, object] | None = None) -> Harness:
    """A cluster that was formatted for an older release."""
    logs = MemoryLogs()
    logs.bootstrap = [made("FeatureLevelRecord", name=MV, feature_level=level)]
    return Harness(settings, logs=logs)


def update(cluster: Harness, *requested: tuple[str, int, int], version: int = 2, validate_only: bool = False) -> Any:
    updates = [
        UpdateFeaturesRequest.FeatureUpdateKey(feature=name, max_version_level=level, upgrade_type=kind)
        for name, level, kind in requested
    ]
    return cluster.submit(UpdateFeaturesRequest(feature_updates=updates, validate_only=validate_only), version)


def alter_quota(cluster: Harness, user: str | None, key: str, value: float, *, validate_only: bool = False) -> Any:
    of = AlterClientQuotasRequest
    entity = [of.EntityData(entity_type="user", entity_name=user)]
    entry = of.EntryData(entity=entity, ops=[of.OpData(key=key, value=value, remove=False)])
    return cluster.submit(of(entries=[entry], validate_only=validate_only), 1)


def set_credential(cluster: Harness, user: str) -> Any:
    of = AlterUserScramCredentialsRequest
    one = of.ScramCredentialUpsertion(name=user, mechanism=1, iterations=4096, salt=b"salty", salted_password=b"secret")
    return cluster.submit(of(upsertions=[one]), 0)


def add_acl(cluster: Harness, **fields: Any) -> Any:
    return cluster.submit(CreateAclsRequest(creations=[creation(**fields)]), 3)


def features(cluster: Harness) -> tuple[dict[str, int], int]:
    """The levels and the epoch of the features, as ApiVersions reports them."""
    answer = cluster.submit(ApiVersionsRequest(client_software_name="t", client_software_version="1"), 4)
    return {each.name: each.max_version_level for each in answer.finalized_features}, answer.finalized_features_epoch


def replayed(cluster: Harness) -> Image:
    """The image that results from the log from its first byte, and from a snapshot; both must be
    equal."""
    image = image_of_log(cluster.node.controller.log.batches(0))
    assert image_of_snapshot(cluster.image) == image
    return image


def test_security_metadata_survives_replay_snapshot_and_restart() -> None:
    logs = MemoryLogs()
    cluster = Harness(STANDARD, logs=logs)
    alter_quota(cluster, "u", "producer_byte_rate", 5)
    alter_quota(cluster, None, "request_percentage", 0.5)
    set_credential(cluster, "u")
    add_acl(cluster)
    update(cluster, (ELR, 0, SAFE))
    image = cluster.image
    assert replayed(cluster) == image
    assert (len(image.quotas), len(image.scram), len(image.acls), ELR in image.features) == (2, 1, 1, False)
    again = Harness(STANDARD, logs=logs)
    for field in ("quotas", "scram", "acls", "features"):
        assert getattr(again.image, field) == getattr(image, field)


@pytest.mark.parametrize("level", sorted(NAMES))
def test_image_equals_replayed_log_at_every_metadata_version(level: int) -> None:
    cluster = at_level(level, STANDARD)
    cluster.create("t", partitions=2)
    alter_quota(cluster, "u", "producer_byte_rate", 5)
    [credential] = set_credential(cluster, "u").results
    assert credential.error_code == (error_codes.NONE if level >= 11 else error_codes.UNSUPPORTED_VERSION)
    [narrow] = add_acl(cluster, host="10.0.0.0/8").results
    assert narrow.error_code == (error_codes.NONE if level >= 32 else error_codes.UNSUPPORTED_VERSION)
    assert replayed(cluster) == cluster.image
    assert features(cluster)[0][MV] == level
    assert update(cluster, (MV, 33, UP)).error_code == 0
    assert features(cluster)[0][MV] == 33
    cluster.create("later", partitions=2)
    assert replayed(cluster) == cluster.image
    assert not any(set_credential(cluster, "u").results[0].error_code for _ in range(2))


@pytest.mark.parametrize("version", versions("UpdateFeatures"))
def test_the_epoch_of_features_goes_with_the_log(version: int) -> None:
    cluster = Harness()
    before, epoch = features(cluster)
    answer = update(cluster, (ELR, 1, UP), version=version)
    assert (answer.error_code, answer.error_message) == (0, None)
    assert [(each.feature, each.error_message) for each in answer.results] == ([(ELR, "NONE")] if version < 2 else [])
    after, later = features(cluster)
    assert after == before
    assert later > epoch
    assert later == cluster.image.end.offset - 1


def test_kraft_version_is_raised_in_the_quorums_own_records() -> None:
    cluster = Harness()
    raft = cluster.node.quorum.replica
    if raft.kraft_version == 0:
        assert KRAFT not in features(cluster)[0]
        assert update(cluster, (KRAFT, 1, UP)).error_code == 0
    assert raft.kraft_version == 1
    assert features(cluster)[0][KRAFT] == 1
    assert KRAFT not in cluster.image.features
    assert update(cluster, (KRAFT, 1, UP)).error_code == 0
    refused = update(cluster, (KRAFT, 0, SAFE))
    assert refused.error_code == error_codes.INVALID_UPDATE_VERSION
    assert refused.error_message.endswith(" feature kraft.version. Can't downgrade the version of this feature.")
    assert replayed(cluster) == cluster.image


def test_scram_secrets_are_in_no_response_and_no_text() -> None:
    cluster = Harness()
    set_credential(cluster, "u")
    answer = cluster.submit(DescribeUserScramCredentialsRequest(users=None), 0)
    [credential] = cluster.image.scram.values()
    assert not re.search("salt|secret", repr(answer) + repr(credential) + repr(cluster.image.scram))


def everyone() -> list[Any]:
    """One request of each API that decides something."""
    entry = AlterClientQuotasRequest.EntryData(
        entity=[AlterClientQuotasRequest.EntityData(entity_type="user", entity_name="u")], ops=[]
    )
    deletion = AlterUserScramCredentialsRequest.ScramCredentialDeletion(name="u", mechanism=1)
    return [
        UpdateFeaturesRequest(),
        AlterClientQuotasRequest(entries=[entry]),
        AlterUserScramCredentialsRequest(deletions=[deletion]),
        CreateAclsRequest(creations=[creation()]),
        DeleteAclsRequest(filters=[acl_filter()]),
        CreateDelegationTokenRequest(),
        RenewDelegationTokenRequest(),
        ExpireDelegationTokenRequest(),
    ]


@pytest.mark.parametrize("requested", everyone(), ids=lambda requested: type(requested).__name__)
def test_a_node_that_does_not_lead_answers_not_controller(requested: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Harness(STANDARD)
    cluster.peer.may_ask_for_tokens = True
    monkeypatch.setattr(cluster.node.controller, "_active", None)
    api = next(served for served in SERVED.values() if isinstance(requested, served.request))
    for at in range(api.lowest, api.highest + 1):
        assert "NOT_CONTROLLER" in errors_in(cluster.submit(requested, at))


@pytest.mark.parametrize(
    "requested",
    [
        DescribeClientQuotasRequest(),
        DescribeUserScramCredentialsRequest(users=[DescribeUserScramCredentialsRequest.UserName(name="u")]),
        DescribeAclsRequest(**ANYTHING),
        *everyone(),
    ],
    ids=lambda requested: type(requested).__name__,
)
def test_broken_handler_of_a_security_api_answers_unknown_server_error(
    requested: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As in Kafka, with the traceback in the log."""
    cluster = Harness(STANDARD)
    cluster.peer.may_ask_for_tokens = True
    api = next(served for served in SERVED.values() if isinstance(requested, served.request))

    def broken(*_: Any) -> Any:
        raise ValueError("on purpose")

    monkeypatch.setattr(api.handler, "answer", broken)
    for at in range(api.lowest, api.highest + 1):
        assert "UNKNOWN_SERVER_ERROR" in errors_in(cluster.submit(requested, at))
    assert "on purpose" in caplog.text


def test_a_node_registers_its_new_fields_when_the_level_is_raised() -> None:
    cluster = at_level(14)
    assert not cluster.image.controllers
    assert not cluster.image.brokers[1].log_dirs
    assert update(cluster, (MV, 15, UP)).error_code == 0
    assert [controller.id for controller in cluster.image.controllers.values()] == [1]
    assert not cluster.image.brokers[1].log_dirs
    end = cluster.image.end.offset
    assert update(cluster, (MV, 16, UP)).error_code == 0
    assert cluster.image.end.offset == end + 1
    assert update(cluster, (MV, 17, UP)).error_code == 0
    assert len(cluster.image.brokers[1].log_dirs) == 1
    assert update(cluster, (MV, 33, UP)).error_code == 0
    assert replayed(cluster) == cluster.image


@pytest.mark.parametrize("level", [7, 22, 25, 33])
def test_a_cluster_is_born_with_a_min_insync_replicas_if_it_has_eligible_leader_replicas(level: int) -> None:
    born = at_level(level).image
    assert dict(born.config_overrides(4, "")) == {}
    assert dict(Harness().image.config_overrides(4, "")) == {"min.insync.replicas": "1"}
    cluster = at_level(level)
    assert update(cluster, (MV, 33, UP), (ELR, 1, UP)).error_code == 0
    assert dict(cluster.image.config_overrides(4, "")) == {"min.insync.replicas": "1"}
