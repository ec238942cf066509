"""Compares an answer of the recording with the one that was found, field by field.

Rules. Elements of lists are found by their names (a topic's, a partition's index), so that their
order does not matter. Ids stand for one another as `id_translation.py` learns here.
`field_rules.py` says which fields may differ. Records are compared by `record_comparison.py`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.fields import FieldInfo, fields_of
from kafkadouble.replay.recorded.exchange import Exchange
from kafkadouble.server.requests.answer_errors import codes_in

from .field_rules import NODE, id_kind, is_naming, is_unordered, may_differ
from .id_translation import IdTranslation, is_id
from .record_comparison import compare_records, count_records

ABSENT = "nothing"
"""What stands for an element that only the other answer has."""


class FieldDifference(NamedTuple):
    """`path` is as `topics[0].errorCode`, with the index in the recorded answer. The values are
    texts for people."""

    path: str
    recorded: str
    found: str


class AnswerComparison:
    """Compares the answers of one replay. `ignored`: further fields that may differ, by their names
    in Kafka's JSON, or as `Api.field`."""

    def __init__(self, ids: IdTranslation, ignored: frozenset[str] = frozenset()) -> None:
        self._ids, self._ignored = ids, ignored

    def differences(self, exchange: Exchange, recorded: Any, found: Any) -> list[FieldDifference]:
        """Between the recorded answer and the one that was found."""
        return list(_Walk(self._ids, self._ignored, exchange).structs(recorded, found, ""))


