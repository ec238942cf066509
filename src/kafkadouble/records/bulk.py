"""Appends many records at once, from an iterable or from the lines of a file.

Records are put into batches, one batch for each partition at a time, as a producer does. An error
names the record by its number, from 1; the records before it are appended.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from kafkadouble.arguments.parameters import check, check_given
from kafkadouble.common.errors import KafkaError, UsageError
from kafkadouble.server.configs.did_you_mean import near
from kafkadouble.wire.batch import Record, encode_batch
from kafkadouble.wire.batch_header import HEADER_SIZE
from kafkadouble.wire.wording import AllowedValues, ShownValue

from . import seeding
from .read_records import ReadRecord

if TYPE_CHECKING:
    from os import PathLike

    from kafkadouble.engine.cluster_api import ClusterApi

    from .seeding import HeadersLike, Text

BATCH_BYTES, BATCH_RECORDS = 512 * 1024, 5000
"""A batch is appended before it is larger, unless it is a single record."""

RECORD_OVERHEAD = 32
"""The most bytes of a record besides its key, its value and its headers."""

FIELDS = "value", "key", "headers", "partition", "timestamp"
JSON_SUFFIXES = ".json", ".jsonl", ".ndjson"


class BulkRecord(NamedTuple):
    """A record to append. `partition` and `timestamp` are None unless they are given."""

    value: bytes | None
    key: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    partition: int | None
    timestamp: int | None

    @property
    def size(self) -> int:
        """The bytes that it takes in a batch, or a few more."""
        own = len(self.value or b"") + len(self.key or b"") + RECORD_OVERHEAD
        return own + sum(3 * len(name) + len(value or b"") + 10 for name, value in self.headers)


def bulk_record(given: Any) -> BulkRecord:
    """A record from a value, from a mapping of its fields, or from a record that was read. Raises
    UsageError."""
    if given is None or isinstance(given, str | bytes):
        return BulkRecord(seeding.as_bytes(given), None, (), None, None)
    if isinstance(given, ReadRecord):
        return BulkRecord(given.value, given.key, given.headers, None, given.timestamp)
    if isinstance(given, Mapping):
        for name in given:
            if name not in FIELDS:
                raise UsageError(f"a record has no field {name!r}{near(name, FIELDS)}; it has {', '.join(FIELDS)}")
        return _of_fields(**given)
    problem = "a record is a value or {object} with {fields}, not {given}"
    raise UsageError(problem, object=AllowedValues("a mapping"), fields=", ".join(FIELDS), given=ShownValue(given))


def _of_fields(
    value: Text = None,
    key: Text = None,
    headers: HeadersLike | None = None,
    partition: int | None = None,
    timestamp: int | None = None,
) -> BulkRecord:
    if partition is not None or timestamp is not None:
        check_given(partition=partition, timestamp=timestamp)
    pairs = () if headers is None else seeding.as_headers(headers)
    return BulkRecord(seeding.as_bytes(value), seeding.as_bytes(key), pairs, partition, timestamp)


def most_bytes(broker: ClusterApi, topic: str) -> int:
    """The largest batch that the topic allows. Call it on the loop's thread."""
    topic_id = broker.image.topic_ids[topic]
    led = [each for member in broker.members for each in member.node.partitions.of_topic(topic).values()]
    return min((each.log.config.max_message_bytes for each in led if each.topic_id == topic_id), default=BATCH_BYTES)


class Numbered(NamedTuple):
    """A source of records: what an error calls one of them, as `record`, what there is for each,
    with its number, and how that is read."""

    what: str
    items: Iterator[tuple[int, Any]]
    read: Callable[[Any], BulkRecord]


def of_iterable(records: Iterable[Any]) -> Numbered:
    """The records of an iterable. Raises UsageError for what is none."""
    check(records=records)
    return Numbered("record", iter(enumerate(records, 1)), bulk_record)


