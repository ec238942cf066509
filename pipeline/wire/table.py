"""The options of `kafka-wire`: one table, which the parser reads, and a test compares with
docs/kafka-wire.md.

The names, values and defaults are those of Spark's connector (spark-sql-kafka-0-10), so that a
program switches by changing one word; options that only we have are marked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal, NamedTuple

from . import values

Use = Literal["batch", "stream", "source", "sink"]
"""The kinds of query. `source` is used when batch and stream are not distinguished yet."""
BATCH: Final = "batch"
STREAM: Final = "stream"
SOURCE: Final = "source"
SINK: Final = "sink"
BOTH = (BATCH, STREAM)

_EACH = values.per_partition('{"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}')
_TIMES = values.per_partition('{"topicA":{"0":1700000000000},"topicB":{"0":1700000000000}}')


class WireOption(NamedTuple):
    """One row. `default` is its text, or None; `form` describes the values; `ours` is true when
    Spark's connector has no such option."""

    name: str
    parse: Callable[[str], Any]
    form: str
    default: str | None
    uses: tuple[str, ...]
    meaning: str
    refused: str = ""
    ours: bool = False


def _offsets(given: str) -> Any:
    """Reads a word for all partitions, or the offset of each."""
    word = given.strip().lower()
    return word if word in ("earliest", "latest") else _EACH(given)


TABLE: tuple[WireOption, ...] = (
    WireOption(
        "subscribe",
        values.topics,
        "a,b",
        None,
        BOTH,
        "the topics; exactly one of this, `subscribePattern` and `assign`",
    ),
    WireOption(
        "subscribePattern",
        values.text,
        "Java regex",
        None,
        BOTH,
        "every topic whose name contains a match of the pattern",
    ),
    WireOption("assign", values.assignment, '{"t":[0,1]}', None, BOTH, "these partitions and no others"),
    WireOption(
        "startingTimestamp",
        values.whole,
        "ms",
        None,
        BOTH,
        "as `startingOffsetsByTimestamp`, one time for all partitions; takes precedence over it and over `startingOffsets`",
    ),
    WireOption(
        "startingOffsetsByTimestamp",
        _TIMES,
        '{"t":{"0":1000}}',
        None,
        BOTH,
        "begin at the first offset with this timestamp or a later one; takes precedence over `startingOffsets`",
    ),
    WireOption(
        "startingOffsetsByTimestampStrategy",
        values.one_of("error", "latest"),
        "error, latest",
        "error",
        BOTH,
        "what to do if no record has such a timestamp: fail, or begin at the latest offset",
    ),
    WireOption(
        "startingOffsets",
        _offsets,
        'earliest, latest, {"t":{"0":23}}',
        None,
        BOTH,
        "where a new query begins: `latest` for a stream, `earliest` for a batch; -2 is earliest, -1 latest (not in a batch)",
    ),
    WireOption(
        "endingTimestamp",
        values.whole,
        "ms",
        None,
        (BATCH,),
        "as `endingOffsetsByTimestamp`, one time for all partitions",
        "no stream has an end",
    ),
    WireOption(
        "endingOffsetsByTimestamp",
        _TIMES,
        '{"t":{"0":1000}}',
        None,
        (BATCH,),
        "end before the first offset with this timestamp or a later one, or at the latest offset",
        "no stream has an end",
    ),
    WireOption(
        "endingOffsets",
        _offsets,
        'latest, {"t":{"0":99}}',
        "latest",
        (BATCH,),
        "where a batch ends; -1 is latest",
        "no stream has an end",
    ),
    WireOption(
        "failOnDataLoss",
        values.boolean,
        "bool",
        "true",
        BOTH,
        "if records that should be read are lost: fail (`true`), or warn and continue (`false`)",
    ),
    WireOption(
        "kafkaConsumer.pollTimeoutMs",
        values.positive,
        "ms",
        "120000",
        BOTH,
        "how long a task waits for records that exist",
    ),
    WireOption(
        "fetchOffset.numRetries",
        values.positive,
        "number",
        "3",
        BOTH,
        "how often offsets are requested before the query fails",
    ),
    WireOption(
        "fetchOffset.retryIntervalMs", values.not_negative, "ms", "10", BOTH, "the pause between two such requests"
    ),
    WireOption(
        "maxOffsetsPerTrigger",
        values.positive,
        "number",
        None,
        (STREAM,),
        "the largest number of offsets in a micro-batch, divided among partitions in proportion to what each has",
    ),
    WireOption(
        "minOffsetsPerTrigger",
        values.positive,
        "number",
        None,
        (STREAM,),
        "the smallest number of new offsets that starts a micro-batch",
    ),
    WireOption(
        "maxTriggerDelay",
        values.duration,
        "duration",
        "15m",
        (STREAM,),
        "how long `minOffsetsPerTrigger` may delay a micro-batch",
    ),
    WireOption(
        "minPartitions",
        values.positive,
        "number",
        None,
        BOTH,
        "about the smallest number of tasks: large partitions are split by offsets",
    ),
    WireOption(
        "maxRecordsPerPartition", values.positive, "number", None, BOTH, "the largest number of offsets for one task"
    ),
    WireOption(
        "groupIdPrefix",
        values.text,
        "name",
        "spark-kafka-source",
        BOTH,
        "accepted, without an effect: no group is joined",
    ),
    WireOption(
        "includeHeaders",
        values.boolean,
        "bool",
        "false",
        (BATCH, STREAM, SINK),
        "whether there is a column `headers`; a sink writes it if it exists",
    ),
    WireOption(
        "topic", values.text, "name", None, (SINK,), "the topic of all rows; the column `topic` is then ignored"
    ),
    WireOption(
        "includeLeaderEpoch",
        values.boolean,
        "bool",
        "false",
        BOTH,
        "whether there is a column `leader_epoch`",
        ours=True,
    ),
    WireOption(
        "commitToGroup",
        values.text,
        "group",
        None,
        (STREAM,),
        "the offsets of finished micro-batches are committed to this group, for tools that show lag",
        ours=True,
    ),
)
"""The options in the order of the documentation."""

BY_KEY = {option.name.lower(): option for option in TABLE}
