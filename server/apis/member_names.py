"""Which members of a group a request names: by member id, or by group instance id."""

from __future__ import annotations

from typing import Any

FIELDS = ("member_id", "group_instance_id", "instance_id")
"""The fields that name a member, of a request and of an item of `members`."""


def names_members(request: type[Any]) -> bool:
    """Returns whether requests of this class can name a member."""
    return any(field in request.__slots__ for field in (*FIELDS, "members"))


def members_named(body: Any) -> set[str]:
    """Returns the member ids and group instance ids in a request."""
    items = (body, *(getattr(body, "members", None) or ()))
    values = (getattr(item, field, None) for item in items for field in FIELDS)
    return {value for value in values if isinstance(value, str) and value}
