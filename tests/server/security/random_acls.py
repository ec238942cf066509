"""Random ACLs, and random questions to an authorizer: few names, so that many ACLs cover one
resource."""

from __future__ import annotations

import random
from typing import NamedTuple

from kafkadouble.server.metadata.image import Acl
from kafkadouble.server.security.acls import OPERATIONS, PREFIXED, RESOURCE_TYPES

PRINCIPALS = ("User:ann", "User:bob", "User:*", "User:", "Group:ann", "User:root")
CLIENTS = ("User:ann", "User:bob", "User:", "Group:ann", "User:root")
"""Kafka fails on a client with the name `*`."""
HOSTS = (
    "*",
    "10.0.0.7",
    "10.0.0.0/8",
    "10.0.0.7/32",
    "10.0.0.6/31",
    "0.0.0.0/0",
    "::/0",
    "fe80::/10",
    "2001:db8:0:0:0:0:0:1",
)
CLIENT_HOSTS = ("10.0.0.7", "10.0.0.6", "10.1.2.3", "192.168.0.1", "2001:db8::1", "fe80::1", "::ffff:10.0.0.7")
NAMES = ("a", "ab", "abc", "abd", "b", "*", "a*", "", "é", "hardcode", "\U0001f600a", "\U0001f600")
TYPES = range(2, len(RESOURCE_TYPES))
ACL_OPERATIONS = range(OPERATIONS.index("ALL"), len(OPERATIONS))


class Question(NamedTuple):
    """What a client wants to do to which resource."""

    principal: str
    host: str
    operation: int
    resource_type: int
    name: str


def random_acl(chance: random.Random) -> Acl:
    return Acl(
        resource_type=chance.choice((2, 2, *TYPES)),
        resource_name=chance.choice(NAMES[:7] + NAMES[8:]),
        pattern_type=chance.choice((3, PREFIXED)),
        principal=chance.choice(PRINCIPALS),
        host=chance.choice(HOSTS),
        operation=chance.choice((2, 3, 4, 7, 8, *ACL_OPERATIONS)),
        permission_type=chance.choice((2, 3, 3)),
    )


def random_question(chance: random.Random) -> Question:
    return Question(
        principal=chance.choice(CLIENTS),
        host=chance.choice(CLIENT_HOSTS),
        operation=chance.choice((3, 4, 8, *ACL_OPERATIONS[1:])),
        resource_type=chance.choice((2, 2, *TYPES)),
        name=chance.choice(NAMES),
    )
