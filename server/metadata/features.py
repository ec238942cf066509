"""The supported features, by name, with the lowest and highest supported level (KIP-584, KIP-1022).

A feature is listed once its behaviour is implemented. `metadata.version` is the level of the
metadata records; the levels are Kafka's: 7 is 3.3-IV3, the lowest of Kafka 4; 33 is 4.4-IV2.
`eligible.leader.replicas.version` 1 is KIP-966; `transaction.version` 1 has flexible records of
`__transaction_state`, and 2 gives each transaction an epoch of its own (KIP-890). `group.version` 1
enables consumer groups (KIP-848), `share.version` 1 share groups (KIP-932), and 2 their dead-letter
queues (KIP-1191), `streams.version` 1 streams groups (KIP-1071).
"""

from __future__ import annotations

from collections.abc import Mapping

METADATA_VERSION = "metadata.version"
ELR = "eligible.leader.replicas.version"
TRANSACTION_VERSION = "transaction.version"
GROUP_VERSION, SHARE_VERSION, STREAMS_VERSION = "group.version", "share.version", "streams.version"

SUPPORTED: Mapping[str, tuple[int, int]] = {
    METADATA_VERSION: (7, 33),
    "kraft.version": (0, 1),
    ELR: (0, 1),
    TRANSACTION_VERSION: (0, 2),
    GROUP_VERSION: (0, 1),
    SHARE_VERSION: (0, 2),
    STREAMS_VERSION: (0, 1),
}
"""The features of a node, whatever its roles are."""

DEFAULT_LEVELS: Mapping[str, Mapping[int, int]] = {
    ELR: {26: 1},
    GROUP_VERSION: {22: 1},
    SHARE_VERSION: {28: 1, 31: 2},
    STREAMS_VERSION: {29: 1},
    TRANSACTION_VERSION: {24: 2},
}
"""Feature -> metadata.version -> the level that a new cluster has from that version on."""

NEWEST_METADATA_VERSION = 33


def new_cluster_features(level: int = NEWEST_METADATA_VERSION) -> dict[str, int]:
    """The feature levels of a new cluster. As in Kafka, kraft.version is in control records
    instead.
    """
    found = {METADATA_VERSION: level}
    for name, steps in DEFAULT_LEVELS.items():
        levels = [value for least, value in steps.items() if level >= least]
        if levels:
            found[name] = levels[-1]
    return found
