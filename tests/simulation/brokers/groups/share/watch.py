"""The watcher of a cluster with a share group: it also watches the coordinators' topics, and the
start offsets of share partitions."""

from __future__ import annotations

from collections.abc import Mapping

from kafkadouble.server.share.share_partition import SharePartition

from ...cluster import Cluster
from ...internal import InternalWatch
from ...member import Member
from . import promises


class ShareWatch(InternalWatch):
    """`_starts` has the latest start offset of every share partition that is or was."""

    def __init__(self, cluster: Cluster, topics: Mapping[str, int]) -> None:
        super().__init__(cluster, topics)
        self._starts: dict[SharePartition, int] = {}

    def look(self, member: Member) -> None:
        super().look(member)
        if member.node is None or not member.is_broker:
            return
        for each in member.node.share_partitions:
            if each.is_active:
                promises.belongs_to_its_leader(each, member.node.partitions.get(each.topic, each.key.partition))
                start, before = each.records.start_offset, self._starts.get(each, 0)
                if start < before:
                    promises.start_offset_only_grows(each, before)
                self._starts[each] = start
