"""Translates ids that each server chooses itself: topic ids, member ids, producer ids, fetch
sessions.

Rules. The recorded answer and the answer of the target to the same request have ids at the same
positions: the recorded id corresponds to the target's id. Later requests are sent with the ids of
the target. Node ids are known from the start. An id that no answer contained was chosen by the
client, and is not translated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.fields import FieldInfo, fields_of
from kafkadouble.messages.uuid import Uuid
from kafkadouble.replay.recorded.exchange import Exchange
from kafkadouble.wire.batch import iter_batches, set_producer
from kafkadouble.wire.errors import WireError

from .field_rules import NODE, PRODUCER, SESSION, id_kind

NOT_AN_ID: Mapping[str, tuple[Any, ...]] = {SESSION: (0, -1), PRODUCER: (-1,)}
"""Kind of an id -> the values that mean no id. For all other kinds these values are `_NO_ID`."""

_NO_ID = (None, "", -1, Uuid.ZERO)

COUNTED = (
    ("producer_id", "producer_epoch"),
    ("v3_and_below_producer_id", "v3_and_below_producer_epoch"),
    ("member_id", "generation_id"),
    ("member_id", "generation_id_or_member_epoch"),
)
"""Fields of one struct: an id, and the count that the server keeps for it (an epoch, a generation).
The count of the target is higher than the recorded count if the target knew the producer or the
group before."""


def is_id(kind: str, value: Any) -> bool:
    """Whether a value of this kind is an id."""
    return value not in NOT_AN_ID.get(kind, _NO_ID)


class IdTranslation:
    """Translates the ids of a recording to those of the target. `nodes` maps node ids."""

    def __init__(self, nodes: Mapping[int, int]) -> None:
        self._target_ids: dict[tuple[str, Any], Any] = {(NODE, recorded): node for recorded, node in nodes.items()}
        # Recorded id -> the number that is added to its count; fetch session -> the number that is
        # added to its epoch.
        self._ahead: dict[Any, int] = {}
        self._fetches: dict[tuple[int, int], int] = {}

    def learn(self, kind: str, recorded: Any, found: Any, node: int) -> bool:
        """Records that a recorded id corresponds to an id of the target. Returns False if it
        already corresponds to another id."""
        if kind == SESSION and is_id(kind, recorded):
            self._target_ids[_key(kind, recorded, node)] = found
            return True
        if not is_id(kind, recorded) or not is_id(kind, found):
            return kind == SESSION or is_id(kind, recorded) == is_id(kind, found)
        known: Any = self._target_ids.setdefault(_key(kind, recorded, node), found)
        return bool(known == found)

    def learn_count(self, recorded: Any, found: Any) -> None:
        """Records the difference between the counts of an id, from the same struct of both
        answers."""
        for id_name, count_name in COUNTED:
            count = getattr(recorded, count_name, -1)
            if count >= 0 and is_id("", id := getattr(recorded, id_name, None)):
                self._ahead[id] = getattr(found, count_name) - count

    def count(self, id: Any, count: int) -> int:
        """The target's count for a count (an epoch, a generation) of an id of the recording."""
        return count if count < 0 else count + self._ahead.get(id, 0)

    def fetched_again(self, exchange: Exchange) -> None:
        """Records that a request was sent once more: in a fetch session, the next request has a
        higher epoch."""
        if exchange.api_key == ApiKeys.FETCH and (body := exchange.request()).session_epoch > 0:
            key = exchange.node, body.session_id
            self._fetches[key] = self._fetches.get(key, 0) + 1

    def of(self, kind: str, value: Any, node: int) -> Any:
        """The id of the target for a recorded id; the recorded id if no other is known."""
        return self._target_ids.get(_key(kind, value, node), value) if is_id(kind, value) else value

    def request(self, exchange: Exchange) -> tuple[Any, bool]:
        """The request to send, and whether it differs from the recorded one."""
        body = exchange.request()
        is_later = self._move_session(exchange, body)
        return body, self._translate(exchange, body) or is_later

    def _move_session(self, exchange: Exchange, body: Any) -> bool:
        """Adjusts the epoch of a fetch session. It is called before the ids are translated, because
        it needs the recorded session id."""
        if exchange.api_key != ApiKeys.FETCH or body.session_epoch <= 0:
            return False
        more = self._fetches.get((exchange.node, body.session_id), 0)
        body.session_epoch += more
        return more > 0

    def _translate(self, exchange: Exchange, struct: Any) -> bool:
        changed = self._translate_counts(struct)
        for field in fields_of(type(struct)):
            value = getattr(struct, field.name)
            if value is None:
                continue
            if field.struct is not None:
                for each in value if field.array else (value,):
                    changed |= self._translate(exchange, each)
            elif (new := self._value(exchange, field, value)) is not value:
                setattr(struct, field.name, new)
                changed = True
        return changed

    def _translate_counts(self, struct: Any) -> bool:
        """Translates the counts. It is called before the ids are translated, because it needs the
        recorded ids."""
        changed = False
        for id_name, count_name in COUNTED:
            if hasattr(struct, id_name) and hasattr(struct, count_name):
                before = getattr(struct, count_name)
                after = self.count(getattr(struct, id_name), before)
                setattr(struct, count_name, after)
                changed |= after != before
        return changed

    def _value(self, exchange: Exchange, field: FieldInfo, value: Any) -> Any:
        """The value to send: the same object if nothing changes."""
        if field.type == "records":
            return self._records(value)
        kind = id_kind(exchange.api, field)
        if kind is None:
            return value
        return _mapped(value, field, lambda each: self.of(kind, each, exchange.node))

    def _records(self, records: Any) -> Any:
        """The batches with the producer id and epoch of the target. Bytes that are no batch are not
        changed."""
        changed: bytearray | None = None
        try:
            for position, header in iter_batches(records):
                before = header.producer_id, header.producer_epoch
                after = self.of(PRODUCER, before[0], 0), self.count(*before)
                if header.magic == 2 and before != after:
                    changed = bytearray(records) if changed is None else changed
                    set_producer(changed, *after, header.base_sequence, position)
        except WireError:
            return records
        return records if changed is None else bytes(changed)


def _mapped(value: Any, field: FieldInfo, found: Callable[[Any], Any]) -> Any:
    if not field.array:
        new = found(value)
        return value if new == value else new
    made = [found(each) for each in value]
    return value if made == list(value) else made


def _key(kind: str, value: Any, node: int) -> tuple[str, Any]:
    """The key of an id. Each node numbers its own fetch sessions."""
    return kind, (node, value) if kind == SESSION else value
