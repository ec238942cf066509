"""The objects to which a rule applies: requests, connections, links between nodes, or disks.

None matches anything; only a rule for requests needs an `api`. Each plane knows some of the fields:
see `planes.py`. `topic`, `partition`, `group` and `transactional_id` match parts of a request: an
action that works on parts, as `fail`, leaves the others alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .field_kinds import FUNCTION, NODE_PAIR, PRINCIPAL, SWITCH, FieldKind, count, text

PARTS = ("topic", "partition", "group", "transactional_id")
"""The fields that match parts of a request."""


@dataclass(frozen=True, slots=True)
class Match:
    """`api` is a name, or `*`. `broker` is a node id. `predicate` is called with the request, and
    cannot be written as JSON. `member_id` is the id of a member of a group, or the instance id of a
    static one. `principal` is that of the client, such as `User:alice`; a login is sent by the
    principal that the client says it is. `mechanism` is that of its login.

    The rule applies to requests of clients, with `peers` to requests between nodes too, over
    sockets and inside one process. `link` is a pair of node ids: what the first sends to the
    second, and with `both_ways` also what the second sends to the first; None in it is any node.
    `log_dir` is the path of a log directory."""

    api: str | None = None
    version: int | None = None
    topic: str | None = None
    partition: int | None = None
    group: str | None = None
    transactional_id: str | None = None
    member_id: str | None = None
    client_id: str | None = None
    principal: str | None = None
    mechanism: str | None = None
    listener: str | None = None
    broker: int | None = None
    peers: bool = False
    predicate: Callable[[Any], bool] | None = None
    link: tuple[int | None, int | None] | None = None
    both_ways: bool = False
    log_dir: str | None = None

    def scope(self) -> dict[str, str | int]:
        """The fields that match parts, by name."""
        return {name: value for name in PARTS if (value := getattr(self, name)) is not None}


MATCH_FIELDS: dict[str, FieldKind] = {
    "api": text("the name of an API, or *"),
    "version": count(0, "a version from 0"),
    "topic": text("a topic's name"),
    "partition": count(0, "an index from 0"),
    "group": text("a group's id"),
    "transactional_id": text("a text"),
    "member_id": text("the id of a member, or the instance id of a static one"),
    "client_id": text("a text"),
    "principal": PRINCIPAL,
    "mechanism": text("the name of a SASL mechanism"),
    "listener": text("a listener's name"),
    "broker": count(0, "a node id from 0"),
    "peers": SWITCH,
    "predicate": FUNCTION,
    "link": NODE_PAIR,
    "both_ways": SWITCH,
    "log_dir": text("the path of a log directory"),
}
