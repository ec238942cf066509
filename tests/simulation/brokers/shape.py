"""The shape of a simulated cluster: small numbers everywhere, so that segments, snapshots and
sessions end often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random

TOPIC = "t"

SESSION_MS, LAG_MS, REQUEST_MS = 3000, 3000, 1500
"""The times after which a silent broker is fenced, a lagging follower leaves the in-sync set, and a
request counts as lost."""

UNCLEAN_MS = 1500
"""The interval of the check for partitions that any live replica may lead."""

HIGHEST_LEVEL = 2
"""The highest level of transaction.version, which a new cluster has."""

ABORT_CHECK_MS = 1000
"""The interval of the search for transactions that have timed out."""


@dataclass(frozen=True, slots=True)
class Shape:
    """`combined`: each node is a broker and a controller.

    `elr`: eligible leader replicas are remembered (KIP-966). `on_disks`: brokers have disks that
    lose unflushed data; otherwise their data lives until it is deleted. `flushing`: every record is
    flushed before it is committed."""

    combined: bool = False
    controllers: int = 1
    brokers: int = 3
    partitions: int = 1
    replicas: int = 3
    min_isr: int = 1
    elr: bool = True
    unclean: bool = False
    on_disks: bool = False
    flushing: bool = False
    rebalances: bool = False
    sessions: int = 1000  # the fetch sessions that a broker has room for
    # The bytes that a follower fetches of a partition: with 1 it gets one batch at a time.
    fetch_bytes: int = 1 << 20
    large: bool = False  # some records are so large that segments end
    racks: bool = False  # consumers read from the replica next to them (KIP-392)
    producers: int = 2
    consumers: int = 1
    acks: tuple[int, ...] = (-1,)
    askers: int = 0  # clients that request the ends of partitions
    transactional: int = 0  # the transactional ids; none: no transactions
    transactions_versions: tuple[int, ...] = (1, 2)  # of the transactional producers
    # The level of transaction.version at the beginning. Below 2 all producers have version 1, until
    # the level is raised, if it is.
    transaction_version: int = HIGHEST_LEVEL
    is_upgraded: bool = False
    # The members of a group with the consumer protocol, and those with the classic one.
    group_members: int = 0
    classic_members: int = 0
    share_members: int = 0
    delivery_count_limit: int = 5  # of the share group
    streams_members: int = 0
    standby_replicas: int = 0  # of the tasks of the streams group
    assignment_interval_ms: int = 0  # of the share or streams group
    initial_delay_ms: int = 0  # of the streams group

    @property
    def controller_ids(self) -> list[int]:
        return list(range(1, (self.brokers if self.combined else self.controllers) + 1))

    @property
    def broker_ids(self) -> list[int]:
        return self.controller_ids if self.combined else list(range(11, 11 + self.brokers))

    @property
    def topic_configs(self) -> Mapping[str, str]:
        found = {"min.insync.replicas": str(self.min_isr)}
        if self.unclean:
            found["unclean.leader.election.enable"] = "true"
        if self.flushing:
            found["flush.messages"] = "1"
        if self.large:
            found["segment.bytes"] = str(1 << 20)
        return found

    @property
    def settings(self) -> Mapping[str, object]:
        """The settings of every node."""
        return {
            "broker.session.timeout.ms": SESSION_MS,
            "broker.heartbeat.interval.ms": 800,
            "replica.lag.time.max.ms": LAG_MS,
            "replica.fetch.wait.max.ms": 900,
            "metadata.max.idle.interval.ms": 2500,
            "max.incremental.fetch.session.cache.slots": self.sessions,
            "replica.fetch.max.bytes": self.fetch_bytes,
            "auto.leader.rebalance.enable": self.rebalances,
            "leader.imbalance.check.interval.seconds": 3,
            "unclean.leader.election.interval.ms": UNCLEAN_MS,
            "transaction.abort.timed.out.transaction.cleanup.interval.ms": ABORT_CHECK_MS,
        }


def shape(random: Random, **fixed: object) -> Shape:
    """A random shape; `fixed` are the fields with given values."""
    brokers = random.choice((2, 3, 3, 4))
    drawn: dict[str, object] = {
        "brokers": brokers,
        "partitions": random.choice((1, 1, 2)),
        "replicas": random.randint(2, min(3, brokers)),
        "min_isr": random.choice((1, 2)),
        "elr": random.random() < 0.5,
        "on_disks": random.random() < 0.3,
        "racks": random.random() < 0.15,
        "sessions": random.choice((1000, 1000, 1)),
        "fetch_bytes": random.choice((1 << 20, 1 << 20, 1)),
        "large": random.random() < 0.1,
        "producers": random.choice((1, 2)),
        "acks": random.choice(((-1,), (-1, -1, 1))),
    }
    return Shape(**{**drawn, **fixed})  # type: ignore[arg-type]  # fields by name
