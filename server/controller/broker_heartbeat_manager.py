"""What the active controller has heard of the brokers lately: soft state, which is in no record (KIP-631, KIP-841).

Rules. It is made anew by each leader: a broker that the image has as unfenced gets a whole session from then on. What is known belongs to one
registration: another broker epoch begins with nothing. Whether a broker is fenced is not kept here, that stands in the image. This file
decides nothing and writes no record.
"""

from __future__ import annotations

from ..metadata.image import BrokerImage, Image

NO_OFFSET = -1
"""No offset was told, or there is none."""


class BrokerHeartbeatState:
    """What is known of one registration. `registration_offset`: the offset that its broker must have read to be caught up."""

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
        self.cordoned_reported = (
            cordoned_reported  # whether it has said which of its directories are cordoned, be it none
        )
        self.last_contact_ms: int | None = None  # ms; None when it has no session
        self.metadata_offset = NO_OFFSET
        self.controlled_shutdown_offset = (
            NO_OFFSET  # >= 0 while it shuts down: what the active brokers must have read before it may go
        )


class BrokerHeartbeatManager:
    """`session_timeout_ms`: ms after its last heartbeat at which a broker is given up."""

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
        """This broker sends no heartbeats: it lives in the controller's process, which has registered it by itself.

        It is there and caught up as long as the controller is.
        """
        self._without_heartbeats.add(broker_id)

    def of(self, broker: BrokerImage) -> BrokerHeartbeatState:
        """What is known of a broker as it is registered now."""
        known = self._known.get(broker.id)
        if known is None or known.epoch != broker.epoch:
            known = self._known[broker.id] = BrokerHeartbeatState(broker.epoch, broker.epoch)
        return known

    def register(self, broker_id: int, epoch: int, offset: int) -> None:
        """It is registered by the record at `offset`; or has amended its registration, which only its session outlives."""
        before = self._known.get(broker_id)
        known = self._known[broker_id] = BrokerHeartbeatState(epoch, offset)
        if before is not None and before.epoch == epoch:
            known.last_contact_ms = before.last_contact_ms

    def touch(self, broker: BrokerImage, now: int) -> None:
        """A heartbeat came: its session begins anew."""
        self.of(broker).last_contact_ms = now

    def has_valid_session(self, broker: BrokerImage, now: int) -> bool:
        """Whether it was heard of so lately that it must be taken to live."""
        return broker.id in self._without_heartbeats or self._is_in_session(self.of(broker), now)

    def _is_in_session(self, known: BrokerHeartbeatState, now: int) -> bool:
        return known.last_contact_ms is not None and now <= known.last_contact_ms + self.session_timeout_ms

    def take_one_stale_broker(self, image: Image, now: int) -> BrokerImage | None:
        """One registered broker whose session is over, which it has no more; None when there is none."""
        for broker_id, known in list(self._known.items()):
            broker = image.brokers.get(broker_id)
            if broker is None or broker.epoch != known.epoch:
                del self._known[broker_id]
            elif known.last_contact_ms is not None and not self.has_valid_session(broker, now):
                known.last_contact_ms = None
                return broker
        return None

    def next_expiry_ms(self) -> int | None:
        """When the first session will be over (ms) if nobody is heard of."""
        heard = [
            known.last_contact_ms
            for broker_id, known in self._known.items()
            if known.last_contact_ms is not None and broker_id not in self._without_heartbeats
        ]
        return min(heard) + self.session_timeout_ms + 1 if heard else None

    def active_brokers_have_read(self, image: Image, offset: int) -> bool:
        """Whether every broker that is neither fenced nor shutting down has read the metadata up to `offset`."""
        return all(
            known.metadata_offset >= offset
            for broker in image.brokers.values()
            if not broker.fenced and broker.id not in self._without_heartbeats
            for known in (self.of(broker),)
            if known.controlled_shutdown_offset == NO_OFFSET
        )

    def __repr__(self) -> str:
        return f"heartbeats of {len(self._known)} brokers"
