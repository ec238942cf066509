"""A simulated client that requests the start offsets of a share group, again and again
(DescribeShareGroupOffsets, KIP-932)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from kafkadouble.messages.generated.describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from kafkadouble.server.coordinator.coordinator_lookup import GROUP

from ...shape import TOPIC
from ...transactions.steps import Asked, SteppedClient, Steps
from ..modern_member import NAME
from . import promises

if TYPE_CHECKING:
    from .cluster import ShareGroupCluster

VERSION = 1
NOT_SET = -1


class StartOffsetReader(SteppedClient["ShareGroupCluster"]):
    """`starts` has the latest answer for each partition."""

    def __init__(self, cluster: ShareGroupCluster, id: int) -> None:
        super().__init__(cluster, id)
        self.starts: defaultdict[int, int] = defaultdict(lambda: NOT_SET)

    def steps(self) -> Steps:
        while True:
            yield from self._describe()
            yield self.random.randint(50, 600)

    def _describe(self) -> Steps:
        of = DescribeShareGroupOffsetsRequest
        topic = of.DescribeShareGroupOffsetsRequestTopic(topic_name=TOPIC, partitions=[*self.cluster.partitions])
        body = of(groups=[of.DescribeShareGroupOffsetsRequestGroup(group_id=NAME, topics=[topic])])
        to = yield from self.coordinator(GROUP, NAME)
        terms = self.cluster.terms(to)
        answer = yield Asked(to, body, VERSION)
        if answer is None or answer.groups[0].error_code:
            self.forget_coordinator(GROUP, NAME)
            yield from self.pause()
            return
        # A coordinator of the past does not know what its successor has written.
        if None in terms or terms != self.cluster.terms(to):
            return
        for partition in answer.groups[0].topics[0].partitions:
            if not partition.error_code:
                index, start = partition.partition_index, partition.start_offset
                promises.described_start_only_grows(self, index, self.starts[index], start)
                self.starts[index] = start

    def __repr__(self) -> str:
        return f"start offset reader {self.id} with {dict(self.starts)}"
