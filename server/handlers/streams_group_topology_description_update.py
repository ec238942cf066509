"""StreamsGroupTopologyDescriptionUpdate: a member sends the description of its topology (KIP-1223).

Apache Kafka gives it to the plugin of `group.streams.topology.description.plugin.class`. Without a
plugin it answers UNSUPPORTED_VERSION, and so does this broker, which has none. It never asks a
member for a description either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.streams_group_topology_description_update import (
    StreamsGroupTopologyDescriptionUpdateRequest,
    StreamsGroupTopologyDescriptionUpdateResponse,
)

from ..groups.coordinator_group import STREAMS
from ..groups.features import requires_protocol
from ..requests.request import Refusal, Request

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

NO_PLUGIN = "The broker has no streams group topology description plugin configured."


precheck = requires_protocol(STREAMS)


def answer(
    node: HandlerContext, request: Request[StreamsGroupTopologyDescriptionUpdateRequest]
) -> StreamsGroupTopologyDescriptionUpdateResponse:
    raise Refusal(error_codes.UNSUPPORTED_VERSION, NO_PLUGIN)
