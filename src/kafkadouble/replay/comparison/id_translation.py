"""Ids that each server chooses: topic ids, member ids, producer ids, fetch sessions.

Rules. An answer of the recording and the one that was found beside it show which id stands for
which. Later requests are sent with the ids that were found. Node ids are known from the start. An
id that no answer has shown was chosen by the client, and stays.
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
"""Values that stand for no id; of the other kinds they are `_NO_ID`."""

_NO_ID = (None, "", -1, Uuid.ZERO)

COUNTED = (
    ("producer_id", "producer_epoch"),
    ("v3_and_below_producer_id", "v3_and_below_producer_epoch"),
    ("member_id", "generation_id"),
    ("member_id", "generation_id_or_member_epoch"),
)
"""Fields of one struct: an id, and what the server counts for it. The count of the target is ahead
of the recorded one if it knew the producer or the group before."""


def is_id(kind: str, value: Any) -> bool:
    """Whether a value of this kind names something."""
    return value not in NOT_AN_ID.get(kind, _NO_ID)


class IdTranslation:
    """Translates the ids of a recording to those of the target. `nodes` maps node ids."""

    def __init__(self, nodes: Mapping[int, int]) -> None:
        self._found: dict[tuple[str, Any], Any] = {(NODE, recorded): node for recorded, node in nodes.items()}
        # What is added to the count of a recorded id, and to the epoch of a fetch session.
        self._ahead: dict[Any, int] = {}
        self._fetches: dict[tuple[int, int], int] = {}

    def learn(self, kind: str, recorded: Any, found: Any, node: int) -> bool:
        """Records that one id stands for the other. Returns False if another one stands for it
        already."""
        if kind == SESSION and is_id(kind, recorded):
            self._found[_key(kind, recorded, node)] = found
            return True
        if not is_id(kind, recorded) or not is_id(kind, found):
            return kind == SESSION or is_id(kind, recorded) == is_id(kind, found)
        known: Any = self._found.setdefault(_key(kind, recorded, node), found)
        return bool(known == found)

    def learn_count(self, recorded: Any, found: Any) -> None:
        """Records the count of an id, from a struct of two answers that names both."""
        for id_name, count_name in COUNTED:
            count = getattr(recorded, count_name, -1)
            if count >= 0 and is_id("", id := getattr(recorded, id_name, None)):
                self._ahead[id] = getattr(found, count_name) - count

    def count(self, id: Any, count: int) -> int:
        """The target's count for a count (an epoch, a generation) of an id of the recording."""
        return count if count < 0 else count + self._ahead.get(id, 0)

    def fetched_again(self, exchange: Exchange) -> None:
        """A request is sent once more: in a fetch session, the next one has the next epoch."""
        if exchange.api_key == ApiKeys.FETCH and (body := exchange.request()).session_epoch > 0:
            key = exchange.node, body.session_id
            self._fetches[key] = self._fetches.get(key, 0) + 1

    def of(self, kind: str, value: Any, node: int) -> Any:
        """The id that was found for this one; itself if none is known."""
        return self._found.get(_key(kind, value, node), value) if is_id(kind, value) else value

    def request(self, exchange: Exchange) -> tuple[Any, bool]:
        """The request to send, and whether it differs from the recorded one."""
        body = exchange.request()
        is_later = self._move_session(exchange, body)
        return body, self._translate(exchange, body) or is_later

    def _move_session(self, exchange: Exchange, body: Any) -> bool:
        """Before the ids: a session is found by its recorded id."""
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
        """Before the ids: a count is found by the recorded id."""
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
        """Batches with the producer that was found. What is no batch is sent as it is."""
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
    """Fetch sessions are numbered by each node."""
    return kind, (node, value) if kind == SESSION else value
