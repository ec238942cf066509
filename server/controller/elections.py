"""ElectLeaders (KIP-183, KIP-460), and the elections that the active controller holds periodically.

A preferred election makes the first replica the leader; an unclean election gives a leaderless
partition to any live replica. ELECTION_NOT_NEEDED is left out of the answer if the request names
all partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.messages.message import Message

from ..configs.settings import Settings
from ..metadata.image import Image, PartitionImage
from ..requests.request import Refusal
from ..requests.slices import ordered
from ..requests.waiting import OTHERS_FIRST, Slices, Wait
from .controller_result import ControllerResult
from .leader_election import NO_LEADER, Election
from .partition_change_builder import PartitionTarget
from .partition_changes import ImagePartition, PartitionChanges, partitions_where, unclean_election_enabled

Result = ElectLeadersResponse.ReplicaElectionResult
PartitionResult = ElectLeadersResponse.PartitionResult

MAX_ELECTIONS_PER_IMBALANCE = 1000
"""The most elections in one pass of the active controller (Kafka's `maxElectionsPerImbalance`)."""

ELECTION_TYPES = {0: Election.PREFERRED, 1: Election.UNCLEAN}
"""The election types of ElectLeaders."""

FAILURES = {
    Election.PREFERRED: error_codes.PREFERRED_LEADER_NOT_AVAILABLE,
    Election.UNCLEAN: error_codes.ELIGIBLE_LEADERS_NOT_AVAILABLE,
}
"""The error if no replica can win the election."""


def elect_leaders(image: Image, settings: Settings, request: ElectLeadersRequest) -> Wait[ControllerResult[Result]]:
    """Handles ElectLeaders, in slices. Refusal(INVALID_REQUEST) for an unknown election type."""
    kind = ELECTION_TYPES.get(request.election_type)
    if kind is None:
        raise Refusal(error_codes.INVALID_REQUEST, f"Unknown election type {request.election_type}")
    changes, slices = PartitionChanges(image, settings), Slices()
    records: list[Message] = []
    results = []
    names = (yield from ordered(image.topic_ids)) if request.topic_partitions is None else ()
    for name, indexes in _requested_partitions(image, request.topic_partitions or (), names):
        answers = []
        if slices.end():
            yield OTHERS_FIRST
        for index in indexes:
            if slices.end():
                yield OTHERS_FIRST
            try:
                records += _elect_leader(image, changes, name, index, kind)
            except Refusal as refusal:
                answers.append(_result(index, refusal.code, refusal.message))
            else:
                answers.append(_result(index))
        if request.topic_partitions is None:
            answers = [answer for answer in answers if answer.error_code != error_codes.ELECTION_NOT_NEEDED]
        results.append(Result(topic=name, partition_result=answers))
    return ControllerResult(records, results).checked()


def _requested_partitions(
    image: Image, requested: Iterable[ElectLeadersRequest.TopicPartitions], names: Iterable[str]
) -> Iterator[tuple[str, Iterable[int]]]:
    """The requested partitions, and all partitions of the requested topics."""
    for topic in requested:
        yield topic.topic, topic.partitions
    for name in names:
        yield name, (index for index, _ in image.topics[image.topic_ids[name]].in_order())


def _elect_leader(
    image: Image, changes: PartitionChanges, name: str, index: int, kind: Election
) -> list[PartitionChangeRecord]:
    topic = image.topic_named(name)
    if topic is None:
        raise Refusal(error_codes.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {name}")
    partition = topic.partitions.get(index)
    if partition is None:
        raise Refusal(error_codes.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {name}-{index}")
    if not ELECTION_NEEDED[kind](partition):
        raise _refusal(error_codes.ELECTION_NOT_NEEDED)
    records = changes.change(ImagePartition(topic, index), PartitionTarget(election=kind))
    if not records:
        raise _refusal(FAILURES[kind])
    return records


def _refusal(code: int) -> Refusal:
    return Refusal(code, error_codes.meaning(code))


def _result(index: int, code: int = error_codes.NONE, message: str | None = None) -> PartitionResult:
    return PartitionResult(partition_id=index, error_code=code, error_message=message)


def _has_non_preferred_leader(partition: PartitionImage) -> bool:
    return partition.leader != partition.replicas[0]


def _is_leaderless(partition: PartitionImage) -> bool:
    return partition.leader == NO_LEADER


ELECTION_NEEDED: dict[Election, Callable[[PartitionImage], bool]] = {
    Election.PREFERRED: _has_non_preferred_leader,
    Election.UNCLEAN: _is_leaderless,
}
"""Which partitions need an election of each type."""


def balance_partition_leaders(image: Image, settings: Settings) -> list[PartitionChangeRecord]:
    """Records that make preferred replicas the leaders again; none unless
    `auto.leader.rebalance.enable`.

    Called every `leader.imbalance.check.interval.seconds`. At most MAX_ELECTIONS_PER_IMBALANCE
    records: call it again until there are none.
    """
    if not settings.bool("auto.leader.rebalance.enable"):
        return []
    return _limited_elections(
        PartitionChanges(image, settings), partitions_where(image, _has_non_preferred_leader), Election.PREFERRED
    )


def elect_unclean_leaders(image: Image, settings: Settings) -> list[PartitionChangeRecord]:
    """Records that give leaderless partitions to any live replica, where the topic sets
    `unclean.leader.election.enable`.

    Called every `unclean.leader.election.interval.ms`. At most MAX_ELECTIONS_PER_IMBALANCE records:
    call it again until there are none.
    """
    leaderless = partitions_where(image, _is_leaderless)
    allowed = (place for place in leaderless if unclean_election_enabled(image, settings, place.topic))
    return _limited_elections(PartitionChanges(image, settings), allowed, Election.UNCLEAN)


def _limited_elections(
    changes: PartitionChanges, of: Iterable[ImagePartition], kind: Election
) -> list[PartitionChangeRecord]:
    new_records = (record for partition in of for record in changes.change(partition, PartitionTarget(election=kind)))
    return list(islice(new_records, MAX_ELECTIONS_PER_IMBALANCE))
