"""Authentication and authorization that our controller stores and a real broker enforces: passwords
(SCRAM) and access control lists.

    pytest interop/controllers/test_security.py --broker local

With `--controllers local` the tests run on Apache Kafka's controller, which must pass too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import confluent_kafka
import confluent_kafka.admin
import pytest

from interop.clients.confluent import translated_errors
from interop.clients.shape import PATIENCE, Refused
from interop.support import refused, unique
from kafkadouble.messages import error_codes
from tests.support.waiting import eventually

from . import admin
from .deeds import Ledger
from .guarded import (
    AUTHENTICATION,
    MECHANISMS,
    Guarded,
    came,
    client_settings,
    let_in,
    opened,
    scram,
    set_password,
    upsertion,
)
from .kinds import Kafka, Kind

ck: Any = confluent_kafka
ca: Any = confluent_kafka.admin

pytestmark = pytest.mark.timeout(900)

AUTHORIZER = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
"""A client without a password, such as the nodes among themselves, may do everything."""


@pytest.fixture(scope="module")
def guarded(ours: Kind, real: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with opened(tmp_path_factory.mktemp("security"), ours, real, AUTHORIZER) as found:
        yield found


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_user_comes_in_with_the_password(guarded: Guarded, mechanism: str) -> None:
    """A user authenticates with the current password only: not before it is set, and not after it
    is removed; a new password replaces the old one."""
    user = unique("user")
    _never_in(guarded, user, "first", mechanism)
    set_password(guarded, user, "first", mechanism)
    let_in(guarded, user, "first", mechanism)
    set_password(guarded, user, "second", mechanism)
    let_in(guarded, user, "second", mechanism)
    _never_in(guarded, user, "first", mechanism)
    scram(guarded, ca.UserScramCredentialDeletion(user, getattr(ca.ScramMechanism, mechanism.replace("-", "_"))))
    eventually(lambda: came(guarded, user, "second", mechanism), lambda code: code == AUTHENTICATION)


def test_acls_are_created_and_deleted(guarded: Guarded) -> None:
    """Writing and reading each need their ACL; ACLs survive a restart of the controller."""
    user, ledger = unique("user"), Ledger(guarded.cluster.bootstrap)
    topic, mechanism = ledger.topic("rights"), MECHANISMS[0]
    set_password(guarded, user, "secret", mechanism)
    let_in(guarded, user, "secret", mechanism)
    with refused("TOPIC_AUTHORIZATION_FAILED"):
        _writes(guarded, user, topic)
    admin.allow(guarded.cluster.bootstrap, f"User:{user}", topic, admin.WRITE)
    rights = [(topic, admin.WRITE)]
    eventually(lambda: admin.allowed(guarded.cluster.bootstrap, f"User:{user}"), lambda found: found == rights)
    assert _writes(guarded, user, topic) == 0
    with refused("TOPIC_AUTHORIZATION_FAILED"):
        _reads(guarded, user, topic)
    admin.allow(guarded.cluster.bootstrap, f"User:{user}", topic, admin.READ)
    (node,) = guarded.cluster.controllers
    node.kill()
    node.start()
    guarded.cluster.led()
    rights = [(topic, admin.READ), (topic, admin.WRITE)]
    eventually(lambda: admin.allowed(guarded.cluster.bootstrap, f"User:{user}"), lambda found: found == rights)
    assert _reads(guarded, user, topic) == b"from " + user.encode()
    assert admin.disallow(guarded.cluster.bootstrap, f"User:{user}") == 2
    eventually(lambda: admin.allowed(guarded.cluster.bootstrap, f"User:{user}"), lambda found: not found)
    with refused("TOPIC_AUTHORIZATION_FAILED"):
        _writes(guarded, user, topic)


def test_a_user_without_the_right_changes_nothing(guarded: Guarded) -> None:
    """A broker forwards requests in the name of its client, and the controller checks that
    principal."""
    user, mechanism = unique("user"), MECHANISMS[0]
    set_password(guarded, user, "secret", mechanism)
    let_in(guarded, user, "secret", mechanism)
    client = ca.AdminClient(client_settings(guarded, user, "secret", mechanism))
    (future,) = client.create_topics([ca.NewTopic(unique("never"), 1, 1)]).values()
    with refused("TOPIC_AUTHORIZATION_FAILED"), translated_errors():
        future.result(PATIENCE)
    (future,) = client.alter_user_scram_credentials([upsertion(user, "other", mechanism)]).values()
    with refused("CLUSTER_AUTHORIZATION_FAILED"), translated_errors():
        future.result(PATIENCE)


def _never_in(guarded: Guarded, user: str, password: str, mechanism: str) -> None:
    assert came(guarded, user, password, mechanism) == AUTHENTICATION


def _writes(guarded: Guarded, user: str, topic: str) -> int:
    """Writes a record; returns the offset."""
    done: list[Any] = []
    producer = ck.Producer(client_settings(guarded, user, "secret", MECHANISMS[0]))
    producer.produce(topic, b"from " + user.encode(), on_delivery=lambda error, message: done.append((error, message)))
    assert producer.flush(PATIENCE) == 0
    ((error, message),) = done
    if error is not None:
        raise Refused(error.code(), error.str())
    return int(message.offset())


def _reads(guarded: Guarded, user: str, topic: str) -> bytes:
    """Reads the first record."""
    settings = client_settings(guarded, user, "secret", MECHANISMS[0]) | {
        "group.id": "none",
        "enable.auto.commit": False,
    }
    consumer = ck.Consumer(settings)
    try:
        consumer.assign([ck.TopicPartition(topic, 0, 0)])
        message = eventually(lambda: consumer.poll(1.0), lambda found: found is not None and not _of_group(found))
        if message.error() is not None:
            raise Refused(message.error().code(), message.error().str())
        return bytes(message.value())
    finally:
        consumer.close()


def _of_group(message: Any) -> bool:
    """The client asks for the coordinator of a group that it does not use."""
    return message.error() is not None and int(message.error().code()) == error_codes.GROUP_AUTHORIZATION_FAILED
