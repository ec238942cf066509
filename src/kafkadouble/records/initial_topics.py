"""The topics of `serve --topic NAME[:PARTITIONS[:REPLICAS]]`, which are there from the start."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kafkadouble.engine.cluster_api import ClusterApi

LOOK_S = 0.001
BY_DEFAULT = -1
"""As many replicas as `default.replication.factor` says."""


class InitialTopic(NamedTuple):
    """A topic that is created unless it exists. Without a number of partitions it has one, and an
    existing one may have any.
    """

    name: str
    partitions: int | None = None
    replicas: int = BY_DEFAULT

    def __str__(self) -> str:
        numbers = [self.partitions] if self.replicas == BY_DEFAULT else [self.partitions, self.replicas]
        return ":".join([self.name, *(str(number) for number in numbers if number is not None)])


def parse(text: str) -> InitialTopic:
    """The topic of one --topic."""
    name, *numbers = text.split(":")
    if not name or len(numbers) > 2 or not all(number.isdecimal() and int(number) > 0 for number in numbers):
        problem = f"{text!r} is not NAME or NAME:PARTITIONS or NAME:PARTITIONS:REPLICAS, with at least one of each"
        raise argparse.ArgumentTypeError(problem)
    return InitialTopic(name, *map(int, numbers))


async def create(broker: ClusterApi, topics: Iterable[InitialTopic]) -> None:
    """Creates the topics that do not exist yet. KafkaError for one that is there with another
    number of partitions."""
    import asyncio  # seldom needed

    for topic in topics:
        from . import seeding  # with topics alone

        if _is_there(broker, topic):
            continue
        creation = broker.ask(seeding.to_create(topic.name, topic.partitions or 1, {}, topic.replicas))
        # A cancelled wait does not cancel the request.
        answer = await asyncio.shield(asyncio.wrap_future(creation))
        if not _is_there(broker, topic):
            seeding.check_topics(answer.topics)
        # Until a broker with a remote controller has replayed the record.
        while not _is_there(broker, topic):
            await asyncio.sleep(LOOK_S)


def _is_there(broker: ClusterApi, topic: InitialTopic) -> bool:
    found = broker.image.topic_named(topic.name)
    if found is None:
        return False
    if topic.partitions is not None and len(found.partitions) != topic.partitions:
        from kafkadouble.common.errors import KafkaError  # for an error alone
        from kafkadouble.messages import error_codes  # for an error alone

        problem = f"--topic {topic}: the topic is there already, with {len(found.partitions)} partitions"
        raise KafkaError(error_codes.INVALID_PARTITIONS, problem)
    return True
