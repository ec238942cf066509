"""The features that this software has, by name: the lowest and the highest level that it can work with (KIP-584, KIP-1022).

Rules. A feature stands here when its behaviour is there, and not before. `metadata.version` is the level of the metadata records; its levels
are Kafka's: 7 is 3.3-IV3, the lowest that Kafka 4 knows, 33 is 4.4's. `eligible.leader.replicas.version` 1 is KIP-966. What only brokers
behave by, a node can work with that is none: it writes the level down, and other nodes' brokers are Kafka's.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

METADATA_VERSION = "metadata.version"
ELR = "eligible.leader.replicas.version"

SUPPORTED: Mapping[str, tuple[int, int]] = {METADATA_VERSION: (7, 33), "kraft.version": (0, 1), ELR: (0, 1)}
"""Of a node that is a broker."""

OF_BROKERS: Mapping[str, tuple[int, int]] = {
    "group.version": (0, 1),
    "share.version": (0, 2),
    "streams.version": (0, 1),
    "transaction.version": (0, 2),
}
"""What brokers of Kafka 4.4 behave by, and ours not yet. Ours live in a cluster that has them, but tell no client that it has."""

BY_DEFAULT: Mapping[str, Mapping[int, int]] = {
    ELR: {26: 1},
    "group.version": {22: 1},
    "share.version": {28: 1, 31: 2},
    "streams.version": {29: 1},
    "transaction.version": {24: 2},
}
"""From which level of the metadata a new cluster has which level of a feature."""

EVERYTHING = 33


def supported_by(roles: Container[str]) -> Mapping[str, tuple[int, int]]:
    """The features of a node with these roles."""
    return SUPPORTED if "broker" in roles else {**SUPPORTED, **OF_BROKERS}


def of_new_cluster(roles: Container[str], level: int = EVERYTHING) -> dict[str, int]:
    """The levels of a new cluster that a node with these roles begins. That of kraft.version stands in control records, as in Kafka."""
    found = {METADATA_VERSION: level}
    for name, steps in BY_DEFAULT.items():
        levels = [value for least, value in steps.items() if level >= least]
        if name in supported_by(roles) and levels:
            found[name] = levels[-1]
    return found
