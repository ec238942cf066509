"""Answers Produce from a recording, partition by partition.

Rules. Clients divide the same records into other requests in each run. So the answer is made of
what was recorded for each partition: its errors in their order, and offsets that go on from the
first recorded one. A recorded request counts as asked when as many records have come.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kafkadouble.messages.generated.produce import ProduceResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.replay.recorded.exchange import Exchange
from kafkadouble.wire.batch import iter_batches
from kafkadouble.wire.errors import WireError

Place = tuple[str, int]
"""A topic's name and a partition."""


class ProduceScript:
    """The Produce exchanges of a recording."""

    def __init__(self, exchanges: Sequence[Exchange], topic_names: Mapping[Uuid, str]) -> None:
        self._topic_names = topic_names
        self._answers: dict[Place, deque[Any]] = {}
        self._next: dict[Place, int] = {}
        self._received: Counter[Place] = Counter()
        self._due: list[tuple[Exchange, dict[Place, int]]] = []
        counts: Counter[Place] = Counter()
        for exchange in exchanges:
            sent = self._places(exchange.request())
            counts.update(sent)
            self._due.append((exchange, {place: counts[place] for place in sent}))
            self._note(exchange, sent)

    def _note(self, exchange: Exchange, sent: Mapping[Place, int]) -> None:
        """The answers of one recorded request; without an answer (acks=0), it was a success."""
        for place in sent:
            self._answers.setdefault(place, deque())
        answer = exchange.answer()
        for topic in () if answer is None else answer.responses:
            for partition in topic.partition_responses:
                place = self._named(topic), partition.index
                self._answers.setdefault(place, deque()).append(partition)
                if not partition.error_code:
                    self._next.setdefault(place, partition.base_offset)

    def _named(self, topic: Any) -> str:
        return topic.name or self._topic_names.get(topic.topic_id, "")

    def _places(self, body: Any) -> dict[Place, int]:
        """The number of records for each partition of a request."""
        return {
            (self._named(topic), partition.index): _count(partition.records)
            for topic in body.topic_data
            for partition in topic.partition_data
        }

    def answer(self, body: Any) -> ProduceResponse | None:
        """The answer to a request; None if a partition is not in the recording."""
        sent = self._places(body)
        if not sent.keys() <= self._answers.keys():
            return None
        responses = []
        for topic in body.topic_data:
            partitions = [
                self._partition((self._named(topic), each.index), _count(each.records)) for each in topic.partition_data
            ]
            of = ProduceResponse.TopicProduceResponse
            responses.append(of(name=self._named(topic), topic_id=topic.topic_id, partition_responses=partitions))
        return ProduceResponse(responses=responses)

    def _partition(self, place: Place, count: int) -> Any:
        of, answers = ProduceResponse.PartitionProduceResponse, self._answers[place]
        recorded = (answers.popleft() if len(answers) > 1 else answers[0]) if answers else of()
        if recorded.error_code:
            self._received[place] += count
            return recorded
        base = self._next.get(place, 0)
        self._next[place], self._received[place] = base + count, self._received[place] + count
        return of(
            index=place[1],
            base_offset=base,
            log_append_time_ms=recorded.log_append_time_ms,
            log_start_offset=recorded.log_start_offset,
        )

    def asked(self) -> Iterator[Exchange]:
        """The recorded requests whose records have come since the last call."""
        left = []
        for exchange, counts in self._due:
            if all(self._received[place] >= count for place, count in counts.items()):
                yield exchange
            else:
                left.append((exchange, counts))
        self._due = left

    def unasked(self) -> list[Exchange]:
        """The recorded requests whose records have not come."""
        return [exchange for exchange, _ in self._due]


def _count(records: Any) -> int:
    try:
        return sum(max(header.count, 1) for _, header in iter_batches(records or b""))
    except WireError:
        return 1
