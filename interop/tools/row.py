"""A row of the table of tools: the call, the expected output, and the API that the broker must
serve for it.

Rules. `{topic}`, `{group}`, `{bootstrap}`, `{host}`, `{port}`, `{node}` and `{cluster}` in words,
input, files and expected output stand for the names of this run. A row that needs an API which the
broker does not announce must fail for that very reason, so the row has to change as soon as the API
is served.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .parse import lines
from .resident import ToolOutput

CLASSES: Mapping[str, str] = {
    "kafka-acls": "org.apache.kafka.tools.AclCommand",
    "kafka-broker-api-versions": "org.apache.kafka.tools.BrokerApiVersionsCommand",
    "kafka-client-metrics": "org.apache.kafka.tools.ClientMetricsCommand",
    "kafka-cluster": "org.apache.kafka.tools.ClusterTool",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-consumer": "org.apache.kafka.tools.consumer.ConsoleConsumer",
    "kafka-console-producer": "org.apache.kafka.tools.ConsoleProducer",
    "kafka-console-share-consumer": "org.apache.kafka.tools.consumer.ConsoleShareConsumer",
    "kafka-consumer-groups": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-consumer-perf-test": "org.apache.kafka.tools.ConsumerPerformance",
    "kafka-delegation-tokens": "org.apache.kafka.tools.DelegationTokenCommand",
    "kafka-delete-records": "org.apache.kafka.tools.DeleteRecordsCommand",
    "kafka-e2e-latency": "org.apache.kafka.tools.EndToEndLatency",
    "kafka-features": "org.apache.kafka.tools.FeatureCommand",
    "kafka-get-offsets": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-groups": "org.apache.kafka.tools.GroupsCommand",
    "kafka-leader-election": "org.apache.kafka.tools.LeaderElectionCommand",
    "kafka-log-dirs": "org.apache.kafka.tools.LogDirsCommand",
    "kafka-metadata-quorum": "org.apache.kafka.tools.MetadataQuorumCommand",
    "kafka-producer-perf-test": "org.apache.kafka.tools.ProducerPerformance",
    "kafka-reassign-partitions": "org.apache.kafka.tools.reassign.ReassignPartitionsCommand",
    "kafka-share-groups": "org.apache.kafka.tools.consumer.group.ShareGroupCommand",
    "kafka-streams-application-reset": "org.apache.kafka.tools.StreamsResetter",
    "kafka-streams-groups": "org.apache.kafka.tools.streams.StreamsGroupCommand",
    "kafka-topics": "org.apache.kafka.tools.TopicCommand",
    "kafka-transactions": "org.apache.kafka.tools.TransactionsCommand",
    "kafka-verifiable-consumer": "org.apache.kafka.tools.VerifiableConsumer",
    "kafka-verifiable-producer": "org.apache.kafka.tools.VerifiableProducer",
}

ALONE = frozenset({"kafka-verifiable-producer"})
"""Tools that write output while their JVM shuts down, and so need one of their own."""

NOTHING: Mapping[str, str] = {}


class Row(NamedTuple):
    """One call of a tool.

    `does` is its text on the page, empty for a row that only prepares or reads again. The parsed
    output must match `expected`, and the exit code must be `code`. `needs` is an API that not every
    broker serves, and `refusal` the tool's error without it, if that is not the usual one of an
    unsupported version. If `words` do not contain `{bootstrap}`, --bootstrap-server is put before
    them.
    """

    tool: str
    does: str
    words: str
    expected: Any = ()
    parse: Callable[[ToolOutput], Any] = lines
    code: int = 0
    stdin: str = ""
    files: Mapping[str, str] = NOTHING
    needs: str = ""
    refusal: str = ""


READING = frozenset({"--describe", "describe", "--list", "list"})


def only_reads(row: Row) -> bool:
    """Whether the call can be repeated without changing anything: brokers learn of a change a
    moment after it was made."""
    words = set(row.words.split())
    if row.tool == "kafka-console-consumer":
        # Without it, the tool uses a new group each time.
        return "--group" not in words
    return row.tool == "kafka-get-offsets" or not READING.isdisjoint(words)


class Scenario(NamedTuple):
    """Rows that are run in order on a topic and a group of their own. `member`: the group has a
    member meanwhile, and the rows find it with a partition. `own`: the rows change the broker
    itself, and undo that. `transaction`: "open" or "hanging": the topic is created, and its first
    record is that of such a transaction; the transactional id is the topic's name. `streams`:
    "member" or "left": the group is a streams group that has such a member, or had it."""

    name: str
    rows: Sequence[Row]
    member: bool = False
    own: bool = False
    transaction: str = ""
    streams: str = ""


def filled(value: Any, names: Mapping[str, str]) -> Any:
    """The value with the names of this run, in every string inside it."""
    if isinstance(value, str):
        for name, text in names.items():
            value = value.replace(f"{{{name}}}", text)
        return value
    if isinstance(value, dict):
        return {filled(key, names): filled(one, names) for key, one in value.items()}
    return type(value)(filled(one, names) for one in value) if isinstance(value, (list, tuple)) else value


def words_of(row: Row, names: Mapping[str, str]) -> list[str]:
    at = [] if "{bootstrap}" in row.words else ["--bootstrap-server", names["bootstrap"]]
    return at + [filled(word, names) for word in shlex.split(row.words)]


def matches(found: Any, expected: Any) -> bool:
    """Whether a value is as expected. A dict must have the expected items, a sequence the same
    length and matching elements; a function and a pattern decide by themselves."""
    if isinstance(expected, Those):
        return matches([one for one in found if matches(one, expected[0])], expected[1])
    if isinstance(expected, Lacks):
        return not any(matches(one, each) for one in found for each in expected)
    if isinstance(expected, Says):
        return all(one in found for one in expected)
    if isinstance(expected, Has):
        return all(any(matches(one, each) for one in found) for each in expected)
    if callable(expected):
        return bool(expected(found))
    if isinstance(expected, re.Pattern):
        return isinstance(found, (str, int)) and expected.fullmatch(str(found)) is not None
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(
            key in found and matches(found[key], one) for key, one in expected.items()
        )
    if isinstance(expected, (list, tuple)):
        return len(found) == len(expected) and all(map(matches, found, expected))
    return bool(found == expected)


def refusal_of(row: Row) -> str:
    """The error of a tool when the API that it needs is not served."""
    return row.refusal or f"The node does not support {re.sub(r'(?<!^)(?=[A-Z])', '_', row.needs).upper()}"


class Has(tuple[Any, ...]):
    """Matches a collection that has a match for each of these."""

    __slots__ = ()


class Those(tuple[Any, Any]):
    """A pair: of all elements, those that match the first must match the second."""

    __slots__ = ()


class Lacks(Has):
    """Matches a collection that has no match for any of these."""

    __slots__ = ()


class Says(tuple[str, ...]):
    """Matches a text that contains each of these."""

    __slots__ = ()


def has(*expected: Any) -> Has:
    return Has(expected)


def lacks(*expected: Any) -> Lacks:
    return Lacks(expected)


def those(which: Any, expected: Any) -> Those:
    return Those((which, expected))
