"""Filters records by key, value, headers and offset, and leaves out records that were read before.

Rules. Every given filter must match. A text means its UTF-8 bytes. The last read offset is kept for
each partition, so that records of one partition hide no records of another.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from kafkadouble.arguments.parameters import check_given, check_one
from kafkadouble.common.errors import UsageError
from kafkadouble.common.kinds import given_as
from kafkadouble.wire.wording import Caller, ShownValue

if TYPE_CHECKING:
    from .read_records import ReadRecord


class RecordNarrowing(TypedDict, total=False):
    """The filters of `records` and `wait_for_records`.

    - `since`: an offset, for records from this offset on; or records that were read, for records
      after them; or offsets by partition, such as the result of `end_offsets`.
    - `key`, `value`: the key and the value of the record, as bytes or text.
    - `header`: the name of a header that the record has, or headers with their values, by name.
    - `offset`: the record with this offset.
    """

    since: int | ReadRecord | Iterable[ReadRecord] | Mapping[int, int] | None
    key: str | bytes | None
    value: str | bytes | None
    header: str | Mapping[str, str | bytes | None] | None
    offset: int | None


@given_as("record")
class ReadPosition(NamedTuple):
    """The partition and offset of a record that was read, for a caller that has no ReadRecord."""

    topic: str
    partition: int
    offset: int


class RecordFilter(NamedTuple):
    """A checked filter. `starts` has the first offset of each named partition, and `start` is the
    first offset of the others. `given` has the remaining filters in the caller's form, for
    messages."""

    start: int
    starts: Mapping[int, int]
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    header_name: str | None
    offset: int | None
    given: Mapping[str, Any]

    @classmethod
    def checked(cls, topic: str, given: RecordNarrowing) -> RecordFilter:
        """Raises UsageError for a filter that no record can match."""
        fields: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        _check(fields)
        header = fields.get("header")
        start, starts = _starts(topic, fields.pop("since", 0))
        pairs = () if header is None or isinstance(header, str) else tuple(header.items())
        return cls(
            start,
            starts,
            _bytes(fields.get("key")),
            _bytes(fields.get("value")),
            tuple((name, _bytes(value)) for name, value in pairs),
            header if isinstance(header, str) else None,
            fields.get("offset"),
            fields,
        )

    def first_offset(self, partition: int) -> int:
        """The first offset to read of a partition."""
        return self.starts.get(partition, self.start)

    def accepts(self, record: ReadRecord) -> bool:
        """Whether a record matches."""
        return (
            record.offset >= self.first_offset(record.partition)
            and self.key in (None, record.key)
            and self.value in (None, record.value)
            and self.offset in (None, record.offset)
            and (self.header_name is None or any(name == self.header_name for name, _ in record.headers))
            and all(pair in record.headers for pair in self.headers)
        )

    def __str__(self) -> str:
        """The filters in the caller's form: ` with key 'a', offset 5`; empty without a filter."""
        words = [f"{name} {_in_words(value)}" for name, value in self.given.items()]
        after = [f"from the offset {self.start} on"] if self.start else []
        after += ["after the records that were read"] if self.starts else []
        return (f" with {', '.join(words)}" if words else "") + "".join(f" {each}" for each in after)


def _in_words(value: Any) -> str:
    """A value as text for callers in any language: headers as JSON."""
    return ShownValue(value).in_words_of(Caller.HTTP) if isinstance(value, Mapping) else repr(value)


def _check(fields: dict[str, Any]) -> None:
    from kafkadouble.arguments.parameters import ARGUMENTS  # only if a filter is given

    names = list(RecordNarrowing.__annotations__)
    unknown = next((name for name in fields if name not in names), None)
    if unknown is not None:
        from kafkadouble.server.configs.did_you_mean import near  # only for an error

        raise UsageError(f"records have no filter {unknown!r}: {', '.join(names)}{near(unknown, names)}")
    check_given(**{name: value for name, value in fields.items() if name not in ("since", "offset")})
    for name in ("since", "offset"):
        if name in fields:
            check_one(name, ARGUMENTS[f"records.{name}"], fields[name])


def _bytes(value: str | bytes | None) -> bytes | None:
    return value.encode() if isinstance(value, str) else value


def _starts(topic: str, since: Any) -> tuple[int, dict[int, int]]:
    """The first offset of partitions that are not named, and the first offset of each named
    partition."""
    if isinstance(since, int):
        return since, {}
    if isinstance(since, Mapping):
        return 0, dict(since)
    starts: dict[int, int] = {}
    for each in [since] if hasattr(since, "offset") else since:
        if each.topic != topic:
            raise UsageError(f"since has a record of {each.topic}, not of {topic}")
        starts[each.partition] = max(starts.get(each.partition, 0), each.offset + 1)
    return 0, starts
