"""The authorizer: a table of ACLs and questions, answered as by Kafka's StandardAuthorizer
(KIP-290).
"""

from __future__ import annotations

import pytest

from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.metadata.image import Acl
from kafkadouble.server.security.acls import OPERATIONS
from kafkadouble.server.security.authorizer import of_settings
from tests.server.security.made_acls import CLUSTER, TOPIC, acl, authorizer, image

PREFIXED, DENY = 4, 2
READ, WRITE, CREATE, ALTER, DESCRIBE, ALL = (
    OPERATIONS.index(name) for name in ("READ", "WRITE", "CREATE", "ALTER", "DESCRIBE", "ALL")
)

ANN = "User:ann", "10.0.0.7"

CASES: dict[str, tuple[list[Acl], int, bool]] = {
    "without an ACL nothing is allowed": ([], READ, False),
    "by name": ([acl("t", READ)], READ, True),
    "another operation": ([acl("t", READ)], WRITE, False),
    "another topic": ([acl("u", READ)], READ, False),
    "another user": ([acl("t", READ, "User:bob")], READ, False),
    "every user": ([acl("t", READ, "User:*")], READ, True),
    "every topic": ([acl("*", READ)], READ, True),
    "a prefix": ([acl("", READ, pattern=PREFIXED)], READ, True),
    "all operations": ([acl("t", ALL)], CREATE, True),
    "another kind of resource": ([acl("t", READ, kind=CLUSTER)], READ, False),
    "from a host": ([acl("t", READ, host="10.0.0.7")], READ, True),
    "from another host": ([acl("t", READ, host="10.0.0.8")], READ, False),
    "from a network": ([acl("t", READ, host="10.0.0.0/24")], READ, True),
    "from another network": ([acl("t", READ, host="10.0.1.0/24")], READ, False),
    "denied is stronger": ([acl("t", READ), acl("*", READ, "User:*", permission=DENY)], READ, False),
    "denied all": ([acl("t", READ), acl("t", ALL, permission=DENY)], READ, False),
    "a writer may describe": ([acl("t", WRITE)], DESCRIBE, True),
    "a principal that alters may describe": ([acl("t", ALTER)], DESCRIBE, True),
    "a principal that creates may not": ([acl("t", CREATE)], DESCRIBE, False),
    "a denied writer may describe": ([acl("t", READ), acl("t", WRITE, permission=DENY)], DESCRIBE, True),
    "a principal that describes may not write": ([acl("t", DESCRIBE)], WRITE, False),
}


@pytest.mark.parametrize("case", CASES)
def test_operations_that_acls_allow_a_principal(case: str) -> None:
    acls, operation, allowed = CASES[case]
    assert authorizer().allows(image(*acls), ANN, operation, TOPIC, "t") is allowed


def test_a_super_user_may_do_everything() -> None:
    of_two = authorizer(super_users="User:root; User:ann")
    assert of_two.allows(image(acl("t", ALL, "User:*", permission=DENY)), ANN, READ, TOPIC, "t")


def test_resource_without_acl_may_be_open_to_all() -> None:
    open_to_all = authorizer(allow_everyone_if_no_acl_found="true")
    assert open_to_all.allows(image(), ANN, READ, TOPIC, "t")
    assert not open_to_all.allows(image(acl("t", READ, "User:bob")), ANN, READ, TOPIC, "t")


def test_without_the_setting_there_is_no_authorizer() -> None:
    assert of_settings(Settings()) is None
