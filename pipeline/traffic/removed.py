"""The versions that Apache Kafka 4.0 removed (KIP-896), and the APIs that were removed with
ZooKeeper, from the message specifications, whose lowest versions are Kafka's."""

from __future__ import annotations

from functools import cache

from kafkadouble.messages import registry
from kafkadouble.messages.api_keys import ApiKeys

FIRST_AFTER = ApiKeys.SHARE_GROUP_HEARTBEAT
"""This API and those with higher keys became stable after Kafka 4.0; versions that they removed
were never stable."""

NONE_KEPT = 32767


@cache
def kept_from() -> dict[int, int]:
    """For each API that lost versions, the lowest that is left; NONE_KEPT for a removed API."""
    older = (api for api in registry.apis() if api.key < FIRST_AFTER)
    lowest = {api.key: NONE_KEPT if api.retired else api.stable_versions[0] for api in older}
    return {key: version for key, version in lowest.items() if version > 0}
