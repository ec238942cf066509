"""Starts a server with authentication and authorization: an Apache Kafka, or a kafkadouble with the
same server.properties.

The clients of the PLAINTEXT listener may do everything. The other listeners are SASL
(SASL_PLAINTEXT), SECURE (SASL_SSL), and MUTUAL (SSL with client certificates). Every user of
`USERS` can authenticate with each mechanism; the password is NAME-secret. A user may do everything
with topics and groups whose names begin with its own name, and a topic with its name exists. Each
slow user has a quota, and `admin` may do everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from interop.one_node import KINDS, addresses_of, at_listeners, logins, one_node, pem_stores
from interop.quorum import CLIENTS, CONTROLLER
from kafkadouble.access.certificates import Certificates
from kafkadouble.messages.generated.alter_client_quotas import AlterClientQuotasRequest
from kafkadouble.messages.generated.create_acls import CreateAclsRequest
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from tests.support.client import ask
from tests.support.ports import HOST
from tests.support.waiting import eventually

SASL, SECURE, MUTUAL = "SASL", "SECURE", "MUTUAL"
PROTOCOLS = {CLIENTS: "PLAINTEXT", CONTROLLER: "PLAINTEXT", SASL: "SASL_PLAINTEXT", SECURE: "SASL_SSL", MUTUAL: "SSL"}
"""The listeners, and the security protocol of each."""

PASSWORDS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
OAUTHBEARER = "OAUTHBEARER"
SLOW_USERS = tuple(f"slow-{number}" for number in range(32))
ADMIN = "admin"
USERS = ("alice", ADMIN, *SLOW_USERS)
RATE = 50_000
"""The quota of each slow user in bytes per second."""

PRIVATE = "private"
"""A topic that no user may write to."""

TOPIC, GROUP, PREFIXED, ALL, ALLOW = 2, 3, 4, 2, 3
"""Numbers of ACLs: resource types, the pattern type PREFIXED, the operation ALL, the permission."""


class Secured(NamedTuple):
    """A running server. `kind` is the name of its kind; `addresses` maps a listener to
    HOST:PORT."""

    kind: str
    addresses: Mapping[str, str]
    certificates: Certificates


def password_of(user: str) -> str:
    return f"{user}-secret"


@contextmanager
def secured_server(kind: str, folder: Path) -> Iterator[Secured]:
    certificates = Certificates("valid", ["localhost", HOST])
    scram = [f"{name}=[name={user},password={password_of(user)}]" for name in PASSWORDS[1:] for user in USERS]
    with closing(certificates), one_node(KINDS[kind], folder, PROTOCOLS, _settings(certificates), scram) as node:
        _fill(node.bootstrap)
        yield Secured(kind, addresses_of(node), certificates)


def _settings(certificates: Certificates) -> dict[str, str]:
    users = " ".join(f'user_{user}="{password_of(user)}"' for user in USERS)
    return {
        "sasl.enabled.mechanisms": ",".join((*PASSWORDS, OAUTHBEARER)),
        **at_listeners((SASL, SECURE), logins(users)),
        **pem_stores(certificates),
        # SECURE ignores this setting, because its clients authenticate by SASL.
        "ssl.client.auth": "required",
        "ssl.principal.mapping.rules": r"RULE:^CN=(.*?)(,.*)?$/$1/,DEFAULT",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": f"User:ANONYMOUS;User:{ADMIN}",
        "delegation.token.secret.key": "a key of the test",
    }


def _fill(bootstrap: str) -> None:
    """Creates the ACLs and quotas of the users, a topic for each user, and the private topic."""
    of = CreateAclsRequest
    rights = [
        of.AclCreation(
            resource_type=resource,
            resource_name=user,
            resource_pattern_type=PREFIXED,
            principal=f"User:{user}",
            host="*",
            operation=ALL,
            permission_type=ALLOW,
        )
        for user in USERS
        for resource in (TOPIC, GROUP)
    ]
    assert {result.error_code for result in ask(bootstrap, of(creations=rights), 3).results} == {0}
    quotas = AlterClientQuotasRequest
    entries = [
        quotas.EntryData(
            entity=[quotas.EntityData(entity_type="user", entity_name=user)],
            ops=[quotas.OpData(key="producer_byte_rate", value=RATE, remove=False)],
        )
        for user in SLOW_USERS
    ]
    assert {entry.error_code for entry in ask(bootstrap, quotas(entries=entries), 1).entries} == {0}
    topics = CreateTopicsRequest
    made = [topics.CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in (*USERS, PRIVATE)]
    answer = ask(bootstrap, topics(topics=made, timeout_ms=30_000), 7)
    assert {topic.error_code for topic in answer.topics} == {0}
    eventually(lambda: _errors(bootstrap, (*USERS, PRIVATE)), lambda found: found == {0})


def _errors(bootstrap: str, names: Sequence[str]) -> set[int]:
    """The ListOffsets errors of topics with one partition. A broker may know a new partition
    shortly before it leads the partition."""
    of = ListOffsetsRequest
    partitions = [of.ListOffsetsPartition(partition_index=0, timestamp=-1)]
    topics = [of.ListOffsetsTopic(name=name, partitions=partitions) for name in names]
    answer = ask(bootstrap, of(replica_id=-1, topics=topics), 7)
    return {each.error_code for topic in answer.topics for each in topic.partitions}
