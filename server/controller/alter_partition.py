"""AlterPartition as a decision: a leader says which replicas are in sync with it (KIP-497, KIP-841, KIP-903, KIP-704).

A leader speaks of the partition as it knows it: one that knows less than the controller is told so; one that knows more makes the controller
doubt itself (NOT_CONTROLLER). A replica counts whose broker is registered, neither fenced nor shutting down, and, since version 3, still in
the life in which it fetched. What the leader says may end a reassignment, and its own leadership with it: NEW_LEADER_ELECTED, and it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.alter_partition import AlterPartitionRequest, AlterPartitionResponse
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord

from ..configs.settings import Settings
from ..metadata.controller_result import Decision
from ..metadata.fold_topics import NO_LEADER_CHANGE
from ..metadata.image import Image, PartitionImage, TopicImage
from ..requests.request import Refusal
from .broker_epochs import checked_broker
from .partition_change import RECOVERED, RECOVERING, Wish
from .partition_changes import Changes, Place, after

Asked = AlterPartitionRequest.PartitionData
Answered = AlterPartitionResponse.PartitionData
Result = AlterPartitionResponse.TopicData

EPOCHS_FROM = 3
"""The first version whose replicas stand with the epochs of their brokers (KIP-903)."""

ANY_EPOCH = -1


class InSync(NamedTuple):
    """A replica that is said to be in sync, and the epoch of its broker, or ANY_EPOCH."""

    broker: int
    epoch: int = ANY_EPOCH


class Claim(NamedTuple):
    """What a leader says of one partition."""

    image: Image
    partition: PartitionImage
    leader: int
    asked: Asked
    isr: Sequence[InSync]

    @property
    def brokers(self) -> list[int]:
        return [replica.broker for replica in self.isr]


def alter_isr(image: Image, settings: Settings, request: AlterPartitionRequest, version: int) -> Decision[Result]:
    """What AlterPartition does. Refusal(STALE_BROKER_EPOCH) for a broker that is not who it was."""
    checked_broker(image, request.broker_id, request.broker_epoch)
    changes = Changes(image, settings)
    records: list[PartitionChangeRecord] = []
    results = []
    for topic in request.topics:
        found = image.topic(topic.topic_id)
        answers = []
        for asked in topic.partitions:
            try:
                claim = _claim(image, found, request.broker_id, asked, version)
                made = _granted(changes, found, claim)
            except Refusal as refusal:
                answers.append(_failed(asked, refusal.code))
            else:
                records += made
                answers.append(_answered(image, claim, made))
        results.append(Result(topic_id=topic.topic_id, partitions=answers))
    return Decision(records, results)


def _claim(image: Image, topic: TopicImage | None, leader: int, asked: Asked, version: int) -> Claim:
    if topic is None:
        raise Refusal(error_codes.UNKNOWN_TOPIC_ID)
    partition = topic.partitions.get(asked.partition_index)
    if partition is None:
        raise Refusal(error_codes.UNKNOWN_TOPIC_OR_PARTITION)
    if version < EPOCHS_FROM:
        isr = [InSync(broker) for broker in asked.new_isr]
    else:
        isr = [InSync(state.broker_id, state.broker_epoch) for state in asked.new_isr_with_epochs]
    claim = Claim(image, partition, leader, asked, isr)
    for code, wrong in WRONG:
        if wrong(claim):
            raise Refusal(code)
    return claim


def _is_no_isr(claim: Claim) -> bool:
    brokers = claim.brokers
    strangers = set(brokers) - set(claim.partition.replicas)
    return bool(strangers) or len(set(brokers)) < len(brokers) or claim.leader not in brokers


def _recovers_wrongly(claim: Claim) -> bool:
    """A leader that recovers is alone in sync, and one that has recovered does not begin again."""
    recovers = claim.asked.leader_recovery_state == RECOVERING
    return recovers and (len(claim.isr) > 1 or claim.partition.leader_recovery_state == RECOVERED)


def _is_eligible(claim: Claim, replica: InSync) -> bool:
    broker = claim.image.brokers.get(replica.broker)
    return broker is not None and broker.active and replica.epoch in (ANY_EPOCH, broker.epoch)


WRONG: tuple[tuple[int, Callable[[Claim], bool]], ...] = (
    (error_codes.NOT_CONTROLLER, lambda claim: claim.asked.leader_epoch > claim.partition.leader_epoch),
    (error_codes.NOT_CONTROLLER, lambda claim: claim.asked.partition_epoch > claim.partition.partition_epoch),
    (error_codes.FENCED_LEADER_EPOCH, lambda claim: claim.asked.leader_epoch < claim.partition.leader_epoch),
    (error_codes.INVALID_REQUEST, lambda claim: claim.leader != claim.partition.leader),
    (error_codes.INVALID_UPDATE_VERSION, lambda claim: claim.asked.partition_epoch < claim.partition.partition_epoch),
    (error_codes.INVALID_REQUEST, _is_no_isr),
    (error_codes.INVALID_REQUEST, lambda claim: claim.asked.leader_recovery_state not in (RECOVERED, RECOVERING)),
    (error_codes.INVALID_REQUEST, _recovers_wrongly),
    (error_codes.INELIGIBLE_REPLICA, lambda claim: not all(_is_eligible(claim, replica) for replica in claim.isr)),
)
"""What may be wrong with a claim, in the order in which it is looked for."""


def _granted(changes: Changes, topic: TopicImage | None, claim: Claim) -> list[PartitionChangeRecord]:
    assert topic is not None
    wish = Wish(isr=claim.brokers, election=changes.election(topic), recovery=claim.asked.leader_recovery_state)
    return changes.change(Place(topic, claim.asked.partition_index), wish)


def _answered(image: Image, claim: Claim, made: Sequence[PartitionChangeRecord]) -> Answered:
    partition = claim.partition
    for record in made:
        if record.leader not in (claim.leader, NO_LEADER_CHANGE):
            return _failed(claim.asked, error_codes.NEW_LEADER_ELECTED)
        partition = after(image, [record]).topics[record.topic_id].partitions[record.partition_id]
    return Answered(
        partition_index=claim.asked.partition_index,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        isr=partition.isr,
        leader_recovery_state=partition.leader_recovery_state,
        partition_epoch=partition.partition_epoch,
    )


def _failed(asked: Asked, code: int) -> Answered:
    return Answered(partition_index=asked.partition_index, error_code=code)
