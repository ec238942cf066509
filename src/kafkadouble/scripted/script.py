"""Finds the recorded answer to a request.

Rules. A request is answered by a recorded exchange of the same API with the same subject: first by
one that was not asked for yet and may come now, the nearest in its other fields; then by one that
was asked for already, since clients ask again as often as they like. What reads may come when the
writes (`WRITES`) that were answered before it in the recording have been asked for here. An answer
that cannot be written in the version of the request is none. Produce and Fetch are answered by
partition.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from kafkadouble.messages import registry
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.fields import fields_of
from kafkadouble.messages.uuid import Uuid
from kafkadouble.replay.recorded.causal_order import CausalOrder
from kafkadouble.replay.recorded.exchange import Exchange
from kafkadouble.replay.recorded.recording import Recording
from kafkadouble.server.tracing.trace import ABANDONED, ANSWERED
from kafkadouble.wire.errors import UsageError

from .fetch_script import FetchScript
from .partition_answers import COMBINED, combined
from .produce_script import ProduceScript
from .request_subject import RequestSubject, subject_of

WRITES = (
    ApiKeys.PRODUCE,
    ApiKeys.CREATE_TOPICS,
    ApiKeys.DELETE_TOPICS,
    ApiKeys.CREATE_PARTITIONS,
    ApiKeys.DELETE_RECORDS,
    ApiKeys.END_TXN,
    ApiKeys.ALTER_CONFIGS,
    ApiKeys.INCREMENTAL_ALTER_CONFIGS,
)
"""APIs that change what later answers say."""

READS = (
    ApiKeys.API_VERSIONS,
    ApiKeys.METADATA,
    ApiKeys.FIND_COORDINATOR,
    ApiKeys.HEARTBEAT,
    ApiKeys.OFFSET_FETCH,
    ApiKeys.OFFSET_FOR_LEADER_EPOCH,
)

OF_THE_CLUSTER = (ApiKeys.METADATA, ApiKeys.FIND_COORDINATOR, ApiKeys.DESCRIBE_CLUSTER)
"""APIs that every broker answers alike. In the recording they may have failed at one broker and
succeeded later at another; a client that asks the first broker again gets the later answer."""

BY_PARTITION = (ApiKeys.PRODUCE, ApiKeys.FETCH)


class Script:
    """The exchanges of a recording, and which of them were asked for. `addresses` are those of the
    scripted double, by the recorded node ids."""

    def __init__(self, recording: Recording, addresses: Mapping[int, Address]) -> None:
        self._addresses = addresses
        self._exchanges = [exchange for exchange in recording.exchanges if exchange.outcome != ABANDONED]
        self._names = topic_names(recording)
        self._subjects: dict[int, RequestSubject] = {}
        self._asked: set[int] = set()
        self._writes = [exchange for exchange in self._exchanges if exchange.api_key in WRITES]
        self._order = CausalOrder(self._writes)
        self._produce = ProduceScript(self._of(ApiKeys.PRODUCE), self._names)
        fetches = [exchange for exchange in recording.exchanges if exchange.api_key == ApiKeys.FETCH]
        self._fetch = FetchScript(fetches, self._names, self._order.may_begin)

    def _of(self, api_key: int) -> list[Exchange]:
        return [exchange for exchange in self._exchanges if exchange.api_key == api_key]

    def answer(self, api_key: int, version: int, body: Any, node: int) -> tuple[Exchange | None, Any]:
        """The exchange that answers a request to a recorded node, and its answer. Both are None if
        the recording has none. Produce and Fetch have no exchange of their own."""
        if api_key == ApiKeys.PRODUCE:
            found: Any = self._produce.answer(body)
            for each in self._produce.asked():
                self._order.done(each)
            return None, found
        if api_key == ApiKeys.FETCH:
            return None, self._fetch.answer(body)
        exchange = self._chosen(api_key, version, subject_of(body, self._names), node)
        if exchange is not None:
            self._ask(exchange)
            answer = exchange.answer()
            if answer is not None:
                readdress(answer, self._addresses)
            return exchange, answer
        return None, self._combined(api_key, body) if api_key in COMBINED else None

    def _combined(self, api_key: int, body: Any) -> Any:
        """The answer for partitions in another combination. It stands for the nearest exchange."""
        answer = combined(self._of(api_key), body, self._names)
        nearest = self.nearest(api_key, body, self._asked)
        if answer is not None and nearest is not None:
            self._ask(nearest)
        return answer

    def _ask(self, exchange: Exchange) -> None:
        """The exchange is asked for. A client that writes has got beyond the writes before it, even
        if it left one out."""
        self._asked.add(exchange.number)
        if exchange.api_key in WRITES:
            for write in self._writes:
                if write is exchange or write.ended_us <= exchange.began_us:
                    self._order.done(write)

    def _chosen(self, api_key: int, version: int, subject: RequestSubject, node: int) -> Exchange | None:
        same = [exchange for exchange in self._of(api_key) if self._subject(exchange).names == subject.names]
        fitting = [each for each in same if _fits(each, version)]
        new = [each for each in fitting if each.number not in self._asked]
        allowed = [each for each in new if not _is_read(each) or self._order.may_begin(each)]
        asked = [each for each in fitting if each.number in self._asked]
        for candidates, is_first in ((allowed, 1), (asked, -1), (new, 1)):
            if candidates:
                return min(candidates, key=lambda candidate: self._rank(candidate, subject, node, is_first))
        return None

    def _rank(self, exchange: Exchange, subject: RequestSubject, node: int, is_first: int) -> tuple[int, int]:
        """The nearest, then the first among new ones, the last among those that were asked for."""
        is_elsewhere = exchange.node != node and exchange.api_key not in OF_THE_CLUSTER
        distance = self._subject(exchange).distance(subject) + is_elsewhere
        return distance, exchange.number * is_first

    def _subject(self, exchange: Exchange) -> RequestSubject:
        found = self._subjects.get(exchange.number)
        if found is None:
            found = self._subjects[exchange.number] = subject_of(exchange.request(), self._names)
        return found

    def nearest(self, api_key: int, body: Any, without: Collection[int] = ()) -> Exchange | None:
        """The recorded request that is most like this one."""
        subject = subject_of(body, self._names)

        def distance(each: Exchange) -> int:
            of = self._subject(each)
            return ((of.names - subject.names) + (subject.names - of.names)).total()

        return min((each for each in self._of(api_key) if each.number not in without), key=distance, default=None)

    def unasked(self) -> Sequence[Exchange]:
        """The exchanges that no client asked for, without those that change nothing: how often a
        client asks for metadata depends on time. Produce counts by its records, Fetch by the
        records that it found."""
        return sorted(self._all_unasked(), key=lambda exchange: exchange.number)

    def _all_unasked(self) -> Iterator[Exchange]:
        yield from self._produce.unasked()
        yield from self._fetch.unasked()
        for exchange in self._exchanges:
            if not (exchange.api_key in BY_PARTITION or _is_read(exchange) or exchange.number in self._asked):
                yield exchange


def _is_read(exchange: Exchange) -> bool:
    """Whether it changes nothing: then clients ask as often as they like."""
    return exchange.api_key in READS or exchange.api.startswith(("Describe", "List"))


def _fits(exchange: Exchange, version: int) -> bool:
    """Whether the recorded answer can be written in this version."""
    if exchange.outcome != ANSWERED or version == exchange.version:
        return True
    low, high = registry.api(exchange.api_key).response.versions
    if not low <= version <= high:
        return False
    try:
        exchange.answer().encode(version)
    except UsageError:
        return False
    return True


NODE_FIELDS = ("node_id", "broker_id")

Address = tuple[str, int]


def readdress(struct: Any, addresses: Mapping[int, Address]) -> None:
    """Sets host and port of every broker in an answer, in place."""
    for name in NODE_FIELDS:
        if all(hasattr(struct, field) for field in (name, "host", "port")):
            struct.host, struct.port = addresses.get(getattr(struct, name), (struct.host, struct.port))
    for field in fields_of(type(struct)):
        if field.struct is not None and (value := getattr(struct, field.name)) is not None:
            for each in value if field.array else (value,):
                readdress(each, addresses)


def topic_names(recording: Recording) -> dict[Uuid, str]:
    """Each topic id that an answer gives together with a name."""
    found: dict[Uuid, str] = {}
    for exchange in recording.exchanges:
        if exchange.api_key in (ApiKeys.METADATA, ApiKeys.CREATE_TOPICS) and (answer := exchange.answer()) is not None:
            found.update((topic.topic_id, topic.name) for topic in answer.topics if topic.name)
    found.pop(Uuid.ZERO, None)
    return found
