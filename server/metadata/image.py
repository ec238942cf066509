"""The state of the cluster as of an offset of the metadata log, as a persistent value.

An image never changes: a change creates a new image that shares most of its structure with the old
one (changing one partition of ten thousand topics costs a handful of nodes), so a reader, or a
snapshot that is written in slices, may keep an image while the node continues. An image holds only
what is in records of the log (KIP-631). This file only holds the state; `replay.py` replays
records, `controller.py` decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from kafkadouble.messages.uuid import Uuid

from ..log.offset_and_epoch import OffsetAndEpoch
from .persistent_map import PersistentMap

K = TypeVar("K")
V = TypeVar("V")

TOPIC, BROKER, CLIENT_METRICS, GROUP = 2, 4, 16, 32
"""Types of configurable resources, as in ConfigRecord and DescribeConfigs."""


class Endpoint(NamedTuple):
    """An advertised listener. `security_protocol`: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3
    SASL_SSL.
    """

    name: str
    host: str
    port: int
    security_protocol: int


class BrokerImage(NamedTuple):
    """A registered broker. `epoch` is the offset of its registration. A fenced broker leads no
    partition and is not in Metadata responses.
    """

    id: int
    epoch: int
    incarnation_id: Uuid
    endpoints: tuple[Endpoint, ...]
    features: PersistentMap[str, tuple[int, int]]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool
    log_dirs: tuple[Uuid, ...]
    cordoned_log_dirs: tuple[Uuid, ...]

    def endpoint(self, listener: str) -> Endpoint | None:
        """The endpoint of the listener with this name."""
        return next((endpoint for endpoint in self.endpoints if endpoint.name == listener), None)

    @property
    def active(self) -> bool:
        """Whether the broker may lead and get new replicas."""
        return not (self.fenced or self.in_controlled_shutdown)


class ControllerImage(NamedTuple):
    """A registered controller."""

    id: int
    incarnation_id: Uuid
    endpoints: tuple[Endpoint, ...]
    features: PersistentMap[str, tuple[int, int]]


class PartitionImage(NamedTuple):
    """One partition. `leader` is -1 for none; `isr` is a subset of `replicas`, whose first is the
    preferred leader.
    """

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
    """One topic. `partitions` are numbered from 0 without gaps."""

    name: str
    id: Uuid
    partitions: PersistentMap[int, PartitionImage]

    def in_order(self) -> list[tuple[int, PartitionImage]]:
        """The partitions with their numbers, by number."""
        return sorted(self.partitions.items())


QuotaEntity = tuple[tuple[str, str | None], ...]
"""The entity of a quota: types (user, client-id, ip) with names, sorted by type; None is the
default of the type (KIP-546).
"""


class ScramCredential(NamedTuple):
    """The stored keys of a password (RFC 5802)."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int

    def __repr__(self) -> str:
        return f"a credential of {self.iterations} iterations"


class DelegationToken(NamedTuple):
    """A delegation token (KIP-48, KIP-373). Principals are `Type:name`, times are in ms. Its HMAC
    is not stored: it is computed from the token id and a secret key that is in no log.
    """

    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_timestamp: int
    max_timestamp: int
    expiration_timestamp: int


class Acl(NamedTuple):
    """One access control entry (KIP-11, KIP-290). The numbers are those of the wire format."""

    resource_type: int
    resource_name: str
    pattern_type: int
    principal: str
    host: str
    operation: int
    permission_type: int


class Image(NamedTuple):
    """The cluster as of `end`: the offset after the last replayed record, and that record's epoch.

    `topic_ids` and `topics_with_collision_chars` (topics by their name without the difference
    between dots and underscores, see `topic_names.py`) only index `topics`. `scram` is by user and
    mechanism (1 SCRAM-SHA-256, 2 SCRAM-SHA-512), `tokens` by token id.
    """

    end: OffsetAndEpoch
    features: PersistentMap[str, int]
    brokers: PersistentMap[int, BrokerImage]
    controllers: PersistentMap[int, ControllerImage]
    topics: PersistentMap[Uuid, TopicImage]
    topic_ids: PersistentMap[str, Uuid]
    topics_with_collision_chars: PersistentMap[str, frozenset[str]]
    configs: PersistentMap[tuple[int, str], PersistentMap[str, str]]
    next_producer_id: int
    quotas: PersistentMap[QuotaEntity, PersistentMap[str, float]]
    acls: PersistentMap[Uuid, Acl]
    scram: PersistentMap[tuple[str, int], ScramCredential]
    tokens: PersistentMap[str, DelegationToken]

    def topic(self, topic_id: Uuid) -> TopicImage | None:
        return self.topics.get(topic_id)

    def topic_named(self, name: str) -> TopicImage | None:
        topic_id = self.topic_ids.get(name)
        return None if topic_id is None else self.topics[topic_id]

    def config_overrides(self, resource_type: int, name: str) -> Mapping[str, str]:
        """The dynamic configurations of one resource; a broker's empty name means the defaults of
        all brokers.
        """
        return self.configs.get((resource_type, name), NOTHING)

    def live_brokers(self) -> list[BrokerImage]:
        """The brokers that are not fenced, by id."""
        return sorted(broker for broker in self.brokers.values() if not broker.fenced)

    def __repr__(self) -> str:
        return f"metadata up to {self.end!r}: {len(self.brokers)} brokers, {len(self.topics)} topics"


NOTHING: PersistentMap[Any, Any] = PersistentMap()

EMPTY = Image(
    OffsetAndEpoch(0, 0),
    features=NOTHING,
    brokers=NOTHING,
    controllers=NOTHING,
    topics=NOTHING,
    topic_ids=NOTHING,
    topics_with_collision_chars=NOTHING,
    configs=NOTHING,
    next_producer_id=0,
    quotas=NOTHING,
    acls=NOTHING,
    scram=NOTHING,
    tokens=NOTHING,
)
"""The image before the first record."""


def without(mapping: PersistentMap[K, V], key: K) -> PersistentMap[K, V]:
    """The mapping without a key, which may be missing."""
    return mapping.delete(key) if key in mapping else mapping
