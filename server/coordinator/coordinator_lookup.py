"""Finds the coordinator of a key: the leader of the partition that the key hashes to.

A key is a group id, a transactional id or a share partition. The first lookup creates the internal
topic if it does not exist. In a quorum of one the metadata change commits at once, so the same
answer names the leader. Apache Kafka answers COORDINATOR_NOT_AVAILABLE first, and names the leader
when the client retries.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.messages import error_codes

from ..metadata.image import Endpoint, Image, TopicImage
from ..metadata.internal_topics import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE
from ..requests.request import Refusal
from .coordinator_runtime import partition_for

if TYPE_CHECKING:
    from ..controller.controller import Controller

GROUP, TRANSACTION, SHARE = 0, 1, 2
"""The key types of FindCoordinator."""

TOPICS = {GROUP: CONSUMER_OFFSETS, TRANSACTION: TRANSACTION_STATE, SHARE: SHARE_GROUP_STATE}
"""Key type -> the topic whose partition leaders are the coordinators."""

TOPIC_ID, PARTITION = re.compile(r"[A-Za-z0-9_-]{22}"), re.compile(r"-?[0-9]{1,10}")
"""The last two parts of the key of a share partition. The first is the group id, which may have
colons."""


class CoordinatorEndpoint(NamedTuple):
    """The broker id, host and port of a coordinator, as FindCoordinator returns them."""

    id: int
    host: str
    port: int


def coordinator_of(controller: Controller, key_type: int, key: str, listener: str) -> CoordinatorEndpoint:
    """Returns the coordinator of `key`, with its endpoint on `listener`.

    Raises Refusal: INVALID_REQUEST, COORDINATOR_NOT_AVAILABLE.
    """
    name = TOPICS.get(key_type)
    if name is None or (key_type == SHARE and not _is_share_partition(key)):
        raise Refusal(error_codes.INVALID_REQUEST)
    topic = _topic(controller, name)
    leader = topic.partitions[partition_for(key, len(topic.partitions))].leader
    endpoint = _endpoint(controller.image, leader, listener)
    if endpoint is None:
        raise Refusal(error_codes.COORDINATOR_NOT_AVAILABLE)
    return CoordinatorEndpoint(leader, endpoint.host, endpoint.port)


def _is_share_partition(key: str) -> bool:
    parts = key.rsplit(":", 2)
    if len(parts) != 3 or not parts[0].strip():
        return False
    return bool(TOPIC_ID.fullmatch(parts[1]) and PARTITION.fullmatch(parts[2]))


def _topic(controller: Controller, name: str) -> TopicImage:
    try:
        return controller.create_internal_topic(name)
    except Refusal as refusal:
        raise Refusal(error_codes.COORDINATOR_NOT_AVAILABLE, refusal.message) from refusal


def _endpoint(image: Image, broker_id: int, listener: str) -> Endpoint | None:
    broker = image.brokers.get(broker_id)
    if broker is None or broker.fenced:
        return None
    return next((endpoint for endpoint in broker.endpoints if endpoint.name == listener), None)
