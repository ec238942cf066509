"""Which group protocols are enabled: by the features group.version, share.version and
streams.version of the cluster, and the consumer protocol also by
`group.coordinator.rebalance.protocols` of the broker (KIP-848, KIP-932, KIP-1071)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes

from ..configs.settings import Settings
from ..metadata.features import GROUP_VERSION, SHARE_VERSION, STREAMS_VERSION
from ..metadata.image import Image
from ..requests.request import Refusal
from .coordinator_group import CONSUMER, STREAMS

if TYPE_CHECKING:
    from ..coordinator.host import CoordinatorHost


def refuse_without_consumer_protocol(node: CoordinatorHost) -> None:
    """Raises Refusal(UNSUPPORTED_VERSION) unless group.version is 1 or higher, and this broker has
    the consumer protocol."""
    protocols = node.settings.list("group.coordinator.rebalance.protocols")
    if node.image.features.get(GROUP_VERSION, 0) < 1 or CONSUMER not in protocols:
        raise Refusal(error_codes.UNSUPPORTED_VERSION)


def refuse_without_share_groups(image: Image) -> None:
    """Raises Refusal(UNSUPPORTED_VERSION) unless share.version is 1 or higher."""
    if image.features.get(SHARE_VERSION, 0) < 1:
        raise Refusal(error_codes.UNSUPPORTED_VERSION)


def refuse_without_streams_protocol(image: Image, settings: Settings) -> None:
    """Raises Refusal(UNSUPPORTED_VERSION) unless streams.version is 1 or higher, and this broker
    offers the protocol."""
    offered = STREAMS in settings.list("group.coordinator.rebalance.protocols")
    if not offered or image.features.get(STREAMS_VERSION, 0) < 1:
        raise Refusal(error_codes.UNSUPPORTED_VERSION)
