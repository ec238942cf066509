"""Kafka's command-line tools on every broker: their output is parsed and checked, row by row of
`rows/`.

A row whose API a broker does not announce must fail, and for that reason.
"""

from __future__ import annotations

import re
import time
from collections.abc import Container, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext

import pytest

from interop.brokers import Broker
from interop.clients import CREATOR
from interop.quorum import CLIENTS
from interop.secured_servers import ADMIN, SECURE, Secured, password_of, secured_server
from interop.served import versions
from interop.support import Member, unique
from tests.support.waiting import eventually

from .open_transactions import hanging_transaction, open_transaction
from .parse import columns, lines
from .resident import Resident, ToolOutput
from .row import ALONE, CLASSES, Row, Scenario, filled, matches, only_reads, refusal_of, words_of
from .rows import SCENARIOS, SECURED
from .streams_member import streams_member

QUOTED = 2000
"""Characters of an output that a failure message quotes."""
PATIENCE = 60.0
"""Seconds within which a broker must know of a change."""
API_VERSIONS_OF_4_4 = 5
CLIENT = """\
security.protocol=SASL_SSL
sasl.mechanism=SCRAM-SHA-512
sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required username="{user}" password="{password}";
ssl.truststore.type=PEM
ssl.truststore.location={authority}
default.api.timeout.ms=20000
request.timeout.ms=10000
"""

pytestmark = pytest.mark.timeout(600)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name.replace(" ", "-"))
def test_tool_command_prints_as_with_kafka(broker: Broker, tools: Resident, scenario: Scenario) -> None:
    announced = versions(broker.bootstrap)
    if announced["ApiVersions"][1] < API_VERSIONS_OF_4_4:
        pytest.skip(f"{broker.name}: the table has what an Apache Kafka 4.4 makes the tools say")
    if scenario.own and (lack := broker.lacks("own")):
        pytest.skip(lack)
    if scenario.streams and "StreamsGroupHeartbeat" not in announced:
        pytest.skip("the broker has no streams groups (KIP-1071)")
    names = _names(broker, tools)
    with (
        _member(broker, names) if scenario.member else nullcontext(),
        streams_member(broker, names, leaves=scenario.streams == "left") if scenario.streams else nullcontext(),
        _transaction(broker, names, scenario.transaction, announced),
    ):
        for row in scenario.rows:
            _play(tools, row, names, announced)


