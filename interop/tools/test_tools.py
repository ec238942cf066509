"""Kafka's command-line tools on every broker: what they say is parsed and looked at, row by row of `rows/`.

A row whose API a broker does not announce must fail, and for that reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext

import pytest

from interop.brokers import Broker
from interop.clients import CREATOR
from interop.served import served
from interop.support import Member, eventually, unique
from interop.walks.toolchains.building import Missing

from .parse import columns, lines
from .resident import Resident, Said, resident
from .row import ALONE, CLASSES, Row, Scenario, filled, matches, refusal_of, words_of
from .rows import SCENARIOS

TOLD = 2000

pytestmark = [pytest.mark.timeout(180), pytest.mark.needs("kafka_4")]


@pytest.fixture(scope="session")
def tools() -> Iterator[Resident]:
    try:
        running = resident()
        found = running.__enter__()
    except Missing as reason:
        pytest.skip(f"no tools of Kafka: {reason}")
    try:
        yield found
    finally:
        running.__exit__(None, None, None)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name.replace(" ", "-"))
def test_tools(broker: Broker, tools: Resident, scenario: Scenario) -> None:
    if scenario.own and (lack := broker.lacks("own")):
        pytest.skip(lack)
    names, announced = _names(broker, tools), served(broker.bootstrap)
    with _member(broker, names) if scenario.member else nullcontext():
        for row in scenario.rows:
            said = _said(tools, row, names)
            if row.needs and row.needs not in announced:
                assert refusal_of(row) in said.out + said.err, f"{row.tool} {row.words} without {row.needs}: {said}"
            else:
                _check(row, said, names)


def _check(row: Row, said: Said, names: Mapping[str, str]) -> None:
    what = f"{row.tool} {filled(row.words, names)} ended with {said.code}\n{said.out[:TOLD]}\n{said.err[:TOLD]}"
    assert said.code == row.code, what
    if row.sees != ():
        found, wanted = row.parse(said), filled(row.sees, names)
        assert matches(found, wanted), f"{what}\nparsed: {str(found)[:TOLD]}\nwanted: {wanted}"


def _said(tools: Resident, row: Row, names: Mapping[str, str]) -> Said:
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
    eventually(lambda: member.assignment, bool)
    return member
