"""What a heartbeat of a broker decides, and what the silence of one does (KIP-631, KIP-841, KIP-858, KIP-1066).

Rules. A broker is unfenced when it asks for it and has read the metadata up to its own registration. One that shuts down goes when it leads
nothing any more and the active brokers have read so. One that is silent for longer than its session is fenced, one broker at a time, so that
what that changed is seen when the next is judged. A broker that is fenced already is fenced again by its silence, or when it goes, as in Kafka.
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
from ..metadata.replay import replay
from ..metadata.versions import CORDONED, level_of
from . import broker_changes
from .broker_context import Situation
from .broker_epochs import checked_broker
from .broker_heartbeat_manager import UNKNOWN, Heartbeats, Known
from .broker_states import State, Wish, next_state

MOVES: dict[State, Callable[[Image, int, Settings], list[Message]]] = {
    State.FENCED: broker_changes.fenced,
    State.UNFENCED: broker_changes.unfenced,
    State.CONTROLLED_SHUTDOWN: broker_changes.shutting_down,
    State.SHUT_DOWN_NOW: broker_changes.fenced,
}
"""What it takes to come to a state."""


class Beat(NamedTuple):
    """The records of a heartbeat, the state of its broker after them, and whether it has read up to its registration."""

    records: list[Message]
    state: State
    caught_up: bool


def beat(situation: Situation, body: BrokerHeartbeatRequest) -> Beat:
    """What a heartbeat does. Refusal(STALE_BROKER_EPOCH)."""
    image, heartbeats = situation.image, situation.heartbeats
    broker = checked_broker(image, body.broker_id, body.broker_epoch)
    heartbeats.heard(broker, situation.now)
    known = heartbeats.of(broker)
    caught_up = body.current_metadata_offset >= known.registered_at
    before = state_of(broker, known)
    wish = Wish(
        body.want_fence,
        body.want_shut_down,
        caught_up,
        lambda: broker_changes.leads_something(image, broker.id),
        lambda: heartbeats.read_by_active(image, known.shutdown_offset),
    )
    state = next_state(before, wish)
    records = [] if state is before else MOVES[state](image, broker.id, situation.settings)
    records += _directories(situation, records, known, body)
    changed = any(isinstance(record, BrokerRegistrationChangeRecord) for record in records)
    known.metadata_offset = (
        UNKNOWN if changed else body.current_metadata_offset
    )  # Kafka forgets it, until it is told again
    _note_shutdown(known, state, situation.end + len(records) - 1)
    return Beat(records, state, caught_up)


def state_of(broker: BrokerImage, known: Known) -> State:
    """The state that a broker is in."""
    if broker.fenced:
        return State.FENCED
    return State.UNFENCED if known.shutdown_offset == UNKNOWN else State.CONTROLLED_SHUTDOWN


def _directories(
    situation: Situation, done: Sequence[Message], known: Known, body: BrokerHeartbeatRequest
) -> list[Message]:
    """What it tells of its directories, on the image as the records `done` make it."""
    image = situation.image
    if not body.offline_log_dirs and body.cordoned_log_dirs is None:
        return []
    for record in done:
        image = replay(image, record)
    lost = broker_changes.directories_failed(image, body.broker_id, situation.settings, body.offline_log_dirs)
    return [*lost, *_cordoned(image, image.brokers[body.broker_id], known, body.cordoned_log_dirs)]


def _cordoned(image: Image, broker: BrokerImage, known: Known, told: Sequence[Uuid] | None) -> list[Message]:
    """The first time it tells is written down also when it tells of none, as in Kafka."""
    if told is None or level_of(image) < CORDONED:
        return []
    first, known.told_cordoned = not known.told_cordoned, True
    if first and not told and not broker.cordoned_log_dirs:
        return [BrokerRegistrationChangeRecord(broker_id=broker.id, broker_epoch=broker.epoch, cordoned_log_dirs=[])]
    return broker_changes.directories_cordoned(image, broker.id, told)


def _note_shutdown(known: Known, state: State, offset: int) -> None:
    if state is not State.CONTROLLED_SHUTDOWN:
        known.shutdown_offset = UNKNOWN
    elif known.shutdown_offset == UNKNOWN:
        known.shutdown_offset = offset


def due(image: Image, settings: Settings, heartbeats: Heartbeats, now: int) -> list[Message]:
    """The records that fence one broker whose session is over. Ask again, with the image after them, until there are none."""
    silent = heartbeats.take_expired(image, now)
    return [] if silent is None else broker_changes.fenced(image, silent.id, settings)
