"""The clusters of the scenarios: each seed draws another of its kind. Small numbers everywhere, so
that segments and snapshots end often."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from kafkadouble.server.raft.snapshots.retention import SnapshotRetention
from kafkadouble.server.raft.snapshots.triggers import SnapshotTriggers

from .cluster import Shape


def shape(random: Random, *, least: int = 1, mixed: bool = True) -> Shape:
    return Shape(
        voters=random.choice([each for each in (1, 2, 3, 3, 4, 5) if each >= least]),
        observers=random.choice((0, 0, 0, 1, 2)),
        dynamic=random.random() < 0.3,
        mixed=mixed and random.random() < 0.25,
        rolls=random.random() < 0.3,
        linger=random.choice((25, 25, 0, 5)),
        retry_backoff=random.choice((20, 100, 300, 300)),
        **sizes(random),
    )


def sizes(random: Random) -> dict[str, Any]:
    """How many bytes are fetched at once, how often snapshots are written, and what is kept: small
    numbers make each happen often."""
    retention = random.choice(
        (
            SnapshotRetention(),
            SnapshotRetention(max_bytes=2500),
            SnapshotRetention(max_bytes=1),
            SnapshotRetention(max_lag_ms=3000),
        )
    )
    return {
        "fetch_bytes": random.choice(((1 << 20,), (1 << 20, 300, 1))),
        "chunk_bytes": random.choice(((1 << 20,), (1 << 20, 100, 700), (60, 100, 700))),
        "response_bytes": random.choice((None, None, 200)),
        "triggers": SnapshotTriggers(
            max_bytes=random.choice((20 << 20, 500, 1500, 4000)), max_interval_ms=random.choice((0, 2000))
        ),
        "retention": retention,
        "snapshot_batch": random.choice((1 << 17, 400)),
    }


def three(random: Random) -> Shape:
    return shape(random, least=3)


def three_alike(random: Random) -> Shape:
    return shape(random, least=3, mixed=False)


def five(random: Random) -> Shape:
    return shape(random, least=5)


def one(random: Random) -> Shape:
    return Shape(
        voters=1,
        observers=random.randint(0, 1),
        dynamic=random.random() < 0.5,
        linger=random.choice((0, 25)),
        **sizes(random),
    )


def forgetful(random: Random) -> Shape:
    """Snapshots are written all the time, and the log before them is deleted at once."""
    return replace(
        three(random),
        rolls=True,
        triggers=SnapshotTriggers(max_bytes=random.choice((300, 700))),
        retention=random.choice(
            (SnapshotRetention(max_bytes=1), SnapshotRetention(max_bytes=2500), SnapshotRetention(max_lag_ms=1000))
        ),
    )


def forgetful_static(random: Random) -> Shape:
    return replace(forgetful(random), dynamic=False)


def growing(random: Random) -> Shape:
    return Shape(
        voters=random.choice((1, 2, 3, 3)),
        observers=random.randint(1, 2),
        dynamic=True,
        rolls=random.random() < 0.5,
        **sizes(random),
    )


def hasty(random: Random) -> Shape:
    return replace(shape(random, least=3), election_timeout=30)


def upgraded(random: Random) -> Shape:
    return Shape(voters=random.choice((1, 2, 3)), observers=1, waiting=1, **sizes(random))


def moving(random: Random) -> Shape:
    return Shape(voters=3, observers=random.randint(0, 1), dynamic=True, **sizes(random))


def joining(random: Random) -> Shape:
    return Shape(voters=3, observers=random.randint(0, 1), dynamic=True, auto_join=True, **sizes(random))
