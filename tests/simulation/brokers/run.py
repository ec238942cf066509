"""One seed of the brokers, from its beginning to its end."""

from __future__ import annotations

from random import Random

from ..outcome import Outcome, played
from ..world import World
from .cluster import Cluster
from .groups.cluster import GroupCluster
from .groups.consumer_cluster import ConsumerGroupCluster
from .groups.share.cluster import ShareGroupCluster
from .groups.streams.cluster import StreamsGroupCluster
from .rounds import SCENARIOS, scenario_of
from .shape import Shape
from .traffic import most_per_second
from .transactions.cluster import TransactionalCluster


def kind_of(shape: Shape) -> type[Cluster]:
    kinds = {
        TransactionalCluster: shape.transactional,
        ConsumerGroupCluster: shape.group_members,
        ShareGroupCluster: shape.share_members,
        StreamsGroupCluster: shape.streams_members,
    }
    return next((kind for kind, clients in kinds.items() if clients), Cluster)


def run(seed: int, *, tracing: bool = False, scenario: str | None = None) -> Outcome:
    """Plays the scenario of this seed, or another one."""
    name = scenario or scenario_of(seed)
    made, play = SCENARIOS[name]
    shape = made(Random(seed))
    world = World(seed, tracing=tracing, most_per_second=most_per_second(shape))
    cluster = kind_of(shape)(world, shape)
    watch = cluster.watch
    world.note("seed {}, {}: {!r}", seed, name, cluster.shape)

    def whole() -> None:
        cluster.begin()
        play(cluster)
        cluster.recover()

    def figures() -> dict[str, int]:
        found = {
            "crashes": watch.deaths,
            "elections": watch.elections,
            "records acknowledged": sum(producer.acknowledged for producer in cluster.producers),
            "tails cut": watch.truncations,
            "committed records lost where the rules allow it": watch.losses,
        }
        return found | (cluster.figures() if isinstance(cluster, TransactionalCluster | GroupCluster) else {})

    return played(world, name, whole, figures)
