"""ListConfigResources: the resources that have configurations (KIP-1142).

Version 0 lists client metrics subscriptions only (KIP-714). Null or empty types mean all that are
listed: topics, brokers, broker loggers, and the subscriptions and groups that have configurations.
An unknown type is UNSUPPORTED_VERSION.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.list_config_resources import (
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

from ..configs.alter import Resource
from ..metadata.image import Image
from ..requests.request import Refusal, Request
from ..requests.slices import begun, ordered
from ..requests.waiting import Wait, sliced

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

Listed = ListConfigResourcesResponse.ConfigResource

TYPES_FROM = 1


@begun
def answer(node: HandlerContext, request: Request[ListConfigResourcesRequest]) -> Wait[ListConfigResourcesResponse]:
    requested: Iterable[int] = [Resource.CLIENT_METRICS]
    if request.version >= TYPES_FROM:
        requested = sorted(set(request.body.resource_types)) or list(NAMES)
    if any(kind not in NAMES for kind in requested):
        raise Refusal(error_codes.UNSUPPORTED_VERSION)
    found: list[Listed] = []
    for kind in requested:
        names = yield from ordered(NAMES[kind](node.image))
        found += yield from sliced(partial(_listed, kind), names)
    return ListConfigResourcesResponse(config_resources=found)


def _listed(kind: int, name: str) -> Listed:
    return Listed(resource_name=name, resource_type=kind)


def _brokers(image: Image) -> list[str]:
    return [str(broker.id) for broker in image.live_brokers()]


def _configured(kind: Resource) -> Callable[[Image], list[str]]:
    return lambda image: [name for of, name in image.configs if of == kind]


NAMES: dict[int, Callable[[Image], Iterable[str]]] = {
    Resource.TOPIC: lambda image: image.topic_ids,
    Resource.BROKER: _brokers,
    Resource.BROKER_LOGGER: _brokers,
    Resource.CLIENT_METRICS: _configured(Resource.CLIENT_METRICS),
    Resource.GROUP: _configured(Resource.GROUP),
}
