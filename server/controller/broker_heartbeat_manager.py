"""What the active controller has heard of the brokers lately: soft state, which is in no record (KIP-631, KIP-841).

Rules. It is made anew by each leader: a broker that the image has as unfenced gets a whole session from then on. What is known belongs to one
registration: another broker epoch begins with nothing. Whether a broker is fenced is not kept here, that stands in the image. This file
decides nothing and writes no record.
"""

from __future__ import annotations

from ..metadata.image import BrokerImage, Image

UNKNOWN = -1
"""No offset was told, or there is none."""


class Known:
    """What is known of one registration. `registered_at`: the offset that its broker must have read to be caught up."""

    __slots__ = ("epoch", "heard_at", "metadata_offset", "registered_at", "shutdown_offset", "told_cordoned")

    def __init__(self, epoch: int, registered_at: int, *, told_cordoned: bool = False) -> None:
        self.epoch, self.registered_at = epoch, registered_at
        self.told_cordoned = told_cordoned  # whether it has said which of its directories are cordoned, be it none
        self.heard_at: int | None = None  # ms; None when it has no session
        self.metadata_offset = UNKNOWN
        self.shutdown_offset = (
            UNKNOWN  # >= 0 while it shuts down: what the active brokers must have read before it may go
        )


class Heartbeats:
    """`session_timeout`: ms after its last heartbeat at which a broker is given up."""

    def __init__(self, image: Image, session_timeout: int, now: int) -> None:
        self.session_timeout = session_timeout
        self._known: dict[int, Known] = {}
        self._staying: set[int] = set()
        for broker in image.brokers.values():
            known = self._known[broker.id] = Known(broker.epoch, image.end.offset - 1, told_cordoned=True)
            if not broker.fenced:
                known.heard_at = now

    def never_expires(self, broker_id: int) -> None:
        """This broker sends no heartbeats: it lives in the controller's process, which has registered it by itself.

        It is there and caught up as long as the controller is.
        """
        self._staying.add(broker_id)

    def of(self, broker: BrokerImage) -> Known:
        """What is known of a broker as it is registered now."""
        known = self._known.get(broker.id)
        if known is None or known.epoch != broker.epoch:
            known = self._known[broker.id] = Known(broker.epoch, broker.epoch)
        return known

    def registered(self, broker_id: int, epoch: int, offset: int) -> None:
        """It is registered by the record at `offset`; or has amended its registration, which only its session outlives."""
        before = self._known.get(broker_id)
        known = self._known[broker_id] = Known(epoch, offset)
        if before is not None and before.epoch == epoch:
            known.heard_at = before.heard_at

    def heard(self, broker: BrokerImage, now: int) -> None:
        """A heartbeat came: its session begins anew."""
        self.of(broker).heard_at = now

    def has_session(self, broker: BrokerImage, now: int) -> bool:
        """Whether it was heard of so lately that it must be taken to live."""
        return broker.id in self._staying or self._lives(self.of(broker), now)

    def _lives(self, known: Known, now: int) -> bool:
        return known.heard_at is not None and now <= known.heard_at + self.session_timeout

    def take_expired(self, image: Image, now: int) -> BrokerImage | None:
        """One registered broker whose session is over, which it has no more; None when there is none."""
        for broker_id, known in list(self._known.items()):
            broker = image.brokers.get(broker_id)
            if broker is None or broker.epoch != known.epoch:
                del self._known[broker_id]
            elif known.heard_at is not None and not self.has_session(broker, now):
                known.heard_at = None
                return broker
        return None

    def next_expiry(self) -> int | None:
        """When the first session will be over (ms) if nobody is heard of."""
        heard = [
            known.heard_at
            for broker_id, known in self._known.items()
            if known.heard_at is not None and broker_id not in self._staying
        ]
        return min(heard) + self.session_timeout + 1 if heard else None

    def read_by_active(self, image: Image, offset: int) -> bool:
        """Whether every broker that is neither fenced nor shutting down has read the metadata up to `offset`."""
        return all(
            known.metadata_offset >= offset
            for broker in image.brokers.values()
            if not broker.fenced and broker.id not in self._staying
            for known in (self.of(broker),)
            if known.shutdown_offset == UNKNOWN
        )

    def __repr__(self) -> str:
        return f"heartbeats of {len(self._known)} brokers"
