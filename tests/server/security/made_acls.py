"""ACLs, the metadata that have them, and an authorizer, for tests."""

from __future__ import annotations

from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.metadata.image import EMPTY, Acl, Image
from kafkadouble.server.metadata.persistent_map import PersistentMap
from kafkadouble.server.security.acls import LITERAL
from kafkadouble.server.security.authorizer import STANDARD, Authorizer, of_settings

TOPIC, CLUSTER = 2, 4
ALLOW = 3


def acl(
    name: str,
    operation: int,
    principal: str = "User:ann",
    *,
    pattern: int = LITERAL,
    host: str = "*",
    permission: int = ALLOW,
    kind: int = TOPIC,
) -> Acl:
    return Acl(kind, name, pattern, principal, host, operation, permission)


def image(*acls: Acl) -> Image:
    return EMPTY._replace(acls=PersistentMap({Uuid(bytes([at]) * 16): each for at, each in enumerate(acls)}))


def authorizer(**settings: object) -> Authorizer:
    given = {name.replace("_", "."): value for name, value in settings.items()}
    found = of_settings(Settings({"authorizer.class.name": STANDARD, **given}))
    assert found is not None
    return found
