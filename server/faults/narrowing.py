"""The keywords of the verbs that arm a rule, for type checkers: the fields of Match and Trigger."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from ..tracing.history import SeenRequest


class Triggering(TypedDict, total=False):
    """The keywords that say when a rule applies; see `Trigger`."""

    times: int | None
    on_call: int
    probability: float | None
    seed: int | None
    after_seconds: float | None
    for_seconds: float | None


class Narrowing(Triggering, total=False):
    """The keywords that narrow a rule or choose among matching requests; see `Match` and
    `Trigger`."""

    version: int | None
    topic: str | None
    partition: int | None
    group: str | None
    transactional_id: str | None
    member_id: str | None
    client_id: str | None
    principal: str | None
    mechanism: str | None
    listener: str | None
    broker: int | None
    peers: bool
    predicate: Callable[[SeenRequest], bool] | None


class LineNarrowing(Triggering, total=False):
    """The filters of rules for connections, and for links between nodes."""

    client_id: str | None
    principal: str | None
    listener: str | None
    broker: int | None
    link: tuple[int | None, int | None] | None
    both_ways: bool


class DiskNarrowing(Triggering, total=False):
    """The filters of rules for disks."""

    topic: str | None
    partition: int | None
    broker: int | None
    log_dir: str | None
