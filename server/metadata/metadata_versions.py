"""The levels of `metadata.version` by the names of Kafka's tools (4.4-IV2), and the features of a
new cluster at each level (KIP-584).

A release alone (4.4) means its last step. 7 is the lowest level of Kafka 4.
"""

from __future__ import annotations

from kafkadouble.wire.errors import UsageError

from .features import ELR, METADATA_VERSION, SUPPORTED, new_cluster_features

LEVELS = """
7 3.3-IV3
8 3.4-IV0
9 3.5-IV0
10 3.5-IV1
11 3.5-IV2
12 3.6-IV0
13 3.6-IV1
14 3.6-IV2
15 3.7-IV0
16 3.7-IV1
17 3.7-IV2
18 3.7-IV3
19 3.7-IV4
20 3.8-IV0
21 3.9-IV0
22 4.0-IV0
23 4.0-IV1
24 4.0-IV2
25 4.0-IV3
26 4.1-IV0
27 4.1-IV1
28 4.2-IV0
29 4.2-IV1
30 4.3-IV0
31 4.4-IV0
32 4.4-IV1
33 4.4-IV2
"""

NAMES = {int(level): name for level, name in (line.split() for line in LEVELS.split("\n") if line)}
"""Level -> name."""

ELR_FROM = 23
"""The metadata.version from which eligible leader replicas can be enabled."""


def parse_level(text: str) -> int:
    """The level of a release (4.4), one of its steps (4.4-IV2) or a number (33). UsageError for any
    other text.
    """
    if text.isdecimal() and int(text) in NAMES:
        return int(text)
    found = [level for level, name in NAMES.items() if text in (name, name.partition("-")[0])]
    if not found:
        raise UsageError(f"{text} is no release of Kafka from {NAMES[7]} to {NAMES[max(NAMES)]}")
    return max(found)


def features_at_level(level: int, given: dict[str, int]) -> dict[str, int]:
    """The features of a new cluster with this metadata.version; `given` levels override the
    defaults. UsageError if they do not fit together.
    """
    features = {**new_cluster_features(level), **given}
    for name, value in features.items():
        if name not in SUPPORTED:
            raise UsageError(f"{name} is no feature: {', '.join(SUPPORTED)} are")
        low, high = SUPPORTED[name]
        if not low <= value <= high:
            raise UsageError(f"{name} goes from {low} to {high}: {value} does not")
    if features.get(ELR) and level < ELR_FROM:
        raise UsageError(f"{ELR} {features[ELR]} needs {METADATA_VERSION} {NAMES[ELR_FROM]}")
    return {name: value for name, value in features.items() if value}
