"""What is known of the cluster: the fold of the metadata log, as a persistent value.

Rules. An image never changes: a change makes a new one that shares all it can with the old (a change to one partition of ten thousand topics
costs a handful of nodes), so that a reader, or a snapshot that is written in slices, may hold one while the node goes on. Nothing is in an
image that is not in the records of the log (KIP-631). This file only holds; `replay.py` folds, `controller.py` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from immutables import Map

from kafkadouble.messages.uuid import Uuid

from ..log.offset_and_epoch import OffsetAndEpoch

K = TypeVar("K")
V = TypeVar("V")

TOPIC, BROKER, CLIENT_METRICS, GROUP = 2, 4, 16, 32
"""Types of configured resources, as in ConfigRecord and DescribeConfigs."""


class Endpoint(NamedTuple):
    """A listener as it is advertised. `security_protocol`: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL."""

    name: str
    host: str
    port: int
    security_protocol: int


class BrokerImage(NamedTuple):
    """A registered broker. `epoch` is the offset of its registration; a fenced one neither leads nor shows in Metadata."""

    id: int
    epoch: int
    incarnation_id: Uuid
    endpoints: tuple[Endpoint, ...]
    features: Map[str, tuple[int, int]]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool
    log_dirs: tuple[Uuid, ...]
    cordoned_log_dirs: tuple[Uuid, ...]

    def endpoint(self, listener: str) -> Endpoint | None:
        """Where it listens under this name."""
        return next((endpoint for endpoint in self.endpoints if endpoint.name == listener), None)

    @property
    def active(self) -> bool:
        """Whether it may lead, and take new replicas."""
        return not (self.fenced or self.in_controlled_shutdown)


class ControllerImage(NamedTuple):
    """A registered controller."""

    id: int
    incarnation_id: Uuid
    endpoints: tuple[Endpoint, ...]
    features: Map[str, tuple[int, int]]


class PartitionImage(NamedTuple):
    """One partition. `leader` is -1 for none; `isr` is a subset of `replicas`, whose first is the preferred leader."""

    replicas: tuple[int, ...]
    directories: tuple[Uuid, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    adding_replicas: tuple[int, ...] = ()
    removing_replicas: tuple[int, ...] = ()
    leader_recovery_state: int = 0
    elr: tuple[int, ...] = ()
    last_known_elr: tuple[int, ...] = ()


class TopicImage(NamedTuple):
    """One topic. `partitions` are numbered from 0 without a gap."""

    name: str
    id: Uuid
    partitions: Map[int, PartitionImage]

    def in_order(self) -> list[tuple[int, PartitionImage]]:
        """The partitions with their numbers, by number."""
        return sorted(self.partitions.items())


QuotaEntity = tuple[tuple[str, str | None], ...]
"""Whom a quota is for: types (user, client-id, ip) with names, by type; None is the default of the type (KIP-546)."""


class ScramCredential(NamedTuple):
    """What a server keeps of a password (RFC 5802)."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int

    def __repr__(self) -> str:
        return f"a credential of {self.iterations} iterations"


class DelegationToken(NamedTuple):
    """Who may log in as somebody without his password, and until when (KIP-48, KIP-373). Principals are `Type:name`, times ms. What proves it
    is no part of it: that is computed from its id and a key that stands in no log."""

    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp: int
    max_timestamp: int
    expiration_timestamp: int


class Acl(NamedTuple):
    """Who may do, or not do, what to what (KIP-11, KIP-290). Numbers are those of the wire."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


class Image(NamedTuple):
    """The cluster as of `end`, the offset after the last record that is folded in, and that record's epoch.

    `topic_ids` and `lookalikes` (topics by what their names have in common with others, see `topic_names.py`) only index `topics`. `scram` is
    by user and mechanism (1 SCRAM-SHA-256, 2 SCRAM-SHA-512), `tokens` by the token's id.
    """

    end: OffsetAndEpoch
    features: Map[str, int]
    brokers: Map[int, BrokerImage]
    controllers: Map[int, ControllerImage]
    topics: Map[Uuid, TopicImage]
    topic_ids: Map[str, Uuid]
    lookalikes: Map[str, frozenset[str]]
    configs: Map[tuple[int, str], Map[str, str]]
    next_producer_id: int
    quotas: Map[QuotaEntity, Map[str, float]]
    acls: Map[Uuid, Acl]
    scram: Map[tuple[str, int], ScramCredential]
    tokens: Map[str, DelegationToken]

    def topic(self, topic_id: Uuid) -> TopicImage | None:
        return self.topics.get(topic_id)

    def topic_named(self, name: str) -> TopicImage | None:
        topic_id = self.topic_ids.get(name)
        return None if topic_id is None else self.topics[topic_id]

    def config_overrides(self, resource_type: int, name: str) -> Mapping[str, str]:
        """What was set for one resource; the empty name of a broker is the default of all brokers."""
        return self.configs.get((resource_type, name), NOTHING_SET)

    def live_brokers(self) -> list[BrokerImage]:
        """The brokers that are not fenced, by id."""
        return sorted(broker for broker in self.brokers.values() if not broker.fenced)

    def __repr__(self) -> str:
        return f"metadata up to {self.end!r}: {len(self.brokers)} brokers, {len(self.topics)} topics"


NOTHING_SET: Map[str, str] = Map()

EMPTY = Image(OffsetAndEpoch(0, 0), Map(), Map(), Map(), Map(), Map(), Map(), Map(), 0, Map(), Map(), Map(), Map())
"""Before the first record."""


def without(mapping: Map[K, V], key: K) -> Map[K, V]:
    """The mapping without a key that it may not have."""
    return mapping.delete(key) if key in mapping else mapping
