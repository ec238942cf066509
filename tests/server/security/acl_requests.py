"""Requests about ACLs with some fields given, and what the controller decides about them."""

from __future__ import annotations

from itertools import count
from typing import Any, NamedTuple

from kafkadouble.messages.generated.create_acls import CreateAclsRequest
from kafkadouble.messages.generated.delete_acls import DeleteAclsRequest
from kafkadouble.messages.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.controller import acl_control
from kafkadouble.server.controller.acl_control import AclDeleteResult, create_acls
from kafkadouble.server.metadata.image import Image
from kafkadouble.server.metadata.replay import replay
from tests.support.slices import all_slices

STANDARD: dict[str, object] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
"""The settings of an authorizer to which requests without a login are all right."""

GOOD: dict[str, Any] = {
    "resource_type": 2,
    "resource_name": "t",
    "resource_pattern_type": 3,
    "principal": "User:a",
    "host": "*",
    "operation": 3,
    "permission_type": 3,
}
ANYTHING: dict[str, Any] = {
    "resource_type_filter": 1,
    "resource_name_filter": None,
    "pattern_type_filter": 1,
    "principal_filter": None,
    "host_filter": None,
    "operation": 1,
    "permission_type": 1,
}


def creation(**fields: Any) -> CreateAclsRequest.AclCreation:
    return CreateAclsRequest.AclCreation(**{**GOOD, **fields})


def acl_filter(**fields: Any) -> DeleteAclsRequest.DeleteAclsFilter:
    return DeleteAclsRequest.DeleteAclsFilter(**{**ANYTHING, **fields})


NUMBERS = count(1)


def new_id() -> Uuid:
    return Uuid(next(NUMBERS).to_bytes(16, "big"))


def after(image: Image, *creations: CreateAclsRequest.AclCreation) -> Image:
    for record in all_slices(create_acls(image, creations, new_id)).records:
        image = replay(image, record)
    return image


class Deleted(NamedTuple):
    """What DeleteAcls decides, after all of its slices."""

    records: list[RemoveAccessControlEntryRecord]
    results: list[AclDeleteResult]


def delete_acls(image: Image, filters: list[DeleteAclsRequest.DeleteAclsFilter]) -> Deleted:
    return Deleted(*all_slices(acl_control.delete_acls(image, filters)))
