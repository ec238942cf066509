"""Metadata: the brokers, and the topics with their partitions and leaders.

All topics are requested by null, in version 0 by an empty list; from version 1 on an empty list
means none. From version 4 on the request says whether missing topics may be created (KIP-204);
before that they may. A topic that this request creates is UNKNOWN_TOPIC_OR_PARTITION in the
response, as in Kafka 4, and exists when the client retries; an invalid name is
INVALID_TOPIC_EXCEPTION. From version 12 on topics may be requested by id (KIP-516); then names are
ignored. As in Kafka unknown ids are first in the response, unknown names last. Offline replicas are
left out in version 0, and marked from version 5 on (KIP-112). Authorized operations (KIP-430) are
in the response if requested.

A topic that the client may not describe is left out if all are requested, and otherwise is
TOPIC_AUTHORIZATION_FAILED, whether it exists or not; by id it has no name. A client that may not
create topics gets the same error for a missing topic that would be created.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.metadata import MetadataRequest, MetadataResponse
from kafkadouble.messages.uuid import Uuid

from ..controller.auto_topic_creation_manager import auto_create_topics
from ..metadata import views
from ..metadata.image import Image, PartitionImage, TopicImage
from ..metadata.internal_topics import INTERNAL_TOPICS
from ..metadata.topic_names import problem_with_name
from ..requests.request import Refusal, Request
from ..requests.slices import divided
from ..requests.waiting import OTHERS_FIRST, Slices, Wait
from ..security.acls import TOPIC
from ..security.authorizer import CREATE, DESCRIBE
from ..security.client_rights import ClientRights, authorized_operations, client_rights, cluster_operations

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

IDS_FROM = 12
DENIED = error_codes.TOPIC_AUTHORIZATION_FAILED
WITHOUT_OPERATIONS = (error_codes.UNKNOWN_TOPIC_ID, DENIED)
"""The errors of topics that never have authorized operations."""
LISTENER_ERRORS_FROM = 6
ALL_WHEN_EMPTY = 0
"""The version in which an empty list means all topics, and offline replicas are left out."""

Topic = MetadataResponse.MetadataResponseTopic


def answer(node: HandlerContext, request: Request[MetadataRequest]) -> Wait[MetadataResponse]:
    body, image = request.body, node.image
    for requested in request.body.topics or ():
        if request.version < IDS_FROM and (requested.name is None or requested.topic_id != Uuid.ZERO):
            raise Refusal(error_codes.INVALID_REQUEST)
        if requested.name is None and requested.topic_id == Uuid.ZERO:
            raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    rights = client_rights(node, request)
    topics = yield from _requested_topics(node, request, image, rights)
    if body.include_topic_authorized_operations:
        for topic in topics:
            if topic.error_code not in WITHOUT_OPERATIONS:
                topic.topic_authorized_operations = authorized_operations(rights, TOPIC, topic.name or "")
    response = MetadataResponse(
        brokers=[
            MetadataResponse.MetadataResponseBroker(
                node_id=broker.id, host=endpoint.host, port=endpoint.port, rack=broker.rack
            )
            for broker, endpoint in views.reachable(image, request.peer.listener.name)
        ],
        cluster_id=node.cluster_id,
        controller_id=views.controller_id(image),
        topics=topics,
    )
    if body.include_cluster_authorized_operations:
        response.cluster_authorized_operations = cluster_operations(rights)
    return response


def _requested_topics(
    node: HandlerContext, request: Request[MetadataRequest], image: Image, rights: ClientRights | None
) -> Wait[list[Topic]]:
    body = request.body
    if body.topics is None or (request.version == ALL_WHEN_EMPTY and not body.topics):
        every = (
            image.topics[topic_id] if rights is None or rights.may(DESCRIBE, TOPIC, name) else None
            for name, topic_id in sorted(image.topic_ids.items())
        )
        return (yield from _described(request, image, every))
    ids = dict.fromkeys(requested.topic_id for requested in body.topics if requested.topic_id != Uuid.ZERO)
    if ids:
        found_by_id = (_visible(image.topic(each), rights) or _unknown_id(each) for each in ids)
        by_id = yield from _described(request, image, found_by_id)
        return sorted(by_id, key=_place_by_id)
    names = dict.fromkeys(requested.name for requested in body.topics if requested.name is not None)
    creates = body.allow_auto_topic_creation and node.settings.bool("auto.create.topics.enable")
    hidden = {} if rights is None else (yield from _hidden(rights, names, image, creates))
    named = (hidden.get(name) or image.topic_named(name) or _unknown(name) for name in names)
    found = sorted((yield from _described(request, image, named)), key=lambda topic: topic.error_code)
    if creates:
        known = node.image.topic_ids
        _, missing = yield from divided(
            lambda name: name in known or name in hidden or problem_with_name(name) is not None, names
        )
        if missing:
            yield from auto_create_topics(node, missing)
    return found


def _visible(topic: TopicImage | None, rights: ClientRights | None) -> TopicImage | Topic | None:
    """The topic, or an error without its name if the client may not describe it."""
    if topic is None or rights is None or rights.may(DESCRIBE, TOPIC, topic.name):
        return topic
    return Topic(error_code=DENIED, name=None, topic_id=topic.id)


def _place_by_id(topic: Topic) -> int:
    """Unknown ids are first, denied ones last."""
    return {error_codes.UNKNOWN_TOPIC_ID: 0, DENIED: 2}.get(topic.error_code, 1)


def _hidden(rights: ClientRights, names: Iterable[str], image: Image, creates: bool) -> Wait[dict[str, Topic]]:
    """The errors for topics that the client may not describe, and for missing ones that it would
    create and may not."""
    hidden: dict[str, Topic] = {}
    creates_all, slices = not creates or rights.may_on_cluster(CREATE), Slices()
    for name in names:
        if slices.end():
            yield OTHERS_FIRST
        if not rights.may(DESCRIBE, TOPIC, name):
            hidden[name] = Topic(error_code=DENIED, name=name)
        elif not (creates_all or name in image.topic_ids or rights.may(CREATE, TOPIC, name)):
            hidden[name] = Topic(error_code=DENIED, name=name, is_internal=name in INTERNAL_TOPICS)
    return hidden


def _described(
    request: Request[MetadataRequest], image: Image, found: Iterable[TopicImage | Topic | None]
) -> Wait[list[Topic]]:
    """Returns the responses for these topics, in slices of topics and partitions. None is a topic
    that the client may not see."""
    described: list[Topic] = []
    slices = Slices()
    for each in found:
        if slices.end():
            yield OTHERS_FIRST
        if each is None:
            continue
        topic, partitions = (each, ()) if isinstance(each, Topic) else (_topic(each), each.in_order())
        described.append(topic)
        made = []
        for index, partition in partitions:
            made.append(_partition(request, image, index, partition))
            if slices.end():
                yield OTHERS_FIRST
        topic.partitions = made
    return described


def _unknown_id(topic_id: Uuid) -> Topic:
    return Topic(error_code=error_codes.UNKNOWN_TOPIC_ID, name=None, topic_id=topic_id)


def _unknown(name: str) -> Topic:
    unknown, invalid = error_codes.UNKNOWN_TOPIC_OR_PARTITION, error_codes.INVALID_TOPIC_EXCEPTION
    return Topic(
        error_code=invalid if problem_with_name(name) else unknown, name=name, is_internal=name in INTERNAL_TOPICS
    )


def _topic(topic: TopicImage) -> Topic:
    return Topic(name=topic.name, topic_id=topic.id, is_internal=topic.name in INTERNAL_TOPICS)


def _partition(
    request: Request[MetadataRequest], image: Image, index: int, partition: PartitionImage
) -> MetadataResponse.MetadataResponsePartition:
    seen = views.view_partition(
        image,
        partition,
        request.peer.listener.name,
        listener_errors=request.version >= LISTENER_ERRORS_FROM,
        only_alive=request.version == ALL_WHEN_EMPTY,
    )
    return MetadataResponse.MetadataResponsePartition(
        error_code=seen.error_code,
        partition_index=index,
        leader_id=seen.leader,
        leader_epoch=seen.leader_epoch,
        replica_nodes=seen.replicas,
        isr_nodes=seen.isr,
        offline_replicas=seen.offline,
    )


def refuse(request: Request[MetadataRequest], code: int, message: str | None) -> MetadataResponse:
    return MetadataResponse(
        topics=[
            Topic(error_code=code, name=requested.name or "", topic_id=requested.topic_id)
            for requested in request.body.topics or ()
        ],
        error_code=code,
    )
