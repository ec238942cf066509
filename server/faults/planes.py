"""The planes: requests, connections, links between nodes, disks. Each has its actions, and the
fields of a Match that it knows.

Every field of a Trigger has a meaning in every plane. Its counts are in the plane's `unit`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafkadouble.wire.errors import UsageError

from . import CONNECTION, DISK, LINK, REQUEST
from .field_kinds import given_fields
from .match import Match


class Plane(NamedTuple):
    """`fields` are those of Match that it knows; `unit` is what a hit counts."""

    fields: tuple[str, ...]
    unit: str


PLANES: dict[str, Plane] = {
    REQUEST: Plane(
        (
            *("api", "version", "topic", "partition", "group", "transactional_id"),
            *("member_id", "client_id", "principal", "mechanism", "listener", "broker", "peers", "predicate"),
        ),
        "requests",
    ),
    CONNECTION: Plane(("client_id", "principal", "listener", "broker"), "connections"),
    LINK: Plane(("link", "both_ways"), "messages"),
    DISK: Plane(("topic", "partition", "broker", "log_dir"), "operations"),
}
"""Every plane, by its name."""


def plane_of(planes: Sequence[str], match: Match) -> str:
    """The plane of a rule, among those of its action."""
    if len(planes) == 1:
        return planes[0]
    return CONNECTION if match.link is None else LINK


def check_plane(plane: str, name: str, match: Match, without: Sequence[str]) -> None:
    """Raises UsageError for a field of the match that the plane, or the action of this name, does
    not know."""
    known = [field for field in PLANES[plane].fields if field not in without]
    for field in given_fields(match):
        if field in known:
            continue
        if field in without:
            raise UsageError(f"{name} has no {field}; a rule for it is narrowed by {_listed(known)}")
        raise UsageError(f"a {plane} has no {field}; a rule for {plane}s is narrowed by {_listed(known)}")


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
