"""Asks a controller for its quorum, by a plain DescribeQuorum on the controller's own listener,
without a broker in between."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kafkadouble.messages.generated.describe_quorum import DescribeQuorumRequest
from kafkadouble.messages.message import Message
from tests.support.client import Address, ask

VERSION = 2


class Quorum(NamedTuple):
    """The quorum as its leader sees it. `ends`: the end offset of each voter's and observer's log,
    by id."""

    leader: int
    epoch: int
    high_watermark: int
    voters: tuple[int, ...]
    observers: tuple[int, ...]
    ends: Mapping[int, int]


def described(at: Address, version: int = VERSION) -> Quorum | None:
    """The quorum; None if the controller does not lead, or does not answer."""
    of = DescribeQuorumRequest
    topic = of.TopicData(topic_name="__cluster_metadata", partitions=[of.PartitionData()])
    answer = answer_of(at, of(topics=[topic]), version)
    if answer is None or answer.error_code or not answer.topics:
        return None
    found = answer.topics[0].partitions[0]
    if found.error_code:
        return None
    voters, observers = found.current_voters, found.observers
    return Quorum(
        found.leader_id,
        found.leader_epoch,
        found.high_watermark,
        tuple(sorted(voter.replica_id for voter in voters)),
        tuple(sorted(observer.replica_id for observer in observers)),
        {voter.replica_id: voter.log_end_offset for voter in (*voters, *observers)},
    )


def answer_of(at: Address, body: Message, version: int) -> Any:
    """The answer; None if there is none, since the node is starting or ending."""
    try:
        return ask(at, body, version)
    except (OSError, AssertionError):
        return None
