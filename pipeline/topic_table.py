"""`fetch`: a topic of any broker that speaks Kafka's protocol as an Arrow table, without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from kafkadouble.wire.errors import UsageError

from .client import EARLIEST, LATEST, Client, TopicPartition
from .streamed import Streamed

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pyarrow as pa

OF_FILES = ("batch_position", "segment", "control", "crc_ok", "replica")
"""Columns that only a log on disk has."""

WORDS = {"earliest": EARLIEST, "latest": LATEST}

Bound = str | int | Mapping[int, int | str]
"""earliest, latest, an offset, or offsets by partition."""


class TopicTable(Streamed):
    """Parts of a topic, between offsets that were fixed when it was made. Each iteration reads them
    from the brokers."""

    def __init__(
        self,
        settings: Mapping[str, object],
        spans: Mapping[TopicPartition, tuple[int, int]],
        names: Sequence[str],
        isolation: str,
    ) -> None:
        from kafkadouble.wire import columns

        self.schema: pa.Schema = columns.schema(names)
        self.spans = dict(spans)
        self._settings, self._isolation = dict(settings), isolation

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        from .fetched_rows import rows

        committed = self._isolation == "read_committed"
        with Client(self._settings) as client:
            for partition, (start, end) in self.spans.items():
                for fetched in client.read(partition, start, end, isolation=self._isolation):
                    yield from rows(fetched, partition, start, end, self.schema.names, committed)

    def __repr__(self) -> str:
        offsets = sum(end - start for start, end in self.spans.values())
        return f"TopicTable({offsets} offsets in {len(self.spans)} partitions)"


def fetch(
    bootstrap_servers: str,
    topic: str,
    *,
    partitions: Iterable[int] | None = None,
    columns: Sequence[str] | None = None,
    starting_offsets: Bound = "earliest",
    ending_offsets: Bound = "latest",
    starting_timestamp: int | None = None,
    ending_timestamp: int | None = None,
    isolation: str | None = None,
    config: Mapping[str, object] | None = None,
) -> TopicTable:
    """The records of a topic up to its present end, or a part of them.

    `columns`: their names, in order; by default all that a broker sends. Timestamps are ms since
    the epoch and take precedence over offsets: from the first record with this timestamp or a later
    one. `config` has further settings of Kafka's clients, such as `security.protocol`; its
    `isolation.level` counts unless `isolation` is given. Raises UsageError, and kinds of
    `kafkadouble.pipeline.client.ClientError`; while reading, WireError for a corrupt batch.
    """
    try:
        from kafkadouble.wire.columns import NAMES
    except ModuleNotFoundError as missing:
        raise UsageError(f"a table of a topic needs {missing.name}: pip install 'kafkadouble[columns]'") from None
    names = list(columns) if columns is not None else [name for name in NAMES if name not in OF_FILES]
    settings = {"bootstrap.servers": bootstrap_servers, **(config or {})}
    with Client(settings) as client:
        isolation = isolation or client.settings.text("isolation.level") or ""
        chosen = _chosen(client, topic, partitions)
        starts = _starts(client, chosen, starting_offsets, starting_timestamp, isolation)
        ends = _ends(client, chosen, ending_offsets, ending_timestamp, isolation)
    spans = {each: (starts[each], max(starts[each], ends[each])) for each in chosen}
    return TopicTable(settings, spans, names, isolation)


def _chosen(client: Client, topic: str, partitions: Iterable[int] | None) -> list[TopicPartition]:
    found = client.partitions(topic)
    numbers = found if partitions is None else list(partitions)
    for number in numbers:
        if number not in found:
            raise UsageError(f"topic {topic!r} has no partition {number}: it has {len(found)}, counted from 0")
    return [TopicPartition(topic, number) for number in numbers]


def _starts(
    client: Client, chosen: Sequence[TopicPartition], bound: Bound, when: int | None, isolation: str
) -> dict[TopicPartition, int]:
    if when is None:
        return _bounds(client, chosen, "starting_offsets", bound, isolation)
    return _by_time(client, chosen, "starting_timestamp", when, isolation)


def _ends(
    client: Client, chosen: Sequence[TopicPartition], bound: Bound, when: int | None, isolation: str
) -> dict[TopicPartition, int]:
    """Limits the end to the present end of the partition: a read would wait for later records."""
    latest = _bounds(client, chosen, "ending_offsets", "latest", isolation)
    if when is None:
        ends = _bounds(client, chosen, "ending_offsets", bound, isolation)
    else:
        ends = _by_time(client, chosen, "ending_timestamp", when, isolation)
    return {partition: min(ends[partition], latest[partition]) for partition in chosen}


def _by_time(
    client: Client, chosen: Sequence[TopicPartition], name: str, when: int, isolation: str
) -> dict[TopicPartition, int]:
    """The first offset of this timestamp or a later one, else the end."""
    if when < 0:
        raise UsageError(f"{name}: {when} is no time in ms since the epoch")
    offsets = client.offsets(dict.fromkeys(chosen, when), isolation)
    latest = _bounds(client, chosen, name, "latest", isolation)
    return {partition: latest[partition] if (at := offsets[partition]) is None else at.offset for partition in chosen}


def _bounds(
    client: Client, chosen: Sequence[TopicPartition], name: str, bound: Bound, isolation: str
) -> dict[TopicPartition, int]:
    bounds = {partition: _bound(name, bound, partition) for partition in chosen}
    special = {each: offset for each, offset in bounds.items() if offset < 0}
    found = client.offsets(special, isolation) if special else {}
    return {partition: bounds[partition] if (at := found.get(partition)) is None else at.offset for partition in chosen}


def _bound(name: str, bound: Bound, partition: TopicPartition) -> int:
    """An offset, or -1 or -2."""
    given = bound.get(partition.partition) if isinstance(bound, Mapping) else bound
    value = WORDS.get(given, given) if isinstance(given, str) else given
    if isinstance(value, bool) or not isinstance(value, int) or value < EARLIEST:
        raise UsageError(f"{name}: {value!r} is no offset for {partition}: give earliest, latest or a number")
    return value
