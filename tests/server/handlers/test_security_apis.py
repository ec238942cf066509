"""Features, quotas, credentials and ACLs over the wire: each decision is in the log, in a snapshot,
and still there after a restart."""

from __future__ import annotations

import re
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.framed import decode_record
from kafkadouble.messages.generated.alter_client_quotas import AlterClientQuotasRequest
from kafkadouble.messages.generated.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from kafkadouble.messages.generated.api_versions import ApiVersionsRequest
from kafkadouble.messages.generated.create_acls import CreateAclsRequest
from kafkadouble.messages.generated.delete_acls import DeleteAclsRequest
from kafkadouble.messages.generated.describe_acls import DescribeAclsRequest
from kafkadouble.messages.generated.describe_client_quotas import DescribeClientQuotasRequest
from kafkadouble.messages.generated.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from kafkadouble.messages.generated.update_features import UpdateFeaturesRequest
from kafkadouble.server.apis.served import CONTROLLER_SERVED, SERVED
from kafkadouble.server.logs.memory import MemoryLogs
from kafkadouble.server.metadata.image import Image
from kafkadouble.server.metadata.image_records import encoded_records_of
from kafkadouble.server.metadata.metadata_log import decode_batches
from kafkadouble.server.metadata.metadata_versions import NAMES
from kafkadouble.server.metadata.replay import MetadataDelta
from kafkadouble.server.requests.answer import DISCONNECT
from tests.server.harness import Harness, versions
from tests.server.metadata.cluster_story import made

STANDARD: dict[str, object] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
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
    given: dict[str, Any] = {
        "resource_type": 2,
        "resource_name": "t",
        "resource_pattern_type": 3,
        "principal": "User:a",
        "host": "*",
        "operation": 3,
        "permission_type": 3,
    }
    creation = CreateAclsRequest.AclCreation(**{**given, **fields})
    return cluster.submit(CreateAclsRequest(creations=[creation]), 3)


def features(cluster: Harness) -> tuple[dict[str, int], int]:
    """The levels and the epoch of the features, as ApiVersions reports them."""
    answer = cluster.submit(ApiVersionsRequest(client_software_name="t", client_software_version="1"), 4)
    return {each.name: each.max_version_level for each in answer.finalized_features}, answer.finalized_features_epoch


def replayed(cluster: Harness) -> Image:
    """The image that results from the log from its first byte, and from a snapshot; both must be
    equal."""
    fold, loaded = MetadataDelta(), MetadataDelta()
    batches = [each for chunk in cluster.node.controller.log.batches(0) for each in decode_batches(chunk)]
    for records, _ in batches:
        for record in records:
            fold.replay(record)
    for value in encoded_records_of(cluster.image):
        loaded.replay(decode_record(value)[0])
    assert loaded.image == fold.image
    return fold.image._replace(end=batches[-1].end)


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


def test_validate_only_changes_no_feature_and_no_quota() -> None:
    cluster = Harness()
    end = cluster.image.end
    assert update(cluster, (ELR, 0, SAFE), (KRAFT, 1, UP), validate_only=True).error_code == 0
    assert not alter_quota(cluster, "u", "producer_byte_rate", 5, validate_only=True).entries[0].error_code
    assert cluster.image.end == end


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


def test_refused_feature_update_writes_no_record() -> None:
    cluster = Harness()
    end, raft = cluster.image.end, cluster.node.quorum.replica.kraft_version
    answer = update(cluster, (KRAFT, 1, UP), (ELR, 0, SAFE), ("no.such", 1, UP))
    assert answer.error_code == error_codes.INVALID_UPDATE_VERSION
    assert answer.error_message.startswith(
        "The update failed for all features since the following feature had an error: "
    )
    assert cluster.image.end == end
    assert cluster.node.quorum.replica.kraft_version == raft


def test_scram_secrets_are_in_no_response_and_no_text() -> None:
    cluster = Harness()
    set_credential(cluster, "u")
    answer = cluster.submit(DescribeUserScramCredentialsRequest(users=None), 0)
    [credential] = cluster.image.scram.values()
    assert not re.search("salt|secret", repr(answer) + repr(credential) + repr(cluster.image.scram))


def anything() -> dict[str, Any]:
    return {
        "resource_type_filter": 1,
        "resource_name_filter": None,
        "pattern_type_filter": 1,
        "principal_filter": None,
        "host_filter": None,
        "operation": 1,
        "permission_type": 1,
    }


@pytest.mark.parametrize("field", ["resource_type_filter", "pattern_type_filter", "operation", "permission_type"])
@pytest.mark.parametrize("settings", [None, STANDARD])
def test_a_filter_that_its_client_does_not_know_ends_the_connection(
    field: str, settings: dict[str, object] | None
) -> None:
    cluster = Harness(settings)
    requested = {**anything(), field: 0}
    assert cluster.submit(DescribeAclsRequest(**requested), 3) is DISCONNECT
    assert cluster.submit(DeleteAclsRequest(filters=[DeleteAclsRequest.DeleteAclsFilter(**requested)]), 3) is DISCONNECT


