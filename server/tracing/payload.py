"""The facts about records that the request history keeps: their number, their size, and the header
of the first batch. They replace the records in copies of requests and answers.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct as Layout
from typing import Any

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.wire.batch_header import HEADER_SIZE, LOG_OVERHEAD, BatchHeader
from kafkadouble.wire.batch_walk import read_header
from kafkadouble.wire.errors import WireError
from kafkadouble.wire.file_slice import FileSlice

from ..apis.row import BODIES
from ..apis.served import ROWS

_LENGTH_AT, _COUNT_AT = 8, 57
_int32 = Layout(">i").unpack_from

MOST_PARTITIONS = 1000

MOST_COUNTED = 256
"""The largest number of batches in one partition of a Fetch answer whose records are counted. Each
costs a part of a microsecond, and an answer can have ten thousand."""


class Payload:
    """The facts about record batches that are kept: `len` is their size in bytes, and `records` the
    number of records. `records` is None if they were not counted: in a Fetch answer from a file, or
    with more than 256 batches.
    """

    __slots__ = ("_header", "_size", "records")

    def __init__(self, data: bytes | memoryview | None) -> None:
        self._size = 0 if data is None else len(data)
        self.records: int | None = 0
        self._header = b""
        if data is not None and self._size >= HEADER_SIZE:
            self._header = bytes(data[:HEADER_SIZE])
            self.records = _int32(self._header, _COUNT_AT)[0]

    @classmethod
    def fetched(cls, data: Any) -> Payload:
        """Of the records in a Fetch answer, which may be in a file, and have several batches."""
        if isinstance(data, FileSlice):
            made = cls(None)
            made._size, made.records = data.whole_size, None
            return made
        made = cls(data)
        if made._size > HEADER_SIZE:
            made.records = _counted(data, made._size)
        return made

    @property
    def batch(self) -> BatchHeader | None:
        """The header of the first batch; None if there is none, or if it was not kept."""
        try:
            return read_header(self._header, partial=True)
        except WireError:
            return None

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"<{'some' if self.records is None else self.records} records in {self._size} bytes>"


def _counted(data: Any, size: int) -> int | None:
    position = total = 0
    for _ in range(MOST_COUNTED):
        if position + HEADER_SIZE > size:
            return total
        total += _int32(data, position + _COUNT_AT)[0]
        length = _int32(data, position + _LENGTH_AT)[0]
        if length <= 0:
            return None
        position += length + LOG_OVERHEAD
    return total if position + HEADER_SIZE > size else None


_copiers: dict[type, Callable[[Any], Any]] = {}


def _copied(struct: Any) -> Any:
    """A shallow copy. `copy.copy` takes ten times as long, and a loop over the fields three times;
    every Produce and every Fetch passes here."""
    cls = struct.__class__
    copier = _copiers.get(cls)
    if copier is None:
        copier = _copiers[cls] = _copier(cls)
    return copier(struct)


def _copier(cls: Any) -> Callable[[Any], Any]:
    """A function that copies the fields of a struct one by one. Their names are those of generated
    classes."""
    fields = "".join(f" made.{name} = struct.{name}\n" for name in cls.__slots__)
    names: dict[str, Any] = {"new": object.__new__, "cls": cls}
    exec(f"def copier(struct):\n made = new(cls)\n{fields} return made\n", names)
    copier: Callable[[Any], Any] = names["copier"]
    return copier


def produce_request(body: Any) -> tuple[Any, int]:
    """A ProduceRequest with payloads in place of record batches, and how many bytes that saves."""
    saved, topics = 0, []
    for topic in body.topic_data:
        partitions = []
        for data in topic.partition_data:
            stripped = _copied(data)
            stripped.records = payload = Payload(data.records)
            saved += max(0, payload._size - HEADER_SIZE)
            partitions.append(stripped)
        slim = _copied(topic)
        slim.partition_data = partitions
        topics.append(slim)
    made = _copied(body)
    made.topic_data = topics
    return made, saved


def sasl_request(body: Any) -> tuple[Any, int]:
    """A SaslAuthenticateRequest without what proves the identity."""
    made = _copied(body)
    made.auth_bytes = b""
    return made, len(body.auth_bytes)


def fetch_answer(answer: Any) -> tuple[Any, int]:
    """A FetchResponse with payloads in place of records, and how many bytes that saves. None for
    one with more than 1,000 partitions, which would take long to copy."""
    if sum(len(topic.partitions) for topic in answer.responses) > MOST_PARTITIONS:
        return None, 0
    made, saved = None, 0
    for place, topic in enumerate(answer.responses):
        partitions, freed = _without_records(topic.partitions)
        if partitions is not topic.partitions:
            if made is None:
                made = _copied(answer)
                made.responses = list(answer.responses)
            made.responses[place] = slim = _copied(topic)
            slim.partitions = partitions
            saved += freed
    return (answer if made is None else made), saved


def _without_records(partitions: list[Any]) -> tuple[list[Any], int]:
    """The same list if there are no records; and how many bytes the payloads save."""
    found, saved = partitions, 0
    for index, data in enumerate(partitions):
        records = data.records
        # A slice of a file is empty when it was sent.
        if records or isinstance(records, FileSlice):
            if found is partitions:
                found = list(partitions)
            found[index] = stripped = _copied(data)
            stripped.records = payload = Payload.fetched(records)
            saved += max(0, payload._size - HEADER_SIZE)
    return found, saved


def snapshot_answer(answer: Any) -> tuple[Any, int]:
    """A FetchSnapshotResponse without the bytes of the snapshot."""
    made, saved = _copied(answer), 0
    made.topics = [_copied(topic) for topic in answer.topics]
    for topic in made.topics:
        topic.partitions = [_copied(part) for part in topic.partitions]
        for part in topic.partitions:
            saved += len(part.unaligned_records or b"")
            part.unaligned_records = b""
    return made, saved


def no_answer(answer: Any) -> tuple[None, int]:
    """In place of an answer that may hold secrets."""
    return None, 0


Strip = Callable[[Any], tuple[Any, int]]

OF_REQUEST: dict[int, Strip] = {
    ApiKeys.PRODUCE: produce_request,
    ApiKeys.SASL_AUTHENTICATE: sasl_request,
}

OF_ANSWER: dict[int, Strip] = {
    ApiKeys.FETCH: fetch_answer,
    ApiKeys.FETCH_SNAPSHOT: snapshot_answer,
    **{row.api.key: no_answer for row in ROWS if row.secrets == BODIES},
}
