"""AlterPartition: a leader proposes the in-sync replicas of its partition (KIP-497, KIP-841,
KIP-903, KIP-704).

The leader names the epochs of the partition that it knows. If they are older than the controller's,
the request is refused as fenced; if they are newer, this controller may be out of date and answers
NOT_CONTROLLER. A replica is eligible if its broker is registered, is neither fenced nor in
controlled shutdown, and, from version 3 on, still has the broker epoch that the leader names. The
new ISR may complete a reassignment, and that may move the leadership: the answer is then
NEW_LEADER_ELECTED, and the change is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_partition import AlterPartitionRequest, AlterPartitionResponse
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord

from ..configs.settings import Settings
from ..metadata.image import Image, PartitionImage, TopicImage
from ..metadata.replay_topics import NO_LEADER_CHANGE
from ..requests.request import Refusal
from .broker_epochs import checked_broker
from .controller_result import ControllerResult
from .partition_change_builder import RECOVERED, RECOVERING, PartitionTarget
from .partition_changes import ImagePartition, PartitionChanges, apply_changes

PartitionRequest = AlterPartitionRequest.PartitionData
PartitionResponse = AlterPartitionResponse.PartitionData
Result = AlterPartitionResponse.TopicData

BROKER_EPOCHS_FROM = 3
"""The first version that names the broker epoch of each replica (KIP-903)."""

ANY_EPOCH = -1


class IsrMember(NamedTuple):
    """A replica of a proposed ISR, and the epoch of its broker or ANY_EPOCH."""

    broker: int
    epoch: int = ANY_EPOCH


class IsrProposal(NamedTuple):
    """The state that a leader proposes for one partition."""

    image: Image
    partition: PartitionImage
    leader: int
    requested: PartitionRequest
    isr: Sequence[IsrMember]

    @property
    def brokers(self) -> list[int]:
        return [replica.broker for replica in self.isr]


def alter_partition(
    image: Image, settings: Settings, request: AlterPartitionRequest, version: int
) -> ControllerResult[Result]:
    """Handles AlterPartition. Refusal(STALE_BROKER_EPOCH) if the broker has registered again
    since.
    """
    checked_broker(image, request.broker_id, request.broker_epoch)
    changes = PartitionChanges(image, settings)
    records: list[PartitionChangeRecord] = []
    results = []
    for topic in request.topics:
        found = image.topic(topic.topic_id)
        answers = []
        for requested in topic.partitions:
            try:
                proposal = _checked_proposal(image, found, request.broker_id, requested, version)
                new_records = _isr_records(changes, found, proposal)
            except Refusal as refusal:
                answers.append(_partition_error(requested, refusal.code))
            else:
                records += new_records
                answers.append(_partition_response(image, proposal, new_records))
        results.append(Result(topic_id=topic.topic_id, partitions=answers))
    return ControllerResult(records, results)


def _checked_proposal(
    image: Image, topic: TopicImage | None, leader: int, requested: PartitionRequest, version: int
) -> IsrProposal:
    if topic is None:
        raise Refusal(error_codes.UNKNOWN_TOPIC_ID)
    partition = topic.partitions.get(requested.partition_index)
    if partition is None:
        raise Refusal(error_codes.UNKNOWN_TOPIC_OR_PARTITION)
    if version < BROKER_EPOCHS_FROM:
        isr = [IsrMember(broker) for broker in requested.new_isr]
    else:
        isr = [IsrMember(state.broker_id, state.broker_epoch) for state in requested.new_isr_with_epochs]
    proposal = IsrProposal(image, partition, leader, requested, isr)
    for code, wrong in PROPOSAL_CHECKS:
        if wrong(proposal):
            raise Refusal(code)
    return proposal


def _is_invalid_isr(proposal: IsrProposal) -> bool:
    brokers = proposal.brokers
    not_replicas = set(brokers) - set(proposal.partition.replicas)
    return bool(not_replicas) or len(set(brokers)) < len(brokers) or proposal.leader not in brokers


def _has_invalid_recovery_state(proposal: IsrProposal) -> bool:
    """A recovering leader must be alone in the ISR, and a recovered leader cannot start to
    recover.
    """
    recovers = proposal.requested.leader_recovery_state == RECOVERING
    return recovers and (len(proposal.isr) > 1 or proposal.partition.leader_recovery_state == RECOVERED)


def _is_eligible(proposal: IsrProposal, replica: IsrMember) -> bool:
    broker = proposal.image.brokers.get(replica.broker)
    return broker is not None and broker.active and replica.epoch in (ANY_EPOCH, broker.epoch)


PROPOSAL_CHECKS: tuple[tuple[int, Callable[[IsrProposal], bool]], ...] = (
    (error_codes.NOT_CONTROLLER, lambda p: p.requested.leader_epoch > p.partition.leader_epoch),
    (error_codes.NOT_CONTROLLER, lambda p: p.requested.partition_epoch > p.partition.partition_epoch),
    (error_codes.FENCED_LEADER_EPOCH, lambda p: p.requested.leader_epoch < p.partition.leader_epoch),
    (error_codes.INVALID_REQUEST, lambda p: p.leader != p.partition.leader),
    (error_codes.INVALID_UPDATE_VERSION, lambda p: p.requested.partition_epoch < p.partition.partition_epoch),
    (error_codes.INVALID_REQUEST, _is_invalid_isr),
    (error_codes.INVALID_REQUEST, lambda p: p.requested.leader_recovery_state not in (RECOVERED, RECOVERING)),
    (error_codes.INVALID_REQUEST, _has_invalid_recovery_state),
    (error_codes.INELIGIBLE_REPLICA, lambda p: not all(_is_eligible(p, replica) for replica in p.isr)),
)
"""The error for each thing that may be wrong with a proposal, in the order of the checks."""


def _isr_records(
    changes: PartitionChanges, topic: TopicImage | None, proposal: IsrProposal
) -> list[PartitionChangeRecord]:
    assert topic is not None
    target = PartitionTarget(
        isr=proposal.brokers, election=changes.election(topic), recovery=proposal.requested.leader_recovery_state
    )
    return changes.change(ImagePartition(topic, proposal.requested.partition_index), target)


def _partition_response(
    image: Image, proposal: IsrProposal, new_records: Sequence[PartitionChangeRecord]
) -> PartitionResponse:
    partition = proposal.partition
    for record in new_records:
        if record.leader not in (proposal.leader, NO_LEADER_CHANGE):
            return _partition_error(proposal.requested, error_codes.NEW_LEADER_ELECTED)
        partition = apply_changes(image, [record]).topics[record.topic_id].partitions[record.partition_id]
    return PartitionResponse(
        partition_index=proposal.requested.partition_index,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        isr=partition.isr,
        leader_recovery_state=partition.leader_recovery_state,
        partition_epoch=partition.partition_epoch,
    )


def _partition_error(requested: PartitionRequest, code: int) -> PartitionResponse:
    return PartitionResponse(partition_index=requested.partition_index, error_code=code)
