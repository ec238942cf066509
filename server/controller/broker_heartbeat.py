"""BrokerHeartbeat, and the expiry of broker sessions (KIP-631, KIP-841, KIP-858, KIP-1066).

A broker is unfenced when it requests that and has read the metadata up to its own registration. A
broker in controlled shutdown may stop once it leads no partition and the active brokers have read
that. A broker whose session has expired is fenced, one broker at a time, so that each decision sees
the previous one. As in Kafka, an expired session or a stop writes the fencing records for an
already fenced broker again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kafkadouble.messages.generated.broker_heartbeat import BrokerHeartbeatRequest
from kafkadouble.messages.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ..configs.settings import Settings
from ..metadata.image import BrokerImage, Image
from ..metadata.record_versions import CORDONED, level_of
from ..metadata.replay import replay
from . import broker_changes
from .broker_context import BrokerContext
from .broker_control_state import BrokerControlState, BrokerStateRequest, next_state
from .broker_epochs import checked_broker
from .broker_heartbeat_manager import NO_OFFSET, BrokerHeartbeatManager, BrokerHeartbeatState

TRANSITION_RECORDS: dict[BrokerControlState, Callable[[Image, int, Settings], list[Message]]] = {
    BrokerControlState.FENCED: broker_changes.handle_broker_fenced,
    BrokerControlState.UNFENCED: broker_changes.handle_broker_unfenced,
    BrokerControlState.CONTROLLED_SHUTDOWN: broker_changes.handle_broker_in_controlled_shutdown,
    BrokerControlState.SHUTDOWN_NOW: broker_changes.handle_broker_fenced,
}
"""The records for the transition to each state."""


class BrokerHeartbeatResult(NamedTuple):
    """The records of a heartbeat, the broker's state after them, and whether it has read its
    registration.
    """

    records: list[Message]
    state: BrokerControlState
    caught_up: bool


def process_broker_heartbeat(context: BrokerContext, body: BrokerHeartbeatRequest) -> BrokerHeartbeatResult:
    """Handles BrokerHeartbeat. Refusal(STALE_BROKER_EPOCH)."""
    image, heartbeats = context.image, context.heartbeats
    broker = checked_broker(image, body.broker_id, body.broker_epoch)
    heartbeats.touch(broker, context.now)
    known = heartbeats.of(broker)
    caught_up = body.current_metadata_offset >= known.registration_offset
    before = control_state_of(broker, known)
    target = BrokerStateRequest(
        body.want_fence,
        body.want_shut_down,
        caught_up,
        lambda: broker_changes.leads_partitions(image, broker.id),
        lambda: heartbeats.active_brokers_have_read(image, known.controlled_shutdown_offset),
    )
    state = next_state(before, target)
    records = [] if state is before else TRANSITION_RECORDS[state](image, broker.id, context.settings)
    records += _directory_records(context, records, known, body)
    changed = any(isinstance(record, BrokerRegistrationChangeRecord) for record in records)
    known.metadata_offset = (
        NO_OFFSET if changed else body.current_metadata_offset
    )  # As in Kafka, unknown until the next heartbeat.
    if state is not BrokerControlState.CONTROLLED_SHUTDOWN:
        known.controlled_shutdown_offset = NO_OFFSET
    elif known.controlled_shutdown_offset == NO_OFFSET:
        known.controlled_shutdown_offset = context.end + len(records) - 1
    return BrokerHeartbeatResult(records, state, caught_up)


def control_state_of(broker: BrokerImage, known: BrokerHeartbeatState) -> BrokerControlState:
    """The state of a broker."""
    if broker.fenced:
        return BrokerControlState.FENCED
    return (
        BrokerControlState.UNFENCED
        if known.controlled_shutdown_offset == NO_OFFSET
        else BrokerControlState.CONTROLLED_SHUTDOWN
    )


def _directory_records(
    context: BrokerContext, done: Sequence[Message], known: BrokerHeartbeatState, body: BrokerHeartbeatRequest
) -> list[Message]:
    """Records for the directories in the heartbeat, based on the image after the records `done`."""
    image = context.image
    if not body.offline_log_dirs and body.cordoned_log_dirs is None:
        return []
    for record in done:
        image = replay(image, record)
    lost = broker_changes.handle_directories_offline(image, body.broker_id, context.settings, body.offline_log_dirs)
    return [*lost, *_cordoned_directory_records(image, image.brokers[body.broker_id], known, body.cordoned_log_dirs)]


def _cordoned_directory_records(
    image: Image, broker: BrokerImage, known: BrokerHeartbeatState, reported: Sequence[Uuid] | None
) -> list[Message]:
    """As in Kafka, the first report is written even if no directory is cordoned."""
    if reported is None or level_of(image) < CORDONED:
        return []
    first, known.cordoned_reported = not known.cordoned_reported, True
    if first and not reported and not broker.cordoned_log_dirs:
        return [BrokerRegistrationChangeRecord(broker_id=broker.id, broker_epoch=broker.epoch, cordoned_log_dirs=[])]
    return broker_changes.handle_directories_cordoned(image, broker.id, reported)


def fence_one_stale_broker(
    image: Image, settings: Settings, heartbeats: BrokerHeartbeatManager, now: int
) -> list[Message]:
    """Records that fence one broker with an expired session. Call it again with the image after
    them until it returns none.
    """
    silent = heartbeats.take_one_stale_broker(image, now)
    return [] if silent is None else broker_changes.handle_broker_fenced(image, silent.id, settings)
