"""Which group protocols the cluster has enabled: the features group.version, share.version and
streams.version (KIP-848, KIP-932, KIP-1071)."""

from __future__ import annotations

from kafkadouble.messages import error_codes

from ..configs.settings import Settings
from ..metadata.features import GROUP_VERSION, STREAMS_VERSION
from ..metadata.image import Image
from ..requests.request import Refusal
from .coordinator_group import STREAMS


def refuse_without_consumer_protocol(image: Image) -> None:
    """Raises Refusal(UNSUPPORTED_VERSION) unless group.version is 1 or higher."""
    if image.features.get(GROUP_VERSION, 0) < 1:
        raise Refusal(error_codes.UNSUPPORTED_VERSION)


def refuse_without_streams_protocol(image: Image, settings: Settings) -> None:
    """Raises Refusal(UNSUPPORTED_VERSION) unless streams.version is 1 or higher, and this broker
    offers the protocol."""
    offered = STREAMS in settings.list("group.coordinator.rebalance.protocols")
    if not offered or image.features.get(STREAMS_VERSION, 0) < 1:
        raise Refusal(error_codes.UNSUPPORTED_VERSION)
