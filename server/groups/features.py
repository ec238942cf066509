"""Which group protocols are enabled (KIP-848, KIP-932, KIP-1071): a feature of the cluster enables
each, and a broker offers some of them only if `group.coordinator.rebalance.protocols` has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes

from ..metadata.features import GROUP_VERSION, SHARE_VERSION, STREAMS_VERSION
from ..requests.request import Refusal
from .coordinator_group import CONSUMER, SHARE, STREAMS

if TYPE_CHECKING:
    from ..logs.host import NodeHost

FEATURES = {CONSUMER: GROUP_VERSION, SHARE: SHARE_VERSION, STREAMS: STREAMS_VERSION}
"""Type of group -> the feature that enables it from level 1 on."""

OFFERED_BY_SETTING = frozenset((CONSUMER, STREAMS))
"""The types that a broker must also have in its setting."""

PROTOCOLS = "group.coordinator.rebalance.protocols"


def requires_protocol(type: str) -> Callable[[NodeHost, object], None]:
    """Makes the precheck of a handler: Refusal(UNSUPPORTED_VERSION) unless groups of this type are
    enabled."""

    def precheck(node: NodeHost, request: object) -> None:
        is_offered = type not in OFFERED_BY_SETTING or type in node.settings.list(PROTOCOLS)
        if not is_offered or node.image.features.get(FEATURES[type], 0) < 1:
            raise Refusal(error_codes.UNSUPPORTED_VERSION)

    return precheck
