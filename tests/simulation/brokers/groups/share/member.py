"""A simulated client of a share group (KIP-932): it fetches from the leaders of the partitions that
it is assigned, holds records for a while, and accepts, releases or rejects them. Some clients go
with records that they have acquired, some after their locks have timed out."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes as codes
from kafkadouble.messages.generated.share_acknowledge import ShareAcknowledgeRequest
from kafkadouble.messages.generated.share_fetch import ShareFetchRequest
from kafkadouble.messages.generated.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafkadouble.server.share.record_state import AcknowledgeType
from kafkadouble.server.share.share_session import FINAL_EPOCH

from ....world import Broken
from ...kept import kept_in
from ...shape import TOPIC
from ...transactions.steps import Asked, Steps
from ..modern_member import JOIN, NAME, ModernMember
from . import promises
from .deliveries import LOCK_MS, Held, RecordKey
from .session import ClientSession, Decided, Place, batches

if TYPE_CHECKING:
    from .cluster import ShareGroupCluster

FETCH_VERSION, ACKNOWLEDGE_VERSION = 2, 2
WAIT_MS, MAX_BYTES, MOST_RECORDS = 400, 1 << 20, 500

TOPICS = (TOPIC, "late")
"""The topics that the members subscribe to. The second one is made later."""

HOLDS_MS = (10, 10, 300, 2000, LOCK_MS + 500)
"""How long a member holds records; some longer than their locks last."""

CHOICES = (*[AcknowledgeType.ACCEPT] * 6, *[AcknowledgeType.RELEASE] * 2, *[AcknowledgeType.REJECT] * 2)

LOST_SESSION = {
    codes.SHARE_SESSION_NOT_FOUND,
    codes.INVALID_SHARE_SESSION_EPOCH,
    codes.SHARE_SESSION_LIMIT_REACHED,
    # A broker that has just started does not know the features yet.
    codes.UNSUPPORTED_VERSION,
}
"""The errors of a request after which the session is opened again."""

TRIED_AGAIN = {
    codes.NOT_LEADER_OR_FOLLOWER,
    codes.FENCED_LEADER_EPOCH,
    codes.UNKNOWN_TOPIC_OR_PARTITION,
    codes.UNKNOWN_TOPIC_ID,
    codes.KAFKA_STORAGE_ERROR,
    codes.LEADER_NOT_AVAILABLE,
    codes.COORDINATOR_NOT_AVAILABLE,
    # The share coordinator could not be reached.
    codes.UNKNOWN_SERVER_ERROR,
}
NOT_HELD = {codes.INVALID_RECORD_STATE, codes.INVALID_REQUEST}
"""The errors for records that the member does not hold."""


class ShareMember(ModernMember["ShareGroupCluster"]):
    """`assigned` are the partitions that it fetches."""

    version = 1

    def __init__(self, cluster: ShareGroupCluster, id: int, member_id: str) -> None:
        super().__init__(cluster, id, member_id)
        self.assigned = set[Place]()
        self._sessions: dict[int, ClientSession] = {}
        self._mode = self.random.choice((0, 0, 1))
        self._max_records, self._batch_size = self.random.choice((1, 3, MOST_RECORDS)), self.random.choice((1, 2, 500))

    # Heartbeats.

    def _request(self) -> ShareGroupHeartbeatRequest:
        body = self._last_request(self.epoch)
        if self._repeats or self.epoch == JOIN:
            body.subscribed_topic_names = [*TOPICS]
        return body

    def _last_request(self, epoch: int) -> ShareGroupHeartbeatRequest:
        return ShareGroupHeartbeatRequest(group_id=NAME, member_id=self.member_id, member_epoch=epoch)

    def _follow(self, answer: Any) -> None:
        if answer.assignment is not None:
            topics = {self.cluster.topic_id(topic): topic for topic in TOPICS}
            self.assigned = {
                (topics[each.topic_id], index)
                for each in answer.assignment.topic_partitions
                for index in each.partitions
            }

    def _give_up(self) -> None:
        self.assigned = set()

    def _leave(self) -> Steps:
        """Its sessions end with a last request, with their connections, or not at all."""
        for session in [*self._sessions.values()]:
            how = self.random.choice(("request", "connection", "not"))
            if how == "request" and session.is_open:
                session.epoch = FINAL_EPOCH
                yield from self._acknowledge(session)
            elif how == "connection":
                self._disconnect(session)
            session.reset()
        yield from super()._leave()

    # Records.

    def _work(self) -> Steps:
        """Some requests to the brokers, at most one to each."""
        for place in sorted(self.assigned):
            to = yield from self.leader(*place)
            self._sessions.setdefault(to, ClientSession(to))
        for session in [*self._sessions.values()]:
            if session.is_open and self.random.random() < 0.3:
                yield from self._acknowledge(session)
            elif any(self._leaders.get(place) == session.to for place in self.assigned) or session.partitions:
                yield from self._fetch(session)
        yield self.random.randint(10, 200)

    def _fetch(self, session: ClientSession) -> Steps:
        of = ShareFetchRequest
        assigned = {place for place in self.assigned if self._leaders.get(place) == session.to}
        added, forgotten = sorted(assigned - session.partitions), sorted(session.partitions - assigned)
        decided = self._decide(session, assigned & session.partitions) if session.is_open else {}
        session.partitions = assigned
        topics: defaultdict[str, list[Any]] = defaultdict(list)
        for topic, index in sorted({*added, *decided}):
            acknowledged = [*self._batches(of.AcknowledgementBatch, decided.get((topic, index), []))]
            topics[topic].append(of.FetchPartition(partition_index=index, acknowledgement_batches=acknowledged))
        body = of(
            group_id=NAME,
            member_id=self.member_id,
            share_session_epoch=session.advance(),
            max_wait_ms=WAIT_MS,
            min_bytes=1,
            max_bytes=MAX_BYTES,
            max_records=MOST_RECORDS if self.cluster.is_ending else self._max_records,
            batch_size=self._batch_size,
            share_acquire_mode=self._mode,
            topics=[
                of.FetchTopic(topic_id=self.cluster.topic_id(name), partitions=topic) for name, topic in topics.items()
            ],
            forgotten_topics_data=[
                of.ForgottenTopic(topic_id=self.cluster.topic_id(topic), partitions=[index])
                for topic, index in forgotten
            ],
        )
        asked, lives = self.world.now, self.cluster.lives(session.to)
        answer = yield Asked(session.to, body, FETCH_VERSION)
        if self._is_lost(session, answer):
            yield from self.pause()
            return
        for place, partition in self._partitions_of(answer):
            self._acknowledged(
                place, decided.get(place, []), partition.acknowledge_error_code, partition.acknowledge_error_message
            )
            if partition.error_code:
                self._refused(session, place, partition.error_code)
            else:
                self._acquire(session, place, partition, asked, lives)

    def _acknowledge(self, session: ClientSession) -> Steps:
        of = ShareAcknowledgeRequest
        decided = self._decide(session, {(TOPIC, held.key.partition) for held in session.held})
        if not decided and session.epoch != FINAL_EPOCH:
            return
        partitions = [
            of.AcknowledgePartition(
                partition_index=index, acknowledgement_batches=[*self._batches(of.AcknowledgementBatch, each)]
            )
            for (_, index), each in sorted(decided.items())
        ]
        topics = [of.AcknowledgeTopic(topic_id=self.cluster.topic_id(TOPIC), partitions=partitions)]
        epoch = session.advance()
        body = of(
            group_id=NAME,
            member_id=self.member_id,
            share_session_epoch=epoch,
            topics=topics if partitions else [],
        )
        answer = yield Asked(session.to, body, ACKNOWLEDGE_VERSION)
        if self._is_lost(session, answer):
            yield from self.pause()
            return
        for place, partition in self._partitions_of(answer):
            self._acknowledged(place, decided.get(place, []), partition.error_code, partition.error_message)

    def _batches(self, of: Any, decided: Decided) -> Any:
        return batches(of, decided, one_type_each=self.random.random() < 0.5)

    def _decide(self, session: ClientSession, places: set[Place]) -> dict[Place, Decided]:
        """What becomes now of the records that it holds in these partitions; the others it holds
        on."""
        decideds: dict[Place, Decided] = {}
        for held in session.held:
            place = TOPIC, held.key.partition
            if place in places and self._is_due(held):
                decideds.setdefault(place, []).append((held, self.random.choice(CHOICES)))
        for decided in decideds.values():
            decided.sort(key=lambda each: each[0].key.offset)
            session.take(decided)
        return decideds

    def _is_due(self, held: Held) -> bool:
        if self.cluster.is_ending:
            return True
        return self.world.now >= held.due and self.random.random() < 0.5

    def _partitions_of(self, answer: Any) -> Any:
        names = {self.cluster.topic_id(topic): topic for topic in TOPICS}
        for topic in answer.responses:
            for partition in topic.partitions:
                yield (names[topic.topic_id], partition.partition_index), partition

    def _is_lost(self, session: ClientSession, answer: Any) -> bool:
        """Whether the session must begin again."""
        if answer is None:
            if self.random.random() < 0.7:
                self._disconnect(session)
        elif not answer.error_code:
            return False
        elif answer.error_code not in LOST_SESSION:
            raise Broken(f"{self!r} is answered {codes.name(answer.error_code)}: {answer.error_message}")
        for place in session.partitions:
            self.forget_leader(*place)
        session.reset()
        return True

    def _disconnect(self, session: ClientSession) -> None:
        self.cluster.wires.disconnect(self.id, session.to)

    def _refused(self, session: ClientSession, place: Place, code: int) -> None:
        if code not in TRIED_AGAIN:
            raise Broken(f"{self!r} is answered {codes.name(code)} for {place}")
        self.forget_leader(*place)

    def _acquire(self, session: ClientSession, place: Place, partition: Any, asked: int, lives: Any) -> None:
        """Takes over the records that it was given."""
        kept = {each.offset: each for each in kept_in(partition.records or b"")}
        history = self.cluster.watch.histories[place[1]] if place[0] == TOPIC else None
        life = self.cluster.life(session.to, place[1], lives)
        for acquired in partition.acquired_records:
            due = self.world.now + self.random.choice(HOLDS_MS)
            for offset in range(acquired.first_offset, acquired.last_offset + 1):
                key = RecordKey(place[1], offset)
                held = Held(self, key, acquired.delivery_count, life, asked + LOCK_MS, due)
                committed = None if history is None else history.at(offset)
                promises.acquired_is_in_the_answer(self, held, kept.get(offset), committed)
                self.cluster.deliveries.acquired(held, asked, self.world.now)
                session.hold(held)

    def _acknowledged(self, place: Place, decided: Decided, code: int, message: str | None) -> None:
        if code in NOT_HELD:
            # The request changes nothing in the partition if one of the locks has timed out.
            if all(self._has_lock(held) for held, _ in decided):
                promises.holder_may_acknowledge(self, decided, message)
        elif code and code not in TRIED_AGAIN:
            raise Broken(f"{self!r} acknowledges {decided}, and is answered {codes.name(code)}: {message}")
        for held, type in () if code else decided:
            self.cluster.deliveries.confirm(held, type, self.world.now)

    def _has_lock(self, held: Held) -> bool:
        return self.world.now < held.until and held.life is not None and held.life.is_active

    def __repr__(self) -> str:
        held = [held for session in self._sessions.values() for held in session.held]
        return f"share member {self.member_id} in epoch {self.epoch} of {sorted(self.assigned)} with {held}"
