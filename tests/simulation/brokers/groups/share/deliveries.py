"""What the members of a share group were given, and what became of it: every delivery is compared
with the ones before.

A share partition lives as long as its leader, at most. Records are acquired by one member at a time
in one life; another leader knows only what was persisted, and may deliver a record again. Two lives
may be at the same time: a leader of the past does not know what its successor has persisted.
"""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from kafkadouble.server.share.record_state import AcknowledgeType
from kafkadouble.server.share.share_partition import SharePartition

from . import promises

LOCK_MS = 3000
"""The duration of an acquisition lock."""


class RecordKey(NamedTuple):
    partition: int
    offset: int


class Held:
    """A record that `client` has acquired, until `until` at least (ms), unless it gives the record
    up before (`is_over`). It means to hold the record until `due`. `life` is None if it is not
    known which share partition gave it."""

    __slots__ = ("client", "count", "due", "is_over", "key", "life", "until")

    def __init__(
        self, client: object, key: RecordKey, count: int, life: SharePartition | None, until: int, due: int
    ) -> None:
        self.client, self.key, self.count, self.life = client, key, count, life
        self.until, self.due = until, due
        self.is_over = False

    def __repr__(self) -> str:
        return f"delivery {self.count} of {self.key.partition}-{self.key.offset}"


class Confirmed(NamedTuple):
    """A record that needs no more delivery: since when (ms), and in which leader epoch."""

    how: str
    since: int
    leader_epoch: int


class Deliveries:
    """`seen` are the records that some member was given."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self.seen = set[RecordKey]()
        self._held: dict[RecordKey, Held] = {}
        self._counts: defaultdict[tuple[SharePartition, RecordKey], set[int]] = defaultdict(set)
        self._confirmed: dict[RecordKey, Confirmed] = {}

    @property
    def confirmed(self) -> int:
        return len(self._confirmed)

    def acquired(self, held: Held, asked: int, now: int) -> None:
        """A client was given a record that it requested at `asked`."""
        client, key, life = held.client, held.key, held.life
        promises.count_is_within_limit(client, held, held.count, self._limit)
        before, done = self._held.get(key), self._confirmed.get(key)
        if life is not None:
            if before is not None and before.life is life and not before.is_over and now < before.until:
                promises.record_has_one_holder(client, held, before.client)
            promises.count_is_of_one_delivery(client, held, held.count, self._counts[life, key])
            self._counts[life, key].add(held.count)
            if done is not None and done.since < asked and done.leader_epoch <= life.leader_epoch:
                promises.done_is_not_delivered(client, held, done.how)
        self.seen.add(key)
        self._held[key] = held

    def confirm(self, held: Held, type: int, now: int) -> None:
        """An acknowledgement was answered."""
        if type in (AcknowledgeType.ACCEPT, AcknowledgeType.REJECT) and held.life is not None:
            how = "accepted" if type == AcknowledgeType.ACCEPT else "rejected"
            self._confirmed.setdefault(held.key, Confirmed(how, now, held.life.leader_epoch))
