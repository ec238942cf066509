"""ConsumerGroupHeartbeat: joins, stays in or leaves a consumer group (KIP-848, KIP-1082).

The member says what it subscribes to and what it owns; the response says what it is to own. From
version 1 on the client makes the member id, and may subscribe with a regular expression.

Difference from Apache Kafka: regular expressions are resolved right after the heartbeat, not on
another thread.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)

from ..groups.coordinator_group import CONSUMER
from ..groups.features import requires_protocol
from ..requests.request import Refusal, Request
from ..requests.waiting import Wait
from ..security.acls import TOPIC
from ..security.authorizer import DESCRIBE
from ..security.client_rights import client_rights

if TYPE_CHECKING:
    from ..handler_context import HandlerContext

JOIN, LEAVE, LEAVE_FOR_A_WHILE = 0, -1, -2
"""The member epochs of a member that is not in the group, or will not be."""

MEMBER_ID_FROM = 1
UNCHANGED = -1

JAVA_WHITESPACE = bytes(range(0x21)).decode()
"""The characters that Java's `trim` removes: the space, and all characters before it."""


precheck = requires_protocol(CONSUMER)


def answer(
    node: HandlerContext, request: Request[ConsumerGroupHeartbeatRequest]
) -> ConsumerGroupHeartbeatResponse | Wait[ConsumerGroupHeartbeatResponse]:
    if (rights := client_rights(node, request)) is not None:
        rights.require_all(DESCRIBE, TOPIC, request.body.subscribed_topic_names or ())
    _validate(node, request)
    from ..groups.consumer.heartbeat import heartbeat, leave

    shard = node.groups.shard(request.body.group_id)
    leaves = request.body.member_epoch in (LEAVE, LEAVE_FOR_A_WHILE)
    return shard.when_committed(leave(shard, request.body) if leaves else heartbeat(shard, request))


def _validate(node: HandlerContext, request: Request[ConsumerGroupHeartbeatRequest]) -> None:
    """Raises Refusal: INVALID_REQUEST, UNSUPPORTED_ASSIGNOR."""
    body = request.body
    if request.version >= MEMBER_ID_FROM or body.member_epoch > JOIN or body.member_epoch == LEAVE:
        _refuse_empty(body.member_id, "MemberId")
    _refuse_empty(body.group_id, "GroupId")
    _refuse_empty(body.instance_id, "InstanceId")
    _refuse_empty(body.rack_id, "RackId")
    if body.member_epoch == JOIN:
        _validate_join(body)
    elif body.member_epoch == LEAVE_FOR_A_WHILE and body.instance_id is None:
        raise Refusal(error_codes.INVALID_REQUEST, "InstanceId can't be null.")
    elif body.member_epoch < LEAVE_FOR_A_WHILE:
        raise Refusal(error_codes.INVALID_REQUEST, "MemberEpoch is invalid.")
    if body.server_assignor is not None:
        _refuse_unsupported_assignor(node, body.server_assignor)


def _refuse_empty(value: str | None, name: str) -> None:
    if value is not None and not value.strip(JAVA_WHITESPACE):
        raise Refusal(error_codes.INVALID_REQUEST, f"{name} can't be empty.")


def _validate_join(body: ConsumerGroupHeartbeatRequest) -> None:
    message = None
    if body.rebalance_timeout_ms == UNCHANGED:
        message = "RebalanceTimeoutMs must be provided in first request."
    elif body.topic_partitions is None or body.topic_partitions:
        message = "TopicPartitions must be empty when (re-)joining."
    elif body.subscribed_topic_names is None and body.subscribed_topic_regex is None:
        message = "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
    if message is not None:
        raise Refusal(error_codes.INVALID_REQUEST, message)


def _refuse_unsupported_assignor(node: HandlerContext, name: str) -> None:
    supported = node.settings.list("group.consumer.assignors")
    if name not in supported:
        message = f"ServerAssignor {name} is not supported. Supported assignors: {', '.join(supported)}."
        raise Refusal(error_codes.UNSUPPORTED_ASSIGNOR, message)
