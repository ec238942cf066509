"""The index of ACLs: it finds what a look at every ACL finds, also after ACLs were created and
deleted."""

from __future__ import annotations

import random

import pytest

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.image import Acl
from kafkadouble.server.metadata.persistent_map import PersistentMap
from kafkadouble.server.security.acl_index import AclIndex
from kafkadouble.server.security.acls import LITERAL

from .random_acls import NAMES, random_acl


def covers(acl: Acl, kind: int, name: str) -> bool:
    if acl.resource_type != kind:
        return False
    return acl.resource_name in (name, "*") if acl.pattern_type == LITERAL else name.startswith(acl.resource_name)


@pytest.mark.parametrize("seed", range(20))
def test_acl_index_finds_acls_that_cover_a_name(seed: int) -> None:
    chance, index, acls = random.Random(seed), AclIndex(), PersistentMap[Uuid, Acl]()
    for step in range(30):
        for id in [id for id in acls if chance.random() < 0.2]:
            acls = acls.delete(id)
        for at in range(chance.randrange(8)):
            acls = acls.set(Uuid(bytes([step, at]) * 8), random_acl(chance))
        index.follow(acls)
        for name in NAMES:
            found = [acl for of in index.covering(2, name) for acls_of in of.values() for acl in acls_of.values()]
            assert sorted(found) == sorted(acl for acl in acls.values() if covers(acl, 2, name)), (seed, step, name)
        of_type = sorted(index.of_type(2, ("User:ann", "User:*")))
        expected = [acl for acl in acls.values() if acl.resource_type == 2 and acl.principal in ("User:ann", "User:*")]
        assert of_type == sorted(expected), (seed, step)
    index.follow(PersistentMap())
    assert not list(index.of_type(2, ("User:ann", "User:bob", "User:*")))