def of_file(path: str | PathLike[str], format: str | None, from_json: Callable[[Any], Any]) -> Numbered:
    """The records in the lines of a file; `from_json` makes a record of its JSON object. Raises
    UsageError for a path or format that is none, and OSError if the file cannot be read."""
    check(path=path)
    check_given(format=format)
    name = os.fspath(path)
    is_json = name.endswith(JSON_SUFFIXES) if format is None else format == "json"
    return Numbered(f"{name}, line", _lines(name, is_json), partial(_of_json, from_json) if is_json else _of_text)


def _lines(path: str, is_json: bool) -> Iterator[tuple[int, bytes]]:
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip() or not is_json:
                yield number, line


def _of_text(line: bytes) -> BulkRecord:
    return BulkRecord(line.removesuffix(b"\n").removesuffix(b"\r"), None, (), None, None)


def _of_json(from_json: Callable[[Any], Any], line: bytes) -> BulkRecord:
    try:
        given = json.loads(line)
    except ValueError as problem:
        raise UsageError(f"this is no JSON: {problem}") from None
    if not isinstance(given, Mapping):
        form = "a line is a JSON object with {fields}, not {given}"
        raise UsageError(form, fields=", ".join(FIELDS), given=ShownValue(given))
    return bulk_record(from_json(given))


class BulkAppender:
    """Collects records in batches. `append` appends a batch to a partition and returns the
    response; `limit` is the most bytes of a batch; `choose` gives the partition of a key."""

    def __init__(
        self, what: str, limit: int, append: Callable[[int, bytearray], Any], choose: Callable[[bytes | None], int]
    ) -> None:
        self._what, self._limit = what, min(limit, BATCH_BYTES)
        self._append, self._choose = append, choose
        self._open: dict[int, list[tuple[int, Record]]] = {}
        self._sizes: dict[int, int] = {}
        self.appended = 0

    def add(self, number: int, record: BulkRecord, timestamp: int) -> None:
        """Adds a record to the batch of its partition, which is appended first if it is full."""
        index = self._choose(record.key) if record.partition is None else record.partition
        at = timestamp if record.timestamp is None else record.timestamp
        size, batch = record.size, self._open.setdefault(index, [])
        if batch and (self._sizes[index] + size > self._limit or len(batch) >= BATCH_RECORDS):
            self._flush(index)
            batch = self._open.setdefault(index, [])
        self._sizes[index] = size + (self._sizes[index] if batch else HEADER_SIZE)
        batch.append((number, Record(len(batch), at, record.key, record.value, record.headers)))

    def flush(self) -> None:
        """Appends what is left."""
        for index in list(self._open):
            self._flush(index)

    def _flush(self, index: int) -> None:
        batch = self._open.pop(index)
        numbers = [number for number, _ in batch]
        try:
            encoded = encode_batch(record for _, record in batch)
        except UsageError as problem:
            where = f"{self._what} {numbers[0]} or one of the next"
            raise UsageError("{where}: {problem}", where=where, problem=problem) from None
        try:
            response = self._append(index, encoded)
        except KafkaError as problem:
            raise KafkaError(problem.code, f"{self._what} {numbers[0]}: {problem.text}") from None
        outcome = response.responses[0].partition_responses[0]
        if outcome.error_code:
            wrong = numbers[outcome.record_errors[0].batch_index] if outcome.record_errors else numbers[0]
            raise KafkaError(outcome.error_code, f"{self._what} {wrong}: {_problem(outcome)}")
        self.appended += len(batch)


def _problem(outcome: Any) -> str:
    from kafkadouble.messages import error_codes  # for an error alone

    return outcome.error_message or error_codes.meaning(outcome.error_code)


def append_all(source: Numbered, appender: BulkAppender, now: Callable[[], int], partition: int | None) -> int:
    """Appends every record of a source; returns how many. `partition` is for records that have
    none."""
    for number, item in source.items:
        try:
            record = source.read(item)
        except UsageError as problem:
            appender.flush()
            raise UsageError("{where}: {problem}", where=f"{source.what} {number}", problem=problem) from None
        if record.partition is None and partition is not None:
            record = record._replace(partition=partition)
        appender.add(number, record, now())
    appender.flush()
    return appender.appended
