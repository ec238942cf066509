"""Which broker coordinates a group, a transactional id or a share partition: the leader of the partition that the key hashes to.

A topic that is not there yet is created by the first who asks. The metadata of a quorum of one holds at once, so he is told the leader in the
same answer; Apache Kafka tells him COORDINATOR_NOT_AVAILABLE, and the leader when he asks again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kafkadouble.messages import error_codes

from ..metadata.image import Endpoint, Image, TopicImage
from ..metadata.internal_topics import CONSUMER_OFFSETS, SHARE_GROUP_STATE, TRANSACTION_STATE
from ..requests.request import Refusal
from .java_text import partition_for

if TYPE_CHECKING:
    from ..node import Node

GROUP, TRANSACTION, SHARE = 0, 1, 2
"""Key types of FindCoordinator."""

TOPICS = {GROUP: CONSUMER_OFFSETS, TRANSACTION: TRANSACTION_STATE, SHARE: SHARE_GROUP_STATE}
"""Key type -> the topic whose partition leaders coordinate."""

SHARE_KEY = re.compile(r"(?P<group>[^:]+):[A-Za-z0-9_-]{22}:-?\d{1,10}\Z")
"""What a share partition is called: group id, topic id, partition."""


class Broker(NamedTuple):
    """A broker as a client is told of it."""

    id: int
    host: str
    port: int


def coordinator_of(node: Node, key_type: int, key: str, listener: str) -> Broker:
    """Whoever coordinates `key`. Refusal: INVALID_REQUEST, COORDINATOR_NOT_AVAILABLE."""
    name = TOPICS.get(key_type)
    if name is None or (key_type == SHARE and not SHARE_KEY.match(key)):
        raise Refusal(error_codes.INVALID_REQUEST)
    topic = _topic(node, name)
    leader = topic.partitions[partition_for(key, len(topic.partitions))].leader
    endpoint = _endpoint(node.controller.image, leader, listener)
    if endpoint is None:
        raise Refusal(error_codes.COORDINATOR_NOT_AVAILABLE)
    return Broker(leader, endpoint.host, endpoint.port)


def _topic(node: Node, name: str) -> TopicImage:
    try:
        return node.controller.create_internal_topic(name)
    except Refusal as refusal:
        raise Refusal(error_codes.COORDINATOR_NOT_AVAILABLE, refusal.message) from refusal


def _endpoint(image: Image, broker_id: int, listener: str) -> Endpoint | None:
    broker = image.brokers.get(broker_id)
    if broker is None or broker.fenced:
        return None
    return next((endpoint for endpoint in broker.endpoints if endpoint.name == listener), None)
