"""The settings and the offsets of share groups (KIP-932), as brokers answer. The requests are
written here and go to one broker each."""

from __future__ import annotations

from typing import NamedTuple

from interop.controllers.admin import alter_configs
from interop.controllers.plan import named
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from tests.support.client import ask
from tests.support.waiting import eventually

GROUP_RESOURCE = 32


class ShareOffset(NamedTuple):
    """The first offset that a share group has not finished, and its lag; -1 if unknown."""

    start: int
    lag: int


def configure(bootstrap: str, group: str, **settings: str) -> None:
    """Sets settings of a group by their Kafka names with `_` for `.`."""
    response = alter_configs(bootstrap, GROUP_RESOURCE, group, named(settings))
    assert response.error_code == 0, response


def offsets(bootstrap: str, group: str, topic: str) -> dict[int, ShareOffset]:
    """The offsets of the group by partition, as its coordinator has them; none while it is
    unknown or loads the group."""
    (found,) = ask(bootstrap, FindCoordinatorRequest(coordinator_keys=[group]), 4).coordinators
    if found.error_code:
        return {}
    of = DescribeShareGroupOffsetsRequest
    body = of(groups=[of.DescribeShareGroupOffsetsRequestGroup(group_id=group, topics=None)])
    (described,) = ask(f"{found.host}:{found.port}", body, 1).groups
    if described.error_code:
        return {}
    return {
        each.partition_index: ShareOffset(each.start_offset, each.lag)
        for of_topic in described.topics
        for each in of_topic.partitions
        if of_topic.topic_name == topic and each.error_code == error_codes.NONE
    }


def await_finished(bootstrap: str, group: str, topic: str, ends: dict[int, int]) -> None:
    """Waits until the group has finished every record before these offsets. The start offset that
    is stored is the one before the last acknowledgement, so it may be less; the lag is exact."""

    def finished(offsets: dict[int, ShareOffset]) -> bool:
        return offsets.keys() == ends.keys() and all(
            offset.lag == 0 and offset.start <= ends[at] for at, offset in offsets.items()
        )

    eventually(lambda: offsets(bootstrap, group, topic), finished)
