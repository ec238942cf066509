"""A row of the table of tools: what is called, what must be seen, and what the broker must serve
for it.

Rules. `{topic}`, `{group}`, `{bootstrap}`, `{host}`, `{port}`, `{node}` and `{cluster}` in words,
input, files and what must be seen stand for the names of this run. A row that needs an API which
the broker does not announce must fail for that very reason, so that it has to change on the day
that the API is served.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .parse import lines
from .resident import Said

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
"""Tools that speak when their JVM ends, and so have one of their own."""

NOTHING: Mapping[str, str] = {}


class Row(NamedTuple):
    """One call of a tool.

    `does` names it on the page, and is empty for what only prepares or looks again. What `parse`
    makes of what the tool said must match `sees`, and its exit code be `code`. `needs` is the API
    that not every broker serves, and `refusal` what the tool says without it, where that is not
    that the node does not support it. Without `{bootstrap}` among the `words` they begin with
    --bootstrap-server.
    """

    tool: str
    does: str
    words: str
    sees: Any = ()
    parse: Callable[[Said], Any] = lines
    code: int = 0
    stdin: str = ""
    files: Mapping[str, str] = NOTHING
    needs: str = ""
    refusal: str = ""


READING = frozenset({"--describe", "describe", "--list", "list"})


def only_reads(row: Row) -> bool:
    """Whether a call that is made again changes nothing: brokers learn of what was changed a moment
    after it was."""
    words = set(row.words.split())
    if row.tool == "kafka-console-consumer":
        return "--group" not in words  # then it has a new one each time
    return row.tool == "kafka-get-offsets" or not READING.isdisjoint(words)


class Scenario(NamedTuple):
    """Rows that follow one another on a topic and a group of their own. `member`: the group has a
    member meanwhile, which the rows find with a partition. `own`: they change the broker itself,
    and put it back.
    """

    name: str
    rows: Sequence[Row]
    member: bool = False
    own: bool = False


def filled(value: Any, names: Mapping[str, str]) -> Any:
    """The value with the names of this run, in all texts that it has."""
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


def matches(found: Any, wanted: Any) -> bool:
    """A dict must have what is wanted of it, a sequence as many as are wanted, one by one; a
    function and a pattern say for themselves."""
    if isinstance(wanted, Those):
        return matches([one for one in found if matches(one, wanted[0])], wanted[1])
    if isinstance(wanted, Lacks):
        return not any(matches(one, each) for one in found for each in wanted)
    if isinstance(wanted, Has):
        return all(any(matches(one, each) for one in found) for each in wanted)
    if callable(wanted):
        return bool(wanted(found))
    if isinstance(wanted, re.Pattern):
        return isinstance(found, str) and wanted.fullmatch(found) is not None
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(key in found and matches(found[key], one) for key, one in wanted.items())
    if isinstance(wanted, (list, tuple)):
        return len(found) == len(wanted) and all(map(matches, found, wanted))
    return bool(found == wanted)


def refusal_of(row: Row) -> str:
    """What a tool says where the API that it needs is not served."""
    return row.refusal or f"The node does not support {re.sub(r'(?<!^)(?=[A-Z])', '_', row.needs).upper()}"


class Has(tuple[Any, ...]):
    """Matches what has each of these among its own."""

    __slots__ = ()


class Those(tuple[Any, Any]):
    """Two things: what matches the first, of all that was found, matches the second."""

    __slots__ = ()


class Lacks(Has):
    """Matches what has none of these."""

    __slots__ = ()


def has(*wanted: Any) -> Has:
    return Has(wanted)


def lacks(*wanted: Any) -> Lacks:
    return Lacks(wanted)


def those(which: Any, wanted: Any) -> Those:
    return Those((which, wanted))
