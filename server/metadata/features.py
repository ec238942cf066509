"""The supported features, by name, with the lowest and highest supported level (KIP-584, KIP-1022).

A feature is listed once its behaviour is implemented. `metadata.version` is the level of the
metadata records; the levels are Kafka's: 7 is 3.3-IV3, the lowest of Kafka 4; 33 is 4.4-IV2.
`eligible.leader.replicas.version` 1 is KIP-966; `transaction.version` 1 has flexible records of
`__transaction_state`, and 2 gives each transaction an epoch of its own (KIP-890). `group.version` 1
enables consumer groups (KIP-848), `streams.version` 1 streams groups (KIP-1071). A node that is no
broker also supports features that only change the behaviour of brokers: it writes the level down,
and the brokers of such a cluster are Kafka's.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

METADATA_VERSION = "metadata.version"
ELR = "eligible.leader.replicas.version"

GROUP_VERSION, STREAMS_VERSION = "group.version", "streams.version"

TRANSACTION_VERSION = "transaction.version"

SUPPORTED: Mapping[str, tuple[int, int]] = {
    METADATA_VERSION: (7, 33),
    "kraft.version": (0, 1),
    ELR: (0, 1),
    TRANSACTION_VERSION: (0, 2),
    GROUP_VERSION: (0, 1),
    STREAMS_VERSION: (0, 1),
}
"""The features of a broker."""

BROKER_ONLY_FEATURES: Mapping[str, tuple[int, int]] = {
    "share.version": (0, 2),
}
"""Features of Kafka 4.4's brokers that this broker does not implement. It can be part of a cluster
that has them, but does not advertise them to clients.
"""

DEFAULT_LEVELS: Mapping[str, Mapping[int, int]] = {
    ELR: {26: 1},
    GROUP_VERSION: {22: 1},
    "share.version": {28: 1, 31: 2},
    STREAMS_VERSION: {29: 1},
    TRANSACTION_VERSION: {24: 2},
}
"""Feature -> metadata.version -> the level that a new cluster has from that version on."""

NEWEST_METADATA_VERSION = 33


def supported_features(roles: Container[str]) -> Mapping[str, tuple[int, int]]:
    """The features of a node with these roles."""
    return SUPPORTED if "broker" in roles else {**SUPPORTED, **BROKER_ONLY_FEATURES}


def new_cluster_features(roles: Container[str], level: int = NEWEST_METADATA_VERSION) -> dict[str, int]:
    """The feature levels of a new cluster, formatted by a node with these roles. As in Kafka,
    kraft.version is in control records instead.
    """
    found = {METADATA_VERSION: level}
    for name, steps in DEFAULT_LEVELS.items():
        levels = [value for least, value in steps.items() if level >= least]
        if name in supported_features(roles) and levels:
            found[name] = levels[-1]
    return found
