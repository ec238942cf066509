"""Finds the ACLs that match the filters of one request, without a comparison of each ACL with each
filter.

Rules. A filter gives values for some fields of an ACL. For every set of fields that a filter gives,
the ACLs are sorted once by their values; a filter is then one look-up. There are as many such sets
as there are subsets of the seven fields. The pattern type MATCH is a look-up for each pattern that
can cover the name: the name, `*`, and the beginnings of the name in the lengths that prefixes have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import itemgetter
from typing import Any

from kafkadouble.messages.uuid import Uuid

from ..metadata.image import Acl
from .acls import ANY, EVERY_NAME, LITERAL, MATCH, PREFIXED, AclFilter

Entry = tuple[Acl, Uuid]
Values = dict[str, Any]
"""The value of each field of an ACL that a filter gives."""


class AclFilterIndex:
    """The ACLs of one image. `steps` counts the look-ups, and the ACLs that were sorted."""

    def __init__(self, acls: Mapping[Uuid, Acl]) -> None:
        self._entries: list[Entry] = sorted((acl, id) for id, acl in acls.items())
        self._by_fields: dict[tuple[str, ...], dict[Any, list[Entry]]] = {}
        self._pattern_types = sorted({acl.pattern_type for acl, _ in self._entries})
        prefixes = (acl.resource_name for acl, _ in self._entries if acl.pattern_type == PREFIXED)
        self._prefix_lengths = sorted({len(prefix) for prefix in prefixes})
        self.steps = len(self._entries)

    def matching(self, acl_filter: AclFilter) -> list[Entry]:
        """The ACLs that match a filter, in order; what `matching_acls` finds."""
        name, kind = acl_filter.resource_name_filter, acl_filter.pattern_type_filter
        given = _given(acl_filter)
        if name is None:
            return self._found(given if kind in (ANY, MATCH) else given | {"pattern_type": kind})
        if kind != MATCH:
            given["resource_name"] = name
            return self._found(given if kind == ANY else given | {"pattern_type": kind})
        patterns = dict.fromkeys(self._covering(name))
        found = [self._found(given | {"pattern_type": kind, "resource_name": each}) for kind, each in patterns]
        return sorted(entry for entries in found for entry in entries)

    def _covering(self, name: str) -> Iterator[tuple[int, str]]:
        """The patterns that MATCH means: each type with this name, and those that cover it."""
        for kind in self._pattern_types:
            yield kind, name
        yield LITERAL, EVERY_NAME
        for length in self._prefix_lengths:
            if length < len(name):
                yield PREFIXED, name[:length]

    def _found(self, given: Values) -> list[Entry]:
        self.steps += 1
        fields = tuple(field for field in Acl._fields if field in given)
        if not fields:
            return self._entries
        if fields not in self._by_fields:
            self._by_fields[fields] = self._sorted_by(itemgetter(*map(Acl._fields.index, fields)))
        values = tuple(given[field] for field in fields)
        return self._by_fields[fields].get(values if len(values) > 1 else values[0], [])

    def _sorted_by(self, values_of: Callable[[Acl], Any]) -> dict[Any, list[Entry]]:
        self.steps += len(self._entries)
        by_values: dict[Any, list[Entry]] = {}
        for entry in self._entries:
            by_values.setdefault(values_of(entry[0]), []).append(entry)
        return by_values


def _given(acl_filter: AclFilter) -> Values:
    """The fields of a filter except the pattern."""
    values: Values = {}
    for field, number in (
        ("resource_type", acl_filter.resource_type_filter),
        ("operation", acl_filter.operation),
        ("permission_type", acl_filter.permission_type),
    ):
        if number != ANY:
            values[field] = number
    for field, text in (("principal", acl_filter.principal_filter), ("host", acl_filter.host_filter)):
        if text is not None:
            values[field] = text
    return values
