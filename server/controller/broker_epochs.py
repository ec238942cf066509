"""A broker speaks for itself only with the epoch of its registration: the offset at which that was written (KIP-631)."""

from __future__ import annotations

from kafkadouble.messages import error_codes

from ..metadata.image import BrokerImage, Image
from ..requests.request import Refusal


def checked_broker(image: Image, broker_id: int, epoch: int) -> BrokerImage:
    """The broker as it is registered. Refusal(STALE_BROKER_EPOCH) when it is not, or again since."""
    broker = image.brokers.get(broker_id)
    if broker is None:
        raise Refusal(error_codes.STALE_BROKER_EPOCH, f"No broker registration found for broker id {broker_id}")
    if broker.epoch != epoch:
        message = f"Expected broker epoch {broker.epoch}, but got broker epoch {epoch}"
        raise Refusal(error_codes.STALE_BROKER_EPOCH, message)
    return broker
