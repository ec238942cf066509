"""Writes the records that share groups give up to their dead-letter topics (KIP-1191; Kafka:
`DefaultShareGroupDLQManager` and `ShareGroupDLQStateManager`).

Rules. The records are sent to the leader of a partition of the dead-letter topic, with acks=all.
What came together meanwhile is one batch for each partition, and the next one follows when it is
answered. A missing topic is created once for all that wait for it. After an error that a later
moment may cure, the records are sent again, after a pause that doubles; after MAX_ATTEMPTS they are
lost to the queue, and the log says so. Records wait as ranges of offsets, whose number the records
in flight bound; only what is sent now is read, about MAX_REQUEST_BYTES.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.produce import ProduceRequest, ProduceResponse
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.client_log import ClientLog

from ..controller.auto_topic_creation_manager import create_topic
from ..coordinator.inter_broker_sender import BrokerRequest, InterBrokerSender
from ..raft.request_manager import RequestFailure
from ..requests.request import Refusal
from .persister_state_manager import FAILURES, MAX_ATTEMPTS, backoff_ms
from .share_group_config import ShareGroupConfigProvider
from .share_group_dlq_manager import ShareGroupDLQRecordParameter
from .share_group_dlq_records import DeadLetterBatch
from .share_group_dlq_topic import (
    DeadLetterPartition,
    check_dlq_topic,
    creatable_dlq_topic,
    max_message_bytes,
    partition_for,
)

if TYPE_CHECKING:
    from .host import DeadLetterHost

log = ClientLog("kafkadouble.server.share")

ALL, TIMEOUT_MS = -1, 30_000
VERSION = LOWEST = 13
"""The first version of Produce with topic ids."""

MAX_REQUEST_BYTES = 1 << 20
"""The size from which on a request gets no further partition; nor does it after a long batch."""

NO_TOPIC_YET = frozenset(
    {
        error_codes.LEADER_NOT_AVAILABLE,
        error_codes.NETWORK_EXCEPTION,
        error_codes.THROTTLING_QUOTA_EXCEEDED,
        error_codes.TOPIC_ALREADY_EXISTS,
    }
)
"""The errors of the dead-letter topic after which it is looked up again."""

RETRIABLE = frozenset(
    {
        error_codes.NETWORK_EXCEPTION,
        error_codes.NOT_LEADER_OR_FOLLOWER,
        # Kafka gives up here. A leader that has not replayed the creation of the topic answers so.
        error_codes.UNKNOWN_TOPIC_ID,
    }
)
"""The errors of a write after which it is sent again."""


class PendingDeadLetters(NamedTuple):
    """Records that are given up, of which those from offset `first` on are not written."""

    given_up: ShareGroupDLQRecordParameter
    then: Callable[[], None]
    first: int
    attempts: int = 0
    lookups: int = 0
    """The attempts to find or create the topic in a row."""


class SentDeadLetters(NamedTuple):
    """Records that are sent, up to the one before offset `end`."""

    pending: PendingDeadLetters
    to: DeadLetterPartition
    end: int


Queues = dict[DeadLetterPartition, deque[PendingDeadLetters]]


class DefaultShareGroupDLQManager(InterBrokerSender):
    """A `ShareGroupDLQManager` that writes to topics."""

    def __init__(self, node: DeadLetterHost) -> None:
        super().__init__(node)
        self._host, self._configs = node, ShareGroupConfigProvider(node)
        self._by_broker: dict[int, Queues] = {}
        self._by_missing_topic: dict[str, list[PendingDeadLetters]] = {}

    def enqueue(self, given_up: ShareGroupDLQRecordParameter, then: Callable[[], None]) -> None:
        self._enqueue(PendingDeadLetters(given_up, then, given_up.first_offset))

    def _enqueue(self, pending: PendingDeadLetters) -> None:
        host, key = self._host, pending.given_up.key
        name = self._configs.of(key.group_id).dlq_topic
        try:
            check_dlq_topic(host.image, host.settings, name)
        except Refusal as refusal:
            _give_up(pending, refusal)
            return
        topic = host.image.topic_named(name)
        if topic is None:
            waiting = self._by_missing_topic.setdefault(name, [])
            waiting.append(pending)
            if len(waiting) == 1:
                create_topic(self._host, creatable_dlq_topic(name), partial(self._created, name))
            return
        to = partition_for(topic, key.partition)
        if self.endpoint(to.leader) is None:
            self._found_no_topic(pending, Refusal(error_codes.LEADER_NOT_AVAILABLE))
            return
        queues = self._by_broker.setdefault(to.leader, {})
        queues.setdefault(to, deque()).append(pending._replace(lookups=0))
        if to.leader == host.id:
            self.send_to_self_soon()

    # The topic.

    def _created(self, name: str, failure: Refusal | None) -> None:
        for pending in self._by_missing_topic.pop(name):
            if failure is not None:
                self._found_no_topic(pending, failure)
            elif self._host.image.topic_named(name) is None:  # not replayed yet
                self._found_no_topic(pending, Refusal(error_codes.LEADER_NOT_AVAILABLE))
            else:
                self._enqueue(pending)

    def _found_no_topic(self, pending: PendingDeadLetters, failure: Refusal) -> None:
        lookups = pending.lookups + 1
        if failure.code in NO_TOPIC_YET and lookups < MAX_ATTEMPTS:
            self._retry(pending._replace(lookups=lookups), lookups)
        else:
            _give_up(pending, failure)

    # The requests.

    def destinations(self) -> Iterable[int]:
        return self._by_broker.keys()

    def next_request(self, broker: int) -> BrokerRequest:
        queues, of = self._by_broker[broker], ProduceRequest
        sent: list[SentDeadLetters] = []
        topics: dict[Uuid, list[ProduceRequest.PartitionProduceData]] = {}
        size = 0
        for to in list(queues):
            batch = self._next_batch(to, queues, sent)
            size += batch.size
            data = of.PartitionProduceData(index=to.partition, records=batch.encoded())
            topics.setdefault(to.topic_id, []).append(data)
            if size >= MAX_REQUEST_BYTES or batch.is_long:
                break
        if not queues:
            del self._by_broker[broker]
        topic_data = [of.TopicProduceData(topic_id=id, partition_data=data) for id, data in topics.items()]
        body = of(transactional_id=None, acks=ALL, timeout_ms=TIMEOUT_MS, topic_data=topic_data)
        return BrokerRequest(body, VERSION, LOWEST, sent)

    def _next_batch(self, to: DeadLetterPartition, queues: Queues, sent: list[SentDeadLetters]) -> DeadLetterBatch:
        """Takes from the queue of a partition what one batch may hold."""
        host, queue = self._host, queues[to]
        batch = DeadLetterBatch(host, max_message_bytes(host.image, host.settings, to.topic))
        while queue:
            given_up, first = queue[0].given_up, queue[0].first
            copies = self._configs.of(given_up.key.group_id).dlq_copy_record_enable
            end = batch.extend(given_up, first, copies=copies)
            if end > first:
                sent.append(SentDeadLetters(queue.popleft(), to, end))
            if end <= given_up.last_offset:
                break
        if not queue:
            del queues[to]
        return batch

    def on_response(self, broker: int, items: Any, response: Message | RequestFailure) -> None:
        sent = cast("list[SentDeadLetters]", items)
        if isinstance(response, RequestFailure):
            for each in sent:
                self._on_error(each.pending, Refusal(FAILURES[response]))
            return
        results = {
            (topic.topic_id, result.index): result
            for topic in cast("ProduceResponse", response).responses
            for result in topic.partition_responses
        }
        for each in sent:
            self._on_result(each, results.get((each.to.topic_id, each.to.partition)))

    def _on_result(self, sent: SentDeadLetters, result: ProduceResponse.PartitionProduceResponse | None) -> None:
        pending = sent.pending
        if result is None:
            self._on_error(pending, Refusal(error_codes.UNKNOWN_SERVER_ERROR))
        elif result.error_code:
            self._on_error(pending, Refusal(result.error_code, result.error_message))
        elif sent.end <= pending.given_up.last_offset:
            rest = pending._replace(first=sent.end, attempts=0)
            self._host.waiting.start_after_others(lambda: self._enqueue(rest))
        else:
            pending.then()

    def _on_error(self, pending: PendingDeadLetters, failure: Refusal) -> None:
        attempts = pending.attempts + 1
        if failure.code in RETRIABLE and attempts < MAX_ATTEMPTS:
            self._retry(pending._replace(attempts=attempts), attempts)
        else:
            _give_up(pending, failure)

    def _retry(self, pending: PendingDeadLetters, attempts: int) -> None:
        due = self._host.now + backoff_ms(attempts, self._host.random.random())
        self._host.waiting.timers.at(due, lambda now: self._enqueue(pending))

    def __repr__(self) -> str:
        return f"dead-letter queues: {super().__repr__()}"


def _give_up(pending: PendingDeadLetters, failure: Refusal) -> None:
    why = failure.message or error_codes.meaning(failure.code)
    log.error("%s: not written to the dead-letter queue from offset %d on: %s", pending.given_up, pending.first, why)
    pending.then()
