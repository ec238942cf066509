"""ACLs in one line, for tests: who may, or may not, do what to which resource (KIP-11, KIP-290).

    KafkaDouble(acls=["User:alice allow READ,WRITE topic:orders*", "User:* deny ALL topic:audit"])
    KafkaDouble(acls=[AclBinding("User:alice", "READ", "topic:orders")], super_users=["User:admin"])

A text is PRINCIPAL allow|deny OPERATION[,OPERATION...] RESOURCE [from HOST]. A resource is a type
and a name, such as `topic:orders` or `group:billing`; a name that ends in `*` is a prefix, and `*`
alone means every resource of the type; `cluster` has no name. A host is an address or a range, such
as `10.0.0.0/8`; without one the ACL is for every host.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.common.errors import KafkaError, UsageError, raise_for
from kafkadouble.common.kinds import given_as
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_acls import CreateAclsRequest
from kafkadouble.messages.generated.delete_acls import DeleteAclsRequest
from kafkadouble.messages.generated.describe_acls import DescribeAclsRequest
from kafkadouble.server.security.acls import (
    CLUSTER_NAME,
    EVERY_HOST,
    EVERY_NAME,
    LITERAL,
    OPERATIONS,
    PREFIXED,
    RESOURCE_TYPES,
)
from kafkadouble.wire.plain_values import fault_of

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi

PERMISSIONS = {"deny": 2, "allow": 3}
CLUSTER = "cluster"
ANY = 1
UNCHECKED = "brokers do not check ACLs: give acls=[] or super_users at the start"
GRAMMAR = "PRINCIPAL allow|deny OPERATION[,OPERATION] RESOURCE [from HOST]"

GRANTABLE = OPERATIONS[OPERATIONS.index("ALL") :]
"""The operations that an ACL can have."""

TYPES = {name.lower(): number for number, name in enumerate(RESOURCE_TYPES) if name not in ("UNKNOWN", "ANY")}
"""The types of resource, as texts name them."""


@given_as("ACL")
class AclBinding(NamedTuple):
    """An ACL, or one for each of several operations. `resource` is as in the text form;
    `permission` is "allow" or "deny"."""

    principal: str
    operations: str | Sequence[str]
    resource: str
    permission: str = "allow"
    host: str = EVERY_HOST

    def creations(self) -> list[CreateAclsRequest.AclCreation]:
        """The ACLs as CreateAcls has them. Raises UsageError."""
        kind, name, pattern = _resource(self.resource)
        if self.permission not in PERMISSIONS:
            raise UsageError(f"an ACL has the permission {self.permission!r}; it must be allow or deny")
        if ":" not in self.principal:
            raise UsageError(
                f"an ACL is for the principal {self.principal!r}; it must be a type and a name: User:alice"
            )
        names = self.operations.split(",") if isinstance(self.operations, str) else self.operations
        return [
            CreateAclsRequest.AclCreation(
                resource_type=kind,
                resource_name=name,
                resource_pattern_type=pattern,
                principal=self.principal,
                host=self.host,
                operation=_operation(each),
                permission_type=PERMISSIONS[self.permission],
            )
            for each in names
        ]


def parse_acl(text: str) -> AclBinding:
    """The ACL of a text. Raises UsageError."""
    words = text.split()
    if len(words) == 6 and words[4].lower() == "from":
        host = words[5]
    elif len(words) == 4:
        host = EVERY_HOST
    else:
        raise UsageError(f"the ACL {text!r} is not of the form {GRAMMAR}, such as: User:alice allow READ topic:orders")
    principal, permission, operations, resource = words[:4]
    return AclBinding(principal, operations, resource, permission.lower(), host)


def checked_acls(acls: Iterable[AclBinding | str]) -> list[CreateAclsRequest.AclCreation]:
    """The ACLs as CreateAcls has them. Raises UsageError for one that is wrong."""
    if isinstance(acls, str):
        raise UsageError(f"acls must be a list of ACLs, and not the text {acls!r}")
    bindings = [parse_acl(acl) if isinstance(acl, str) else acl for acl in acls]
    creations = [creation for binding in bindings for creation in binding.creations()]
    if fault := fault_of([(each.principal, each.resource_name, each.host) for each in creations]):
        raise UsageError(f"an ACL cannot be created: {fault}")
    return creations


def super_users_text(super_users: Iterable[str]) -> str:
    """The value of `super.users`. UsageError for what is no list."""
    if isinstance(super_users, str):
        raise UsageError(f"super_users must be a list of principals, and not the text {super_users!r}")
    text = ";".join(super_users)
    if fault := fault_of(text):
        raise UsageError(f"super_users has a wrong principal: {fault}")
    return text


def to_create(creations: Sequence[CreateAclsRequest.AclCreation]) -> CreateAclsRequest:
    """The request of a client that creates them."""
    return CreateAclsRequest(creations=list(creations))


async def create_acls_at(broker: ClusterApi, acls: Iterable[AclBinding | str]) -> None:
    """Creates the ACLs as any client would, on the event loop of the brokers. UsageError."""
    if creations := checked_acls(acls):
        # A cancelled wait does not cancel the request.
        answer = broker.ask(to_create(creations))
        check_creations(creations, await asyncio.shield(asyncio.wrap_future(answer)))


def check_creations(creations: Sequence[CreateAclsRequest.AclCreation], answer: Any) -> None:
    """UsageError for an ACL that the broker refuses; KafkaError if it checks none."""
    for creation, result in zip(creations, answer.results, strict=True):
        if result.error_code == error_codes.SECURITY_DISABLED:
            raise KafkaError(result.error_code, UNCHECKED)
        if result.error_code:
            reason = result.error_message or error_codes.meaning(result.error_code)
            raise UsageError(f"the ACL of {creation.principal} on {creation.resource_name!r} was refused: {reason}")


def to_describe() -> DescribeAclsRequest:
    """The request for every ACL."""
    return DescribeAclsRequest(
        resource_type_filter=ANY,
        resource_name_filter=None,
        pattern_type_filter=ANY,
        principal_filter=None,
        host_filter=None,
        operation=ANY,
        permission_type=ANY,
    )


def described(answer: Any) -> list[str]:
    """Every ACL, as a text. KafkaError."""
    raise_for(answer.error_code, answer.error_message)
    return sorted(_text(resource, acl, resource.pattern_type) for resource in answer.resources for acl in resource.acls)


def to_delete(creations: Sequence[CreateAclsRequest.AclCreation]) -> DeleteAclsRequest:
    """The request that deletes exactly these."""
    filters = [
        DeleteAclsRequest.DeleteAclsFilter(
            resource_type_filter=creation.resource_type,
            resource_name_filter=creation.resource_name,
            pattern_type_filter=creation.resource_pattern_type,
            principal_filter=creation.principal,
            host_filter=creation.host,
            operation=creation.operation,
            permission_type=creation.permission_type,
        )
        for creation in creations
    ]
    return DeleteAclsRequest(filters=filters)


def deleted(answer: Any) -> list[str]:
    """The ACLs that were deleted, as texts. KafkaError."""
    for result in answer.filter_results:
        if result.error_code == error_codes.SECURITY_DISABLED:
            raise KafkaError(result.error_code, UNCHECKED)
        raise_for(result.error_code, result.error_message)
    return [_text(acl, acl, acl.pattern_type) for result in answer.filter_results for acl in result.matching_acls]


def _text(resource: Any, acl: Any, pattern: int) -> str:
    """An ACL in its text form."""
    kind = RESOURCE_TYPES[resource.resource_type].lower().replace("_", "-")
    name = f":{resource.resource_name}{'*' if pattern == PREFIXED else ''}"
    permission = next(word for word, number in PERMISSIONS.items() if number == acl.permission_type)
    words = [acl.principal, permission, OPERATIONS[acl.operation], kind + ("" if kind == CLUSTER else name)]
    return " ".join(words if acl.host == EVERY_HOST else [*words, "from", acl.host])


def _operation(name: str) -> int:
    found = name.strip().upper().replace("-", "_")
    if found not in GRANTABLE:
        raise UsageError(f"there is no operation {name!r}; there are {', '.join(GRANTABLE)}")
    return OPERATIONS.index(found)


def _resource(text: str) -> tuple[int, str, int]:
    """The type, the name and the pattern type of a resource."""
    kind, _, name = text.partition(":")
    number = TYPES.get(kind.lower().replace("-", "_"))
    if number is None:
        raise UsageError(f"there is no type of resource {kind!r}; there are {', '.join(TYPES)}")
    if kind.lower() == CLUSTER and name in ("", CLUSTER_NAME):
        return number, CLUSTER_NAME, LITERAL
    if not name:
        raise UsageError(f"the resource {text!r} has no name; it must be as topic:orders, topic:ord* or topic:*")
    if name != EVERY_NAME and name.endswith("*"):
        return number, name[:-1], PREFIXED
    return number, name, LITERAL