@pytest.fixture(scope="module")
def secured(node_kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    with secured_server(node_kind, tmp_path_factory.mktemp(node_kind)) as server:
        yield server


@pytest.mark.parametrize("scenario", SECURED, ids=lambda scenario: scenario.name)
def test_tools_that_log_in(secured: Secured, tools: Resident, scenario: Scenario) -> None:
    names = {"topic": unique("tools"), "bootstrap": secured.addresses[SECURE]}
    topic, authority = names["topic"], secured.certificates.authority_file
    for name, user, password in (
        ("admin", ADMIN, password_of(ADMIN)),
        ("user", topic, "secret"),
        ("wrong", topic, "wrong"),
    ):
        client = CLIENT.format(user=user, password=password, authority=authority)
        (tools.folder / f"{name}.properties").write_text(client)
    announced = versions(secured.addresses[CLIENTS])
    for row in scenario.rows:
        _play(tools, row, names, announced)


def _transaction(
    broker: Broker, names: Mapping[str, str], kind: str, announced: Container[str]
) -> AbstractContextManager[None]:
    """The transaction of a scenario. Without it, the rows are refused on a broker that serves
    none."""
    if not kind or "EndTxn" not in announced:
        return nullcontext()
    return (open_transaction if kind == "open" else hanging_transaction)(broker, names)


def _play(tools: Resident, row: Row, names: Mapping[str, str], announced: Container[str]) -> None:
    wrong = _wrong if not row.needs or row.needs in announced else _not_refused
    end = time.monotonic() + (PATIENCE if only_reads(row) else 0)
    while reason := wrong(row, _output_of(tools, row, names), names):
        assert time.monotonic() < end, reason


def _wrong(row: Row, output: ToolOutput, names: Mapping[str, str]) -> str:
    """The difference from the row, or the empty string."""
    summary = _summary(row, output, names)
    if output.code != row.code:
        return f"{summary}\nexpected: exit code {row.code}"
    if row.expected == () or matches(found := row.parse(output), expected := filled(row.expected, names)):
        return ""
    return f"{summary}\nparsed: {str(found)[:QUOTED]}\nexpected: {expected}"


def _not_refused(row: Row, output: ToolOutput, names: Mapping[str, str]) -> str:
    """The difference from the expected refusal of a row whose API is not served, or the empty
    string."""
    refusal = refusal_of(row)
    return (
        ""
        if refusal in output.out + output.err
        else f"{_summary(row, output, names)}\nexpected, without {row.needs}: {refusal}"
    )


def _summary(row: Row, output: ToolOutput, names: Mapping[str, str]) -> str:
    return (
        f"{row.tool} {filled(row.words, names)} ended with {output.code}\n{output.out[:QUOTED]}\n{output.err[:QUOTED]}"
    )


ANYWHERE = (
    Row("kafka-topics", "", "--create --topic {topic}"),
    Row("kafka-topics", "", "--create --topic {topic} --if-not-exists"),
    Row("kafka-topics", "", "--describe --topic {topic}-no"),
    Row("kafka-console-producer", "", "--topic {topic}", stdin="one\n"),
    Row("kafka-console-consumer", "", "--topic {topic} --from-beginning --max-messages 1"),
    Row("kafka-configs", "", "--entity-type nothing --describe"),
    Row("kafka-metadata-quorum", "", "--no-such-option"),
)


def test_tool_command_prints_the_same_in_a_process_of_its_own(broker: Broker, tools: Resident) -> None:
    names = _names(broker, tools)
    assert _output_of(tools, ANYWHERE[0], names).code == 0
    for row in ANYWHERE[1:]:
        alone, here = (way(CLASSES[row.tool], words_of(row, names), row.stdin) for way in (tools.alone, tools.call))
        assert (here.code, here.out) == (alone.code, alone.out), row
        assert _without_places(here.err) == _without_places(alone.err), row


def _without_places(text: str) -> str:
    """Without the lines of a stack trace, which depend on the caller."""
    return re.sub(r"^\s+at .*\n", "", text, flags=re.MULTILINE)


def _output_of(tools: Resident, row: Row, names: Mapping[str, str]) -> ToolOutput:
    for name, text in row.files.items():
        (tools.folder / name).write_text(filled(text, names))
    call = tools.alone if row.tool in ALONE else tools.call
    return call(CLASSES[row.tool], words_of(row, names), filled(row.stdin, names))


def _names(broker: Broker, tools: Resident) -> dict[str, str]:
    host, _, port = broker.bootstrap.split(",")[0].rpartition(":")
    at = ["--bootstrap-server", broker.bootstrap]
    (cluster,) = lines(tools.call(CLASSES["kafka-cluster"], ["cluster-id", *at]))
    nodes = columns(tools.call(CLASSES["kafka-cluster"], ["list-endpoints", *at]))
    return {
        "topic": unique("tools"),
        "group": unique("tools-group"),
        "bootstrap": broker.bootstrap,
        "host": host,
        "port": port,
        "node": nodes[0]["ID"],
        "cluster": cluster.removeprefix("Cluster ID: "),
    }


def _member(broker: Broker, names: Mapping[str, str]) -> AbstractContextManager[Member]:
    """A member of the group that has the topic's only partition."""
    with CREATOR.admin(broker.bootstrap) as admin:
        admin.create_topic(names["topic"], 1, {})
    member = Member(CREATOR.consumer(broker.bootstrap, topics=[names["topic"]], group_id=names["group"]))
    eventually(lambda: member.assignment)
    return member
