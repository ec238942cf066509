"""The response to a Fetch that is refused as a whole.

Every partition has the error, and from version 7 on the response has it, too. The session id is
that of the request.
"""

from __future__ import annotations

from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse

from .cached_partition import CachedPartition, keys_and_partitions, response
from .log_reader import all_failed

ERROR_CODE_FROM = 7


def refused_fetch(body: FetchRequest, version: int, code: int) -> FetchResponse:
    """The response with this error."""
    partitions = [
        CachedPartition(topic, topic_id, requested)
        for _, topic, topic_id, requested in keys_and_partitions(body, version)
    ]
    refused = response(all_failed(partitions, code), body.session_id)
    refused.error_code = code if version >= ERROR_CODE_FROM else 0
    return refused
