"""Tracks the heartbeats of brokers: soft state of the active controller that is in no record
(KIP-631, KIP-841).

Each active controller starts with a new one: a broker that the image shows as unfenced gets a full
session from then on. The state belongs to one registration; a new broker epoch starts empty.
Whether a broker is fenced is in the image only. This file decides nothing and writes no record.
"""

from __future__ import annotations

from ..metadata.image import BrokerImage, Image

NO_OFFSET = -1
"""The offset is not known, or there is none."""


class BrokerHeartbeatState:
    """The state of one registration. A broker is caught up once it has read
    `registration_offset`.
    """

    __slots__ = (
        "controlled_shutdown_offset",
        "cordoned_reported",
        "epoch",
        "last_contact_ms",
        "metadata_offset",
        "registration_offset",
    )

    def __init__(self, epoch: int, registration_offset: int, *, cordoned_reported: bool = False) -> None:
        self.epoch, self.registration_offset = epoch, registration_offset
        # the broker has reported its cordoned directories, possibly none
        self.cordoned_reported = cordoned_reported
        self.last_contact_ms: int | None = None  # None without a session
        self.metadata_offset = NO_OFFSET
        # >= 0 in controlled shutdown: the active brokers must have read this offset before the
        # broker may stop
        self.controlled_shutdown_offset = NO_OFFSET


class BrokerHeartbeatManager:
    """Tracks the sessions of all brokers. A session ends `session_timeout_ms` after the last
    heartbeat.
    """

    def __init__(self, image: Image, session_timeout_ms: int, now: int) -> None:
        self.session_timeout_ms = session_timeout_ms
        self._known: dict[int, BrokerHeartbeatState] = {}
        self._without_heartbeats: set[int] = set()
        for broker in image.brokers.values():
            known = self._known[broker.id] = BrokerHeartbeatState(
                broker.epoch, image.end.offset - 1, cordoned_reported=True
            )
            if not broker.fenced:
                known.last_contact_ms = now

    def never_expires(self, broker_id: int) -> None:
        """Marks a broker that sends no heartbeats: it runs in the controller's process, which
        registered it itself.

        It is alive and caught up as long as the controller is.
        """
        self._without_heartbeats.add(broker_id)

    def of(self, broker: BrokerImage) -> BrokerHeartbeatState:
        """The state of a broker's current registration."""
        known = self._known.get(broker.id)
        if known is None or known.epoch != broker.epoch:
            known = self._known[broker.id] = BrokerHeartbeatState(broker.epoch, broker.epoch)
        return known

    def register(self, broker_id: int, epoch: int, offset: int) -> None:
        """The broker is registered by the record at `offset`. A changed registration of the same
        epoch keeps only its session.
        """
        before = self._known.get(broker_id)
        known = self._known[broker_id] = BrokerHeartbeatState(epoch, offset)
        if before is not None and before.epoch == epoch:
            known.last_contact_ms = before.last_contact_ms

    def touch(self, broker: BrokerImage, now: int) -> None:
        """A heartbeat arrived: the session starts again."""
        self.of(broker).last_contact_ms = now

    def has_valid_session(self, broker: BrokerImage, now: int) -> bool:
        """Whether the broker's last heartbeat is recent enough that it counts as alive."""
        return broker.id in self._without_heartbeats or self._is_in_session(self.of(broker), now)

    def expire(self, broker: BrokerImage, now: int) -> None:
        """The broker's session ends now, if it has one."""
        known = self.of(broker)
        if known.last_contact_ms is not None:
            known.last_contact_ms = now - self.session_timeout_ms - 1

    def _is_in_session(self, known: BrokerHeartbeatState, now: int) -> bool:
        return known.last_contact_ms is not None and now <= known.last_contact_ms + self.session_timeout_ms

    def take_one_stale_broker(self, image: Image, now: int) -> BrokerImage | None:
        """Ends the session of one registered broker whose session has expired; None if there is
        none.
        """
        for broker_id, known in list(self._known.items()):
            broker = image.brokers.get(broker_id)
            if broker is None or broker.epoch != known.epoch:
                del self._known[broker_id]
            elif known.last_contact_ms is not None and not self.has_valid_session(broker, now):
                known.last_contact_ms = None
                return broker
        return None

    def next_expiry_ms(self) -> int | None:
        """The time (ms) at which the next session expires if no heartbeat arrives."""
        last_contacts = [
            known.last_contact_ms
            for broker_id, known in self._known.items()
            if known.last_contact_ms is not None and broker_id not in self._without_heartbeats
        ]
        return min(last_contacts) + self.session_timeout_ms + 1 if last_contacts else None

    def active_brokers_have_read(self, image: Image, offset: int) -> bool:
        """Whether every broker that is neither fenced nor in controlled shutdown has read the
        metadata up to `offset`.
        """
        return all(
            known.metadata_offset >= offset
            for broker in image.brokers.values()
            if not broker.fenced and broker.id not in self._without_heartbeats
            for known in (self.of(broker),)
            if known.controlled_shutdown_offset == NO_OFFSET
        )

    def __repr__(self) -> str:
        return f"heartbeats of {len(self._known)} brokers"
