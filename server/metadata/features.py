"""The features that this software has, by name: the lowest and the highest level that it can work with (KIP-584).

Rules. A feature stands here when its behaviour is there, and not before. `metadata.version` is the level of the metadata records; its levels
are Kafka's: 7 is 3.3-IV3, the lowest that Kafka 4 knows, 33 is 4.4's. `eligible.leader.replicas.version` 1 is KIP-966.
"""

ELR = "eligible.leader.replicas.version"

SUPPORTED: dict[str, tuple[int, int]] = {
    "metadata.version": (7, 33),
    "kraft.version": (0, 1),
    ELR: (0, 1),
}

FINALIZED: dict[str, int] = {"metadata.version": 33, ELR: 1}
"""Levels that a new cluster starts with. That of kraft.version stands in the log's control records, as in Kafka."""
