"""A second implementation of Apache Kafka 4.4's broker heartbeats, built as Kafka is: contacts by
broker and epoch, a manager that sees every replayed record, and the active brokers by their
offsets. It makes no records.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kafkadouble.server.metadata.image import Image

FENCED, UNFENCED, LEAVING, GONE = "FENCED", "UNFENCED", "CONTROLLED_SHUTDOWN", "SHUTDOWN_NOW"
NO_OFFSET = 2**63 - 1


class Soft:
    """What the manager keeps of one broker."""

    def __init__(self, fenced: bool) -> None:
        self.fenced, self.offset, self.shutdown = fenced, -1, -1


class Heartbeat(NamedTuple):
    broker: int
    epoch: int
    offset: int
    fence: bool
    stop: bool


class Witness:
    def __init__(self, image: Image, session_ms: int, now: int) -> None:
        self.session_ms = session_ms
        self.contacts = {(broker.id, broker.epoch): now for broker in image.brokers.values() if not broker.fenced}
        self.brokers = {broker.id: Soft(broker.fenced) for broker in image.brokers.values()}
        self.registered_at = dict.fromkeys(image.brokers, image.end.offset - 1)

    def contact(self, broker: int, epoch: int, now: int) -> None:
        self.contacts[broker, epoch] = now

    def has_session(self, broker: int, epoch: int, now: int) -> bool:
        at = self.contacts.get((broker, epoch))
        return at is not None and at + self.session_ms >= now

    def next(self, heartbeat: Heartbeat, leads: bool) -> str:
        broker = self.brokers[heartbeat.broker]
        state = LEAVING if broker.shutdown >= 0 else FENCED if broker.fenced else UNFENCED
        if state == FENCED and heartbeat.stop:
            return GONE
        if state == FENCED:
            return UNFENCED if not heartbeat.fence and self.caught_up(heartbeat) else FENCED
        if state == UNFENCED and heartbeat.stop:
            return LEAVING if leads and not heartbeat.fence else GONE
        if state == UNFENCED:
            return FENCED if heartbeat.fence else UNFENCED
        if leads or broker.shutdown > self.lowest_active():
            return LEAVING
        return GONE

    def caught_up(self, heartbeat: Heartbeat) -> bool:
        return heartbeat.offset >= self.registered_at[heartbeat.broker]

    def lowest_active(self) -> int:
        return min(
            (each.offset for each in self.brokers.values() if not each.fenced and each.shutdown < 0), default=NO_OFFSET
        )

    def touch(self, broker: int, fenced: bool, offset: int) -> None:
        soft = self.brokers[broker]
        soft.fenced, soft.offset = fenced, offset
        if fenced:
            soft.shutdown = -1

    def left_at(self, broker: int, offset: int) -> None:
        """A batch that begins, or goes on with, its shutdown ends at `offset`."""
        if self.brokers[broker].shutdown < 0:
            self.brokers[broker].shutdown = offset

    def expired(self, image: Image, now: int) -> set[int]:
        """The brokers that are to be fenced."""
        over = [key for key, at in self.contacts.items() if at + self.session_ms < now]
        found = set()
        for broker, epoch in over:
            del self.contacts[broker, epoch]
            if broker in image.brokers and image.brokers[broker].epoch == epoch:
                self.brokers[broker].fenced = True
                found.add(broker)
        return found

    def replay(self, record: Any, offset: int, image: Image) -> None:
        """A record at `offset`, after which the image is this."""
        kind = type(record).__name__
        if kind == "RegisterBrokerRecord":
            self.registered_at[record.broker_id] = offset
            self.brokers[record.broker_id] = Soft(record.fenced)
        elif kind == "UnregisterBrokerRecord":
            del self.brokers[record.broker_id], self.registered_at[record.broker_id]
        elif kind == "BrokerRegistrationChangeRecord":
            soft, fenced = self.brokers[record.broker_id], image.brokers[record.broker_id].fenced
            self.touch(record.broker_id, fenced, soft.offset if soft.fenced != fenced else -1)
