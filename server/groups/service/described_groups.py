"""Describes the groups of a request one by one, as DescribeGroups does.

`GroupDescription` is what ConsumerGroupDescribe, ShareGroupDescribe and StreamsGroupDescribe have
in common: the operations that the client may do on a group, and an error in place of a group that
has a topic which the client may not describe.

Difference from Apache Kafka: a group that the request repeats is answered each time, until the
response would become long; then it gets INVALID_REQUEST (`repeats`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple, Protocol

from kafkadouble.messages import error_codes

from ...requests.repeats import Repeats
from ...requests.request import Refusal, Request
from ...requests.waiting import Wait, sliced
from ...security.acls import GROUP, TOPIC
from ...security.authorizer import DESCRIBE
from ...security.client_rights import authorized_operations, client_rights
from ...security.host import AuthorizerHost
from ..coordinator_group import CoordinatorGroup
from .group_coordinator import GroupCoordinator


class DescribingHost(AuthorizerHost, Protocol):
    """A node, as the description of its groups sees it."""

    @property
    def groups(self) -> GroupCoordinator: ...


def each_group(group_ids: Iterable[str], described_group: Any, describe: Callable[[str], Any]) -> Wait[list[Any]]:
    """Describes the groups in slices. `described_group` is the class of a described group."""
    repeats = Repeats[Any]()

    def answer(group_id: str) -> Any:
        described = repeats.answer(group_id, lambda: describe(group_id))
        if described is None:
            return described_group(group_id=group_id, error_code=error_codes.INVALID_REQUEST)
        return described

    return (yield from sliced(answer, group_ids))


def refusal_of_groups(response: Any) -> Callable[[Request[Any], int, str | None], Any]:
    """Makes `refuse` of a handler: each group of the request has the error."""

    def refuse(request: Request[Any], code: int, message: str | None) -> Any:
        failed = partial(response.DescribedGroup, error_code=code, error_message=message)
        return response(groups=[failed(group_id=group_id) for group_id in request.body.group_ids])

    return refuse


class GroupDescription(NamedTuple):
    """The parts in which the types of groups differ.

    `described_group` is the class of a described group; `kind` is that of a group;
    `topics` names the topics of a described group; `hidden` is the message for those topics.
    """

    described_group: Any
    kind: type[CoordinatorGroup]
    describe: Callable[[Any], Any]
    topics: Callable[[Any], Iterable[str]]
    hidden: str = "The group has described topic(s) that the client is not authorized to describe."

    def of(self, node: DescribingHost, request: Request[Any]) -> Wait[list[Any]]:
        """Describes the groups of the request."""
        return each_group(
            request.body.group_ids, self.described_group, lambda group_id: self._described(node, request, group_id)
        )

    def _described(self, node: DescribingHost, request: Request[Any], group_id: str) -> Any:
        try:
            group = node.groups.shard_of_named(group_id).typed_group(group_id, self.kind)
        except Refusal as refusal:
            return self.refused(group_id, refusal.code, refusal.message)
        rights = client_rights(node, request)
        described = self.describe(group)
        if request.body.include_authorized_operations:
            described.authorized_operations = authorized_operations(rights, GROUP, group_id)
        if rights is None or all(rights.may(DESCRIBE, TOPIC, name) for name in set(self.topics(described))):
            return described
        return self.refused(group_id, error_codes.TOPIC_AUTHORIZATION_FAILED, self.hidden)

    def refused(self, group_id: str, code: int, message: str | None) -> Any:
        """The group with an error."""
        return self.described_group(group_id=group_id, error_code=code, error_message=message)
