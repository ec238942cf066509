"""The fetches of a node's followers from one leader: one request at a time.

Rules. What is fetched follows the image: who leads, in which epoch. A leader that answers with an error for a partition, or with what cannot
be, is asked again after `replica.fetch.backoff.ms`, by when the image may say something else; what is wrong is told once, as long as it is
the same. One whose log directory has failed is not fetched.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest, ListOffsetsResponse
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.errors import WireError

from ...log.files.errors import DiskFailure
from ...log.refusals import LogRefused
from ...raft.request_manager import RequestFailure
from .fetch_session import FetchSessionHandler, Round
from .following import Following

if TYPE_CHECKING:
    from ...node import Node
    from .throttle import Throttle

log = logging.getLogger("kafkadouble.server.replica")

FETCH_VERSION, FETCH_LOWEST = 17, 13
LIST_VERSION, LIST_LOWEST = 9, 4
EARLIEST, LATEST = -2, -1

LONGEST = 300
"""Characters of what is told of a problem, in which a leader's own words may stand."""

Key = tuple[Uuid, int]


class Fetcher:
    """The fetches from one leader."""

    def __init__(self, node: Node, leader: int) -> None:
        self._node, self.leader = node, leader
        self.partitions: dict[Key, Following] = {}
        self.paused: dict[Key, int] = {}  # until when (ms)
        self.ranges: dict[
            Key, dict[int, int]
        ] = {}  # of those whose leader's ends must be known: EARLIEST, LATEST -> offset
        self.moved: set[Key] = set()  # those of which something else may be to be asked than last
        self._is_plain = False  # whether everything was asked for last, and nothing had to wait
        self.token: int | None = None  # of the request under way
        self.is_overtaken = False  # which lacks what is followed since
        self._session = FetchSessionHandler()
        self._asked: dict[Key, Following] = {}  # for whom the request under way is
        self.paused_until = self.throttled_until = 0
        self._held: set[Key] = set()  # those that are flushed before they are fetched on
        self._refused: str | None = None  # what was wrong with the last answer as a whole

    def request(self, now: int) -> tuple[Message, int, int] | None:
        """What to ask next: the request, its highest and its lowest version; None when there is nothing to ask now."""
        if now < self.paused_until:
            return None
        if self._held and self._is_flushing():
            return None
        if self._is_plain and self._session.is_current and not self._somebody_waits(now):
            return (self._fetch_on(), FETCH_VERSION, FETCH_LOWEST) if self.partitions else None
        self.paused = {key: until for key, until in self.paused.items() if until > now}
        due = [key for key in self.partitions if self.paused.get(key, 0) <= now]
        if due and self._node.throttles is not None:
            due = self._unthrottled(due, self._node.throttles.follower, now)
        unknown = [key for key in due if key in self.ranges]
        self._asked = {key: self.partitions[key] for key in unknown or due}
        self._is_plain = len(due) == len(self.partitions) and not unknown
        self.moved.clear()
        if unknown:
            return self._list(unknown), LIST_VERSION, LIST_LOWEST
        return (self._fetch(due), FETCH_VERSION, FETCH_LOWEST) if due else None

    def _somebody_waits(self, now: int) -> bool:
        throttles = self._node.throttles
        exceeded = throttles is not None and (now < self.throttled_until or throttles.follower.is_exceeded())
        return bool(self.paused or self.ranges or exceeded)

    def _is_flushing(self) -> bool:
        """Whether something is to be on the disk before this fetches on: of all of them, since a fetch that has nothing to give takes its time.
        What cannot be flushed holds up nobody."""
        still = {key for key in self._held & self.partitions.keys() if self.partitions[key].log.flush_is_due}
        self._held = still if self._node.flushing.busy else set()
        return bool(self._held)

    def _unthrottled(self, due: list[Key], throttle: Throttle, now: int) -> list[Key]:
        """Those that need not wait because more was fetched than may be (KIP-73); who is in sync need not. One looks again after
        `replica.fetch.backoff.ms` where all have to."""
        waiting = {key for key in due if self._waits(self.partitions[key], throttle)}
        if not waiting or (now >= self.throttled_until and not throttle.is_exceeded()):
            return due
        found = [key for key in due if key not in waiting]
        if not found and now >= self.throttled_until:
            self.throttled_until = now + self._backoff()
        return found

    @staticmethod
    def _waits(following: Following, throttle: Throttle) -> bool:
        return following.lag != 0 and throttle.is_throttled(following.topic, following.index)

    def _fetch(self, keys: Iterable[Key]) -> FetchRequest:
        most = self._node.settings.int("replica.fetch.max.bytes")
        return self._request(self._session.next({key: self.partitions[key].asked(most) for key in keys}))

    def _fetch_on(self) -> FetchRequest:
        """The same as last, but for what has moved: this costs nothing for all the others."""
        most, moved = self._node.settings.int("replica.fetch.max.bytes"), self.moved
        there = {key: self.partitions[key] for key in moved if key in self.partitions}
        self._asked.update(there)
        gone = moved - there.keys()
        for key in gone:
            self._asked.pop(key, None)
        self.moved = set()
        return self._request(self._session.go_on({key: each.asked(most) for key, each in there.items()}, gone))

    def _request(self, round: Round) -> FetchRequest:
        settings, node, of = self._node.settings, self._node, FetchRequest
        named: dict[Uuid, list[FetchRequest.FetchPartition]] = {}
        for (topic_id, _), asked in round.named.items():
            named.setdefault(topic_id, []).append(asked)
        forgotten: dict[Uuid, list[int]] = {}
        for topic_id, index in round.forgotten:
            forgotten.setdefault(topic_id, []).append(index)
        return of(
            replica_state=of.ReplicaState(replica_id=node.id, replica_epoch=node.broker_epoch),
            max_wait_ms=settings.int("replica.fetch.wait.max.ms"),
            min_bytes=settings.int("replica.fetch.min.bytes"),
            max_bytes=settings.int("replica.fetch.response.max.bytes"),
            session_id=round.session_id,
            session_epoch=round.epoch,
            topics=[of.FetchTopic(topic_id=id, partitions=partitions) for id, partitions in named.items()],
            forgotten_topics_data=[of.ForgottenTopic(topic_id=id, partitions=each) for id, each in forgotten.items()],
        )

    def _list(self, keys: Iterable[Key]) -> ListOffsetsRequest:
        of, topics = ListOffsetsRequest, []
        for key in keys:
            following = self.partitions[key]
            at = EARLIEST if EARLIEST not in self.ranges[key] else LATEST
            asked = of.ListOffsetsPartition(
                partition_index=key[1], current_leader_epoch=following.leader_epoch, timestamp=at
            )
            topics.append(of.ListOffsetsTopic(name=following.topic, partitions=[asked]))
        return of(replica_id=self._node.id, topics=topics)

    def answered(self, response: Message | RequestFailure | None, now: int) -> None:
        """What has become of the request under way."""
        overtaken, self.token, self.is_overtaken = self.is_overtaken, None, False
        if isinstance(response, FetchResponse) and not response.error_code:
            self._fetched(response, now)
        elif isinstance(response, ListOffsetsResponse):
            self._listed(response, now)
        else:
            if not (self._session.is_open or overtaken):  # one that the leader has lost is made anew at once
                self.paused_until = now + self._backoff()
            self._session.lost()

    def _fetched(self, response: FetchResponse, now: int) -> None:
        wrong = self._session.wrong(response)
        if wrong is not None:
            if self._refused != wrong:
                log.error("the answer of broker %d to a fetch is not taken: %s", self.leader, wrong)
            self._refused = wrong
            self._session.lost()
            self.paused_until = now + self._backoff()
            return
        self._refused = None
        self._session.answered(response.session_id)
        for topic in response.responses:
            for data in topic.partitions:
                self._guarded(self._take, (topic.topic_id, data.partition_index), data, now)

    def _listed(self, response: ListOffsetsResponse, now: int) -> None:
        for topic in response.topics:
            for told in topic.partitions:
                self._guarded(self._learn, (self._id_of(topic.name), told.partition_index), told, now)
        for key in self._asked:  # of which nothing was said
            self.paused[key] = now + self._backoff()

    def _id_of(self, name: str) -> Uuid:
        return next((key[0] for key, each in self.partitions.items() if each.topic == name), Uuid.ZERO)

    def _guarded(self, do: Callable[[Key, Following, Any, int], int], key: Key, data: Any, now: int) -> None:
        """Have one partition's answer taken. Whatever a leader sends is that partition's matter alone. What is for a partition whose leader, or
        its epoch, is another by now, is let go."""
        following = self.partitions.get(key)
        self.moved.add(key)
        if following is None or following is not self._asked.pop(key, None):
            return
        try:
            pause = do(key, following, data, now)
        except (LogRefused, WireError) as problem:
            pause = self._backoff()
            self._tell(following, str(problem)[:LONGEST])
        except DiskFailure:  # the node tells of it
            del self.partitions[key]
            return
        except Exception:
            pause = self._backoff()
            log.exception("%r: what broker %d sent broke it", following, self.leader)
        if pause:
            self.paused[key] = now + pause

    def _tell(self, following: Following, problem: str) -> None:
        if following.refused != problem:
            following.refused = problem
            log.error("%r: what broker %d sent is not taken: %s", following, self.leader, problem)

    def _take(self, key: Key, following: Following, data: FetchResponse.PartitionData, now: int) -> int:
        if data.error_code == error_codes.OFFSET_OUT_OF_RANGE:
            self.ranges[key] = {}
        elif data.error_code:
            return self._backoff()
        else:
            following.take(data, now)
            following.refused = None
            if data.records and (throttles := self._node.throttles) is not None:
                throttles.follower.fetched(following.topic, following.index, len(data.records))
            self.flush(key, following)
        return 0

    def flush(self, key: Key, following: Following) -> None:
        """To fetch on is to say that one has what was before; what `flush.messages` says is not had before it is flushed."""
        if following.log.flush_is_due:
            self._held.add(key)
            self._node.flushing.want(following)

    def _learn(
        self, key: Key, following: Following, told: ListOffsetsResponse.ListOffsetsPartitionResponse, now: int
    ) -> int:
        known = self.ranges.pop(key)
        if told.error_code:
            return self._backoff()
        if EARLIEST not in known:
            self.ranges[key] = {EARLIEST: told.offset}
            return 0
        return 0 if following.start_anew(known[EARLIEST], told.offset) else self._backoff()

    def _backoff(self) -> int:
        return self._node.settings.int("replica.fetch.backoff.ms")
