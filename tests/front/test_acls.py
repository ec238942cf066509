"""`KafkaDouble(acls=...)`: ACLs in a line, with a real client that may do only what they allow."""

from __future__ import annotations

import pytest
from confluent_kafka.admin import AdminClient

from kafkadouble import AclBinding, KafkaDouble, UsageError
from kafkadouble.access.acls import checked_acls, parse_acl
from kafkadouble.messages.generated.metadata import MetadataRequest
from tests.support.serving import serving

ALLOW, DENY, LITERAL, PREFIXED = 3, 2, 3, 4


def topics_of(kafka: KafkaDouble) -> set[str]:
    return set(AdminClient({"bootstrap.servers": kafka.bootstrap_servers}).list_topics(timeout=10).topics)


@pytest.mark.parametrize("brokers", [1, 2])
def test_clients_see_what_they_may_describe(brokers: int) -> None:
    with KafkaDouble(acls=["User:ANONYMOUS allow READ topic:ord*"], brokers=brokers) as kafka:
        kafka.create_topic("orders")
        kafka.create_topic("secret")
        assert topics_of(kafka) == {"orders"}
        kafka.reset()
        kafka.create_topic("orders")
        kafka.create_topic("payments")
        assert topics_of(kafka) == {"orders"}, "the ACLs are there again"


def test_a_super_user_may_do_everything() -> None:
    with KafkaDouble(super_users=["User:ANONYMOUS"]) as kafka:
        kafka.create_topic("orders")
        assert topics_of(kafka) == {"orders"}


def test_acl_as_text_equals_its_binding() -> None:
    text = parse_acl("User:bob deny read,WRITE transactional-id:tx-* from 10.0.0.0/8")
    assert text == AclBinding("User:bob", "read,WRITE", "transactional-id:tx-*", "deny", "10.0.0.0/8")
    read, write = checked_acls([text])
    assert (read.operation, write.operation) == (3, 4)
    assert {(each.resource_type, each.resource_name, each.resource_pattern_type) for each in (read, write)} == {
        (5, "tx-", PREFIXED)
    }
    assert {each.permission_type for each in (read, write)} == {DENY}


@pytest.mark.parametrize(
    ("text", "resource"),
    [
        ("topic:a", (2, "a", LITERAL)),
        ("topic:*", (2, "*", LITERAL)),
        ("group:a:b*", (3, "a:b", PREFIXED)),
        ("cluster", (4, "kafka-cluster", LITERAL)),
        ("user:User:ann", (7, "User:ann", LITERAL)),
    ],
)
def test_acl_text_names_each_kind_of_resource(text: str, resource: tuple[int, str, int]) -> None:
    (creation,) = AclBinding("User:a", "ALL", text).creations()
    assert (creation.resource_type, creation.resource_name, creation.resource_pattern_type) == resource
    assert (creation.host, creation.permission_type) == ("*", ALLOW)


@pytest.mark.parametrize(
    ("acl", "problem"),
    [
        ("User:a allow READ", "is not of the form"),
        ("User:a allow READ topic:t to x", "is not of the form"),
        ("alice allow READ topic:t", "principal"),
        ("User:a may READ topic:t", "allow or deny"),
        ("User:a allow EAT topic:t", "no operation"),
        ("User:a allow ANY topic:t", "no operation"),
        ("User:a allow READ table:t", "no type of resource"),
        ("User:a allow READ topic", "has no name"),
    ],
)
def test_a_wrong_acl_says_what_is_wrong(acl: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        KafkaDouble(acls=[acl])


def test_the_broker_may_refuse_an_acl() -> None:
    with pytest.raises(UsageError, match="CIDR"), KafkaDouble(acls=["User:a allow READ topic:t from 10.0.0.0/99"]):
        pass


def test_serve_creates_acls() -> None:
    topics = ("--topic", "orders", "--topic", "secret")
    with serving(*topics, "--acl", "User:ANONYMOUS allow DESCRIBE topic:ord*", "--super-user", "User:admin") as broker:
        answer = broker.ask(MetadataRequest(topics=None), 12)
        assert [topic.name for topic in answer.topics] == ["orders"]
