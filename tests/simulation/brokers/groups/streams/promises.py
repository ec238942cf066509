"""The promises of streams groups besides those of all groups with owners. Each is a small function
that raises Broken, and states the sentence of the KIP that is broken."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafkadouble.server.metadata.image import TopicImage

from ....world import Broken

if TYPE_CHECKING:
    from .member import StreamsMember


def internal_topic_fits(name: str, topic: TopicImage | None, count: int) -> None:
    """KIP-1071: the broker creates the internal topics of a topology, with the numbers of
    partitions that follow from its source topics."""
    if topic is None or len(topic.partitions) != count:
        raise Broken(f"the internal topic {name} should have {count} partitions, and is {topic}")


def copies_are_elsewhere(member: StreamsMember, members: Iterable[StreamsMember]) -> None:
    """KIP-1071: a standby copy of a task is not in the process that runs the task."""
    here = set().union(*(other.using for other in members if other.process == member.process))
    if here & member.running["standby"]:
        raise Broken(f"{member!r} has a standby copy of a task that its process runs")
