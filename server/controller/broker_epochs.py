"""Checks broker epochs: a broker's requests must name the epoch of its registration, which is that
record's offset (KIP-631).
"""

from __future__ import annotations

from kafkadouble.messages import error_codes

from ..metadata.image import BrokerImage, Image
from ..requests.request import Refusal


def checked_broker(image: Image, broker_id: int, epoch: int) -> BrokerImage:
    """The registered broker. Refusal(STALE_BROKER_EPOCH) if it is not registered, or has registered
    again since.
    """
    broker = image.brokers.get(broker_id)
    if broker is None:
        raise Refusal(error_codes.STALE_BROKER_EPOCH, f"No broker registration found for broker id {broker_id}")
    if broker.epoch != epoch:
        message = f"Expected broker epoch {broker.epoch}, but got broker epoch {epoch}"
        raise Refusal(error_codes.STALE_BROKER_EPOCH, message)
    return broker
