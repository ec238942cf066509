"""The text of positions in a checkpoint: {"orders":{"0":123}}. Spark's connector writes the same,
so each continues from the checkpoints of the other.

Ours has one more key, which is no valid topic name, and whose value is empty, so that the connector
finds no partition in it:

    "@leader-epochs orders 3fK0Q2bCTd2mZp1xWl8cJg 0:5 1:3:40":{}

Per topic its id (or `-`), then per partition the leader epoch of the record before the position
(KIP-320), and, in the first micro-batch of a query only, the start of the query: Spark asks for the
start again when that batch is repeated, and `latest` may be different then.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafkadouble.wire.errors import UsageError

from ..client import TopicPartition
from .values import flat

RESERVED = "@leader-epochs"
Json = dict[str, dict[str, int]]


@dataclass(frozen=True)
class Positions:
    """The position of a query: the next offset of every partition. `epochs` and `ids` contain only
    known ones."""

    offsets: Mapping[TopicPartition, int]
    epochs: Mapping[TopicPartition, int] = field(default_factory=dict)
    ids: Mapping[str, str] = field(default_factory=dict)
    begun: Mapping[TopicPartition, int] = field(default_factory=dict)


def to_json(positions: Positions) -> Json:
    """The text for a checkpoint; equal positions have the same text."""
    json: Json = {}
    parts: dict[str, list[str]] = {}
    for tp in sorted(positions.offsets):
        json.setdefault(tp.topic, {})[str(tp.partition)] = positions.offsets[tp]
        parts.setdefault(tp.topic, []).extend(_partition(tp, positions))
    ours = [" ".join([topic, positions.ids.get(topic, "-"), *parts[topic]]) for topic in json]
    known = [text for topic, text in zip(json, ours, strict=True) if parts[topic] or topic in positions.ids]
    if known:
        json[f"{RESERVED} {'; '.join(known)}"] = {}
    return json


def of_json(kept: Mapping[str, Mapping[str, int]]) -> Positions:
    """Parses the text of a checkpoint, ours or the connector's. Raises UsageError for any other
    text."""
    try:
        offsets = flat({topic: dict(parts) for topic, parts in kept.items() if not topic.startswith("@")})
        own = [key.removeprefix(RESERVED) for key in kept if key.startswith(RESERVED)]
        ids, rows = _parsed(own[0]) if own else ({}, [])
    except (AttributeError, TypeError, ValueError):
        raise UsageError(
            f"a checkpoint's offsets are not of kafka-wire nor of Spark's Kafka connector: {kept!r:.300}"
        ) from None
    epochs = {tp: epoch for tp, epoch, _ in rows if epoch >= 0}
    return Positions(offsets, epochs, ids, {tp: begun for tp, _, begun in rows if begun is not None})


def _partition(tp: TopicPartition, positions: Positions) -> list[str]:
    epoch, begun = positions.epochs.get(tp), positions.begun.get(tp)
    if epoch is None and begun is None:
        return []
    numbers = [tp.partition, -1 if epoch is None else epoch, *([] if begun is None else [begun])]
    return [":".join(map(str, numbers))]


def _parsed(text: str) -> tuple[dict[str, str], list[tuple[TopicPartition, int, int | None]]]:
    ids: dict[str, str] = {}
    rows = []
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        topic, id, *partitions = part.split()
        if id != "-":
            ids[topic] = id
        for numbers in partitions:
            partition, epoch, *begun = map(int, numbers.split(":"))
            rows.append((TopicPartition(topic, partition), epoch, begun[0] if begun else None))
    return ids, rows
