"""Answers Fetch from a recording, partition by partition.

Rules. A client asks as often as it likes, at the offsets where it is. It gets the recorded batches
from that offset on, once what had been written before them in the recording was written here.
Without such batches the answer is empty, and waits. Fetch sessions are never granted, so that each
request names all its partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

from kafkadouble.messages.generated.fetch import FetchResponse
from kafkadouble.messages.uuid import Uuid
from kafkadouble.replay.recorded.exchange import Exchange
from kafkadouble.wire.batch import iter_batches
from kafkadouble.wire.errors import WireError

Place = tuple[str, int]
"""A topic's name and a partition."""

MOST_WAIT_S = 0.1
"""How long an empty answer waits at most: then the client asks again."""


class RecordedFetch(NamedTuple):
    """The records that a Fetch returned of one partition. `first` and `last` are offsets; without
    records `last` is below `first`."""

    exchange: Exchange
    first: int
    last: int
    partition: Any


class FetchScript:
    """The Fetch exchanges of a recording. `may_come` says whether an answer may be given yet."""

    def __init__(
        self, exchanges: Sequence[Exchange], topic_names: Mapping[Uuid, str], may_come: Callable[[Exchange], bool]
    ) -> None:
        self._topic_names, self._may_come = topic_names, may_come
        self._found: dict[Place, list[RecordedFetch]] = {}
        self._sessions: dict[tuple[str, int], dict[Place, int]] = {}
        self._asked: set[int] = set()
        for exchange in exchanges:
            asked, answer = self._places(exchange), exchange.answer()
            for place in asked:
                self._found.setdefault(place, [])
            for topic in () if answer is None else answer.responses:
                for partition in topic.partitions:
                    place = self._named(topic), partition.partition_index
                    first = asked.get(place, 0)
                    last = _last_offset(partition.records)
                    self._found.setdefault(place, []).append(RecordedFetch(exchange, first, last, partition))
            if answer is not None and answer.session_id:
                self._sessions[exchange.connection, answer.session_id] = asked

    def _named(self, topic: Any) -> str:
        return topic.topic or self._topic_names.get(topic.topic_id, "")

    def _places(self, exchange: Exchange) -> dict[Place, int]:
        """The partitions that a recorded request asked for, with their offsets: those of its
        session, too."""
        body = exchange.request()
        asked = dict(self._sessions.get((exchange.connection, body.session_id), {}) if body.session_epoch > 0 else {})
        for topic in body.forgotten_topics_data:
            for index in topic.partitions:
                asked.pop((self._named(topic), index), None)
        for topic in body.topics:
            asked |= {(self._named(topic), each.partition): each.fetch_offset for each in topic.partitions}
        return asked

    def answer(self, body: Any) -> FetchResponse | None:
        """The answer to a request; None if a partition is not in the recording."""
        responses = []
        for topic in body.topics:
            name, partitions = self._named(topic), []
            for each in topic.partitions:
                if (name, each.partition) not in self._found:
                    return None
                partitions.append(self._partition((name, each.partition), each.fetch_offset))
            of = FetchResponse.FetchableTopicResponse
            responses.append(of(topic=name, topic_id=topic.topic_id, partitions=partitions))
        return FetchResponse(responses=responses)

    def _partition(self, place: Place, offset: int) -> Any:
        visible = [each for each in self._found[place] if self._may_come(each.exchange)]
        for each in visible:
            if each.first <= offset <= each.last or (each.partition.error_code and each.first == offset):
                self._asked.add(each.exchange.number)
                found = copy(each.partition)
                found.records = _from_offset(each.partition.records, offset)
                return found
        return _empty(place[1], visible[-1].partition if visible else None)

    def unasked(self) -> Iterator[Exchange]:
        """The recorded requests that found records which no client asked for."""
        with_records = {
            each.exchange.number: each.exchange for found in self._found.values() for each in found if each.last >= 0
        }
        yield from (exchange for number, exchange in with_records.items() if number not in self._asked)


def wait_s(body: Any, answer: FetchResponse) -> float:
    """The wait (s) of an answer without records."""
    if any(each.records or each.error_code for topic in answer.responses for each in topic.partitions):
        return 0.0
    return min(float(body.max_wait_ms) / 1000, MOST_WAIT_S)


def _empty(index: int, latest: Any) -> Any:
    of = FetchResponse.PartitionData
    if latest is None or latest.error_code:
        return of(partition_index=index, high_watermark=0, records=b"")
    found = copy(latest)
    found.records, found.aborted_transactions = b"", None
    return found


def _last_offset(records: Any) -> int:
    last = -1
    try:
        for _, header in iter_batches(records or b"", partial=True):
            last = header.last_offset
    except WireError:
        pass
    return last


def _from_offset(records: Any, offset: int) -> Any:
    """The batches from the one with this offset on."""
    for position, header in iter_batches(records or b"", partial=True):
        if header.last_offset >= offset:
            return bytes(records[position:])
    return records