@pytest.mark.parametrize("field", ["resource_type", "resource_pattern_type", "operation", "permission_type"])
def test_an_acl_that_its_client_does_not_know_ends_the_connection(field: str) -> None:
    assert add_acl(Harness(STANDARD), **{field: 0}) is DISCONNECT


def test_acls_are_described_by_resource() -> None:
    cluster = Harness(STANDARD)
    for principal, name in (("User:b", "t"), ("User:a", "t"), ("User:a", "u")):
        add_acl(cluster, principal=principal, resource_name=name)
    answer = cluster.submit(DescribeAclsRequest(**anything()), 3)
    described = [(each.resource_name, [acl.principal for acl in each.acls]) for each in answer.resources]
    assert described == [("t", ["User:a", "User:b"]), ("u", ["User:a"])]


def everyone() -> list[Any]:
    """One request of each API that decides something."""
    entry = AlterClientQuotasRequest.EntryData(
        entity=[AlterClientQuotasRequest.EntityData(entity_type="user", entity_name="u")], ops=[]
    )
    creation = CreateAclsRequest.AclCreation(
        resource_type=2, resource_name="t", principal="User:a", host="*", operation=3, permission_type=3
    )
    deletion = AlterUserScramCredentialsRequest.ScramCredentialDeletion(name="u", mechanism=1)
    return [
        UpdateFeaturesRequest(),
        AlterClientQuotasRequest(entries=[entry]),
        AlterUserScramCredentialsRequest(deletions=[deletion]),
        CreateAclsRequest(creations=[creation]),
        DeleteAclsRequest(filters=[DeleteAclsRequest.DeleteAclsFilter(**anything())]),
    ]


@pytest.mark.parametrize("requested", everyone(), ids=lambda requested: type(requested).__name__)
def test_a_node_that_does_not_lead_answers_not_controller(requested: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Harness(STANDARD)
    monkeypatch.setattr(cluster.node.controller, "_active", None)
    api = next(served for served in SERVED.values() if isinstance(requested, served.request))
    for at in range(api.lowest, api.highest + 1):
        assert "NOT_CONTROLLER" in errors(cluster.submit(requested, at))


def errors(answer: Any) -> set[str]:
    from kafkadouble.server.tracing.history import errors_in

    return set(errors_in(answer))


@pytest.mark.parametrize(
    "requested",
    [
        DescribeClientQuotasRequest(),
        DescribeUserScramCredentialsRequest(users=[DescribeUserScramCredentialsRequest.UserName(name="u")]),
        DescribeAclsRequest(**anything()),
        *everyone(),
    ],
    ids=lambda requested: type(requested).__name__,
)
def test_error_response_of_each_security_api_can_be_written(requested: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Harness(STANDARD)
    api = next(served for served in SERVED.values() if isinstance(requested, served.request))

    def broken(*_: Any) -> Any:
        raise ValueError

    monkeypatch.setattr(api.handler, "answer", broken)
    for at in range(api.lowest, api.highest + 1):
        assert "UNKNOWN_SERVER_ERROR" in errors(cluster.submit(requested, at))


def test_controllers_serve_the_security_apis_of_their_listener() -> None:
    ours = [
        ApiKeys.DESCRIBE_ACLS,
        ApiKeys.CREATE_ACLS,
        ApiKeys.DELETE_ACLS,
        ApiKeys.CREATE_DELEGATION_TOKEN,
        ApiKeys.RENEW_DELEGATION_TOKEN,
        ApiKeys.EXPIRE_DELEGATION_TOKEN,
        ApiKeys.DESCRIBE_DELEGATION_TOKEN,
        ApiKeys.DESCRIBE_CLIENT_QUOTAS,
        ApiKeys.ALTER_CLIENT_QUOTAS,
        ApiKeys.DESCRIBE_USER_SCRAM_CREDENTIALS,
        ApiKeys.ALTER_USER_SCRAM_CREDENTIALS,
        ApiKeys.UPDATE_FEATURES,
    ]
    assert [key for key in ours if key in SERVED] == ours
    assert [key for key in ours if key in CONTROLLER_SERVED] == [
        key for key in ours if key != ApiKeys.DESCRIBE_CLIENT_QUOTAS
    ]


def test_a_node_registers_its_new_fields_when_the_level_is_raised() -> None:
    cluster = at_level(14)
    assert not cluster.image.controllers
    assert not cluster.image.brokers[1].log_dirs
    assert update(cluster, (MV, 15, UP)).error_code == 0
    assert [each.id for each in cluster.image.controllers.values()] == [1]
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
