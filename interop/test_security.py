"""What users rely on when they administer credentials, features and, without an authorizer, ACLs.
Two clients run the tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import confluent_kafka.admin
import pytest
from confluent_kafka import KafkaError, KafkaException
from kafka.admin import ACL, ACLOperation, ACLPermissionType, KafkaAdminClient, ResourcePattern, ResourceType
from kafka.errors import SecurityDisabledError

from interop.brokers import Broker
from interop.served import versions
from tests.support.waiting import PATIENCE, eventually

ck: Any = confluent_kafka.admin
SHA_256, SHA_512 = 1, 2


@pytest.fixture
def confluent(broker: Broker) -> Any:
    return ck.AdminClient({"bootstrap.servers": broker.bootstrap})


@contextmanager
def python(broker: Broker) -> Iterator[Any]:
    client = KafkaAdminClient(bootstrap_servers=broker.bootstrap)
    try:
        yield client
    finally:
        client.close()


def scram_credentials(client: Any, user: str) -> dict[int, int]:
    """Mechanisms and iterations of one user; empty for a user that does not exist."""
    by_user = client.describe_user_scram_credentials().result(PATIENCE)
    found = by_user[user].scram_credential_infos if user in by_user else []
    return {int(each.mechanism.value): each.iterations for each in found}


def test_confluent_sets_describes_and_deletes_a_password(confluent: Any, name: str) -> None:
    info = ck.ScramCredentialInfo(ck.ScramMechanism.SCRAM_SHA_512, 8192)
    upsertion = ck.UserScramCredentialUpsertion(name, info, b"secret")
    confluent.alter_user_scram_credentials([upsertion])[name].result(PATIENCE)
    eventually(lambda: scram_credentials(confluent, name), lambda found: found == {SHA_512: 8192})
    deletion = ck.UserScramCredentialDeletion(name, ck.ScramMechanism.SCRAM_SHA_512)
    confluent.alter_user_scram_credentials([deletion])[name].result(PATIENCE)
    eventually(lambda: scram_credentials(confluent, name), lambda found: not found)
    with pytest.raises(KafkaException) as refused:
        confluent.alter_user_scram_credentials([deletion])[name].result(PATIENCE)
    assert refused.value.args[0].code() == KafkaError.RESOURCE_NOT_FOUND


def test_confluent_gets_the_error_that_there_is_no_authorizer(confluent: Any, name: str) -> None:
    pattern = (ck.ResourceType.TOPIC, name, ck.ResourcePatternType.LITERAL)
    entry = ("User:alice", "*", ck.AclOperation.READ, ck.AclPermissionType.ALLOW)
    acl, acl_filter = ck.AclBinding(*pattern, *entry), ck.AclBindingFilter(*pattern, *entry)
    for future in (*confluent.create_acls([acl]).values(), *confluent.delete_acls([acl_filter]).values()):
        with pytest.raises(KafkaException) as refused:
            future.result(PATIENCE)
        assert refused.value.args[0].code() == KafkaError.SECURITY_DISABLED


def test_kafka_python_gets_the_error_that_there_is_no_authorizer(broker: Broker, name: str) -> None:
    acl = ACL("User:alice", "*", ACLOperation.READ, ACLPermissionType.ALLOW, ResourcePattern(ResourceType.TOPIC, name))
    with python(broker) as client:
        failed = client.create_acls([acl])["failed"]
    assert failed == [SecurityDisabledError]


def test_kafka_python_describes_features(broker: Broker) -> None:
    if versions(broker.bootstrap)["ApiVersions"][1] < 4:
        pytest.skip("features with lowest level 0 are in the response from version 4 on")
    with python(broker) as client:
        features = client.describe_features()
    assert "metadata.version" in repr(features)
