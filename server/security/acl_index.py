"""Finds the ACLs that cover a resource, without reading the other ACLs.

Rules. ACLs are sorted by the type and the name of their resource, those of one resource by their
principal. The name of a resource is looked up among the literal names. For each length of a known
prefix, the first characters of the name are looked up among the prefixes. An ACL is never changed,
only created or deleted, so `follow` compares ids: it adds and removes what differs between the ACLs
of two images.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kafkadouble.messages.uuid import Uuid

from ..metadata.image import Acl
from .acls import EVERY_NAME, LITERAL

ResourceAcls = dict[str, dict[Uuid, Acl]]
"""The ACLs of one resource pattern, by principal and id."""

NO_ACLS: Mapping[Uuid, Acl] = {}

_Key = tuple[int, str]
"""A resource type and a name or prefix."""


class AclIndex:
    """The ACLs of one image, by resource."""

    def __init__(self) -> None:
        self._by_id: dict[Uuid, Acl] = {}
        self._literal: dict[_Key, ResourceAcls] = {}
        self._prefixed: dict[_Key, ResourceAcls] = {}
        self._lengths: dict[int, dict[int, int]] = {}
        """Resource type -> length of a prefix -> the number of prefixes with this length."""

    def follow(self, acls: Mapping[Uuid, Acl]) -> None:
        """Replaces the ACLs of the index by `acls`."""
        known = self._by_id
        added = [(id, acl) for id, acl in acls.items() if id not in known]
        if len(known) + len(added) > len(acls):
            for id in [id for id in known if id not in acls]:
                self._remove(id, known.pop(id))
        for id, acl in added:
            known[id] = acl
            patterns, key = self._patterns(acl), (acl.resource_type, acl.resource_name)
            if key not in patterns:
                patterns[key] = {}
                if patterns is self._prefixed:
                    lengths = self._lengths.setdefault(acl.resource_type, {})
                    lengths[len(acl.resource_name)] = lengths.get(len(acl.resource_name), 0) + 1
            patterns[key].setdefault(acl.principal, {})[id] = acl

    def covering(self, resource_type: int, name: str) -> Iterator[ResourceAcls]:
        """The ACLs of each pattern that covers this name."""
        literal = self._literal
        for literal_name in (name, EVERY_NAME) if name != EVERY_NAME else (name,):
            if (resource_acls := literal.get((resource_type, literal_name))) is not None:
                yield resource_acls
        for length in self._lengths.get(resource_type, ()):
            resource_acls = self._prefixed.get((resource_type, name[:length])) if length <= len(name) else None
            if resource_acls is not None:
                yield resource_acls

    def of_type(self, resource_type: int, principals: Iterable[str]) -> Iterator[Acl]:
        """The ACLs of these principals on resources of this type."""
        for patterns in (self._literal, self._prefixed):
            for (kind, _), acls in patterns.items():
                if kind == resource_type:
                    for principal in principals:
                        yield from acls.get(principal, NO_ACLS).values()

    def _remove(self, id: Uuid, acl: Acl) -> None:
        patterns, key = self._patterns(acl), (acl.resource_type, acl.resource_name)
        of_principal = patterns[key][acl.principal]
        del of_principal[id]
        if not of_principal:
            del patterns[key][acl.principal]
        if not patterns[key]:
            del patterns[key]
            if patterns is self._prefixed:
                self._forget_length(acl.resource_type, len(acl.resource_name))

    def _forget_length(self, resource_type: int, length: int) -> None:
        lengths = self._lengths[resource_type]
        lengths[length] -= 1
        if not lengths[length]:
            del lengths[length]

    def _patterns(self, acl: Acl) -> dict[_Key, ResourceAcls]:
        return self._literal if acl.pattern_type == LITERAL else self._prefixed