class _Walk:
    """A pair of answers."""

    def __init__(self, ids: IdTranslation, ignored: frozenset[str], exchange: Exchange) -> None:
        self._ids, self._ignored, self._exchange = ids, ignored, exchange
        self._api, self._version = exchange.api, exchange.version

    def structs(self, recorded: Any, found: Any, path: str) -> Iterator[FieldDifference]:
        self._ids.learn_count(recorded, found)
        for field in fields_of(type(recorded)):
            if not field.present(self._version) and not field.is_tagged(self._version):
                continue
            at = f"{path}.{field.json_name}" if path else field.json_name
            names = field.json_name, f"{self._api}.{field.json_name}"
            if may_differ(self._api, field) or any(name in self._ignored for name in names):
                continue
            yield from self._fields(field, getattr(recorded, field.name), getattr(found, field.name), at)

    def _fields(self, field: FieldInfo, recorded: Any, found: Any, path: str) -> Iterator[FieldDifference]:
        if recorded is None or found is None:
            if field.type == "records":
                yield from compare_records(recorded or b"", found or b"", path, self._difference)
            elif recorded is not found:
                yield self._difference(path, shown(field, recorded), shown(field, found))
        elif field.struct is not None and field.array:
            yield from self._lists(recorded, found, path)
        elif field.struct is not None:
            yield from self.structs(recorded, found, path)
        elif field.type == "records":
            yield from compare_records(recorded, found, path, self._difference)
        else:
            yield from self._values(field, recorded, found, path)

    def _lists(self, recorded: Sequence[Any], found: Sequence[Any], path: str) -> Iterator[FieldDifference]:
        pairs, more = self._pairs(recorded, found)
        for index, (one, other) in enumerate(pairs):
            at = f"{path}[{index}]"
            if other is not None:
                yield from self.structs(one, other, at)
            # An answer in a fetch session may leave it out without records and without an error.
            elif not (self._may_be_more(one) and not _has_records(one)):
                yield self._difference(at, _named(one), ABSENT)
        more = [one for one in more if not self._may_be_more(one)]
        if more:
            yield self._difference(path, ABSENT, _cut("; ".join(map(_named, more))))

    def _may_be_more(self, struct: Any) -> bool:
        """Whether a Fetch may find this in addition, when another client writes meanwhile."""
        return self._api == "Fetch" and self._exchange.request().session_epoch > 0 and not codes_in(struct)

    def _pairs(self, recorded: Sequence[Any], found: Sequence[Any]) -> tuple[list[tuple[Any, Any]], list[Any]]:
        """Pairs each recorded element with the one that answers it, or None; and those that are
        more. Elements whose names are not known yet are paired in their order."""
        by_names: dict[tuple[Any, ...], deque[int]] = {}
        for index, each in enumerate(found):
            by_names.setdefault(self._names(each, is_recorded=False), deque()).append(index)
        left = dict(enumerate(found))
        pairs: list[tuple[Any, Any]] = []
        for one in recorded:
            indexes = by_names.get(self._names(one, is_recorded=True))
            pairs.append((one, left.pop(indexes.popleft()) if indexes else None))
        unknown = [index for index, (_, other) in enumerate(pairs) if other is None]
        rest = list(left.values())
        if len(unknown) == len(rest) and all(self._may_be_new(pairs[index][0]) for index in unknown):
            for index in unknown:
                pairs[index] = pairs[index][0], rest.pop(0)
        return pairs, rest

    def _names(self, struct: Any, *, is_recorded: bool) -> tuple[Any, ...]:
        """The names by which an element is found. Ids count only if the element has no other
        name."""
        plain, ids = [], []
        for field in fields_of(type(struct)):
            kind = id_kind(self._api, field)
            value = getattr(struct, field.name)
            if field.array or field.struct is not None:
                continue
            if kind is not None and is_id(kind, value):
                ids.append(self._ids.of(kind, value, self._exchange.node) if is_recorded else value)
            elif is_naming(field) and kind is None:
                plain.append(value)
        return tuple(plain) if any(name not in (None, "") for name in plain) else tuple(ids)

    def _may_be_new(self, struct: Any) -> bool:
        """Whether it is found by ids alone, which were perhaps not seen before."""
        return not any(is_naming(field) and id_kind(self._api, field) is None for field in fields_of(type(struct)))

    def _values(self, field: FieldInfo, recorded: Any, found: Any, path: str) -> Iterator[FieldDifference]:
        kind = id_kind(self._api, field)
        if kind is not None and field.type != "records":
            same = self._same_ids(kind, field, recorded, found)
        elif field.array:
            same = sorted(recorded) == sorted(found) if is_unordered(field) else list(recorded) == list(found)
        else:
            same = recorded == found
        if not same:
            yield self._difference(path, shown(field, recorded), shown(field, found))

    def _same_ids(self, kind: str, field: FieldInfo, recorded: Any, found: Any) -> bool:
        node = self._exchange.node
        if not field.array and kind != NODE:
            return self._ids.learn(kind, recorded, found, node)
        ours, theirs = (recorded, found) if field.array else ([recorded], [found])
        mapped = [self._ids.of(kind, our, node) for our in ours]
        return sorted(mapped) == sorted(theirs) if is_unordered(field) else mapped == list(theirs)

    def _difference(self, path: str, recorded: str, found: str) -> FieldDifference:
        return FieldDifference(path, recorded, found)


def _has_records(struct: Any) -> bool:
    """Whether a partition, or the partitions of a topic, in a Fetch answer have records."""
    partitions = getattr(struct, "partitions", None) or [struct]
    return any(count_records(getattr(partition, "records", None)) != 0 for partition in partitions)


LONGEST = 200
"""The characters of a value that are shown."""


def shown(field: FieldInfo, value: Any) -> str:
    """A value as a text for people; error codes by their names."""
    if field.json_name == "errorCode" and isinstance(value, int):
        return error_codes.name(value)
    return _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}... ({len(text)} characters)"


def _named(struct: Any) -> str:
    """An element by its names, in short."""
    parts = [
        f"{field.json_name}={getattr(struct, field.name)!r}"
        for field in fields_of(type(struct))
        if is_naming(field) and not field.array and field.struct is None
    ]
    return ", ".join(parts)[:LONGEST] or type(struct).__name__
