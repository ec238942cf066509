"""All fetches of a node's followers: which leader each partition is fetched from. This is a `Sending` for the shell of `peers`: it knows no
socket and no clock."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

from ...configs.listeners import inter_broker_listener_name
from ...raft.request_manager import OutboundRequest, RaftPeer, RequestFailure
from ...raft.voters import VoterEndpoint
from .fetcher import Fetcher
from .following import Following

if TYPE_CHECKING:
    from ...node import Node

Key = tuple[Uuid, int]


class Fetchers:
    """All of a node; `partitions` are those that it follows."""

    def __init__(self, node: Node) -> None:
        self._node, self._listener = node, inter_broker_listener_name(node.settings)
        self._fetchers: dict[int, Fetcher] = {}
        self._tokens = count(1)
        self.partitions: dict[Key, Following] = {}
        self.have_overtaken = False
        """Whether something is followed since somebody last asked for what is `overtaken`."""

    def follow(self, following: Following) -> None:
        """Fetch this partition from its leader from now on, if it has one."""
        key = following.topic_id, following.index
        fetcher = self._fetchers.get(following.leader_id)
        is_new = fetcher is None or key not in fetcher.partitions
        self.forget(key)
        self.partitions[key] = following
        if following.leader_id >= 0:
            if fetcher is None:
                fetcher = self._fetchers[following.leader_id] = Fetcher(self._node, following.leader_id)
            fetcher.partitions[key] = following
            if is_new and fetcher.token is not None:
                fetcher.is_overtaken = self.have_overtaken = True
            fetcher.moved.add(key)
            fetcher.flush(key, following)

    def get(self, topic: str, index: int) -> Following | None:
        """What this node follows of a topic."""
        topic_id = self._node.controller.image.topic_ids.get(topic)
        return None if topic_id is None else self.partitions.get((topic_id, index))

    def forget(self, key: Key) -> Following | None:
        """Follow it no longer."""
        found = self.partitions.pop(key, None)
        if found is not None:
            found.waiters.wake_all()
        fetcher = None if found is None else self._fetchers.get(found.leader_id)
        if fetcher is not None:
            for kept in (fetcher.partitions, fetcher.paused, fetcher.ranges):
                kept.pop(key, None)
            fetcher.moved.add(key)
        return found

    def take_outgoing(self) -> list[OutboundRequest]:
        """What is to be sent."""
        found = []
        for fetcher in self._fetchers.values():
            at = self._endpoint(fetcher.leader) if fetcher.token is None else None
            if at is not None and (request := fetcher.request(self._node.now)) is not None:
                fetcher.token = next(self._tokens)
                found.append(OutboundRequest(fetcher.token, RaftPeer(fetcher.leader, at), *request))
        return found

    def overtaken(self) -> set[int]:
        """The tokens of requests under way that lack what is followed since: an answer may take as long as there is nothing new in the rest.
        Who can take one back may say that it is lost."""
        self.have_overtaken = False
        return {each.token for each in self._fetchers.values() if each.is_overtaken and each.token is not None}

    def _endpoint(self, broker: int) -> VoterEndpoint | None:
        found = self._node.controller.image.brokers.get(broker)
        at = None if found is None else found.endpoint(self._listener)
        return None if at is None else VoterEndpoint(at.host, at.port)

    def answered(self, token: int, response: Message | RequestFailure | None, now: int) -> None:
        """What has become of it."""
        self._node.now = now
        for fetcher in self._fetchers.values():
            if fetcher.token == token:
                fetcher.answered(response, now)

    def tick(self, now: int) -> None:
        """Time has passed."""
        self._node.now = now

    def next_deadline(self) -> int | None:
        """When a pause is over."""
        pauses = [
            at
            for fetcher in self._fetchers.values()
            if fetcher.token is None
            for at in (fetcher.paused_until, fetcher.throttled_until, *fetcher.paused.values())
            if at > self._node.now
        ]
        return min(pauses, default=None)

    def __repr__(self) -> str:
        return f"{len(self.partitions)} partitions followed"
