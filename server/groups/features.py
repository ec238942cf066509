"""Which group protocols the cluster has enabled: the features group.version, share.version and
streams.version (KIP-848, KIP-932, KIP-1071)."""

from __future__ import annotations

from kafkadouble.messages import error_codes

from ..metadata.features import GROUP_VERSION, SHARE_VERSION
from ..metadata.image import Image
from ..requests.request import Refusal


def refuse_without_consumer_protocol(image: Image) -> None:
    """Raises Refusal(UNSUPPORTED_VERSION) unless group.version is 1 or higher."""
    if image.features.get(GROUP_VERSION, 0) < 1:
        raise Refusal(error_codes.UNSUPPORTED_VERSION)


def refuse_without_share_groups(image: Image) -> None:
    """Raises Refusal(UNSUPPORTED_VERSION) unless share.version is 1 or higher."""
    if image.features.get(SHARE_VERSION, 0) < 1:
        raise Refusal(error_codes.UNSUPPORTED_VERSION)
