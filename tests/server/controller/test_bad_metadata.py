"""Records that a leader has committed and that mean nothing here: each is either taken, or stops
the node with one sentence."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from kafkadouble.messages import framed, registry
from kafkadouble.messages.message import Message
from kafkadouble.server.metadata.record_versions import NEWEST, record_version
from tests.hostile.stage import Log, logged
from tests.messages.making import Maker
from tests.server.controller.fooled import Fooled
from tests.server.metadata.cluster_story import Story, made

KINDS = [entry.message for entry in registry.entries("metadata", "metadata") if not entry.retired]


@pytest.fixture
def log() -> Iterator[Log]:
    with logged() as log:
        yield log


def begun(roles: str = "controller") -> Fooled:
    fooled = Fooled({"process.roles": roles})
    fooled.begin()
    return fooled


@pytest.fixture
def fooled() -> Fooled:
    return begun()


def check(fooled: Fooled, log: Log) -> None:
    """The node continues, or has stopped with a sentence; it logged no unforeseen error."""
    for record in log.taken():
        assert record.exc_info is None, logging.Formatter().format(record)
        assert record.levelno < logging.ERROR, record.getMessage()
    halted = fooled.node.halted
    assert halted is None or (halted.startswith("the metadata log, from offset ") and "\n" not in halted), halted
    before = fooled.node.controller.image
    fooled.step(100)
    assert fooled.node.halted == halted
    assert fooled.node.controller.image is before
    assert not log.taken() or halted is None


BROKEN: dict[str, Any] = {
    "a partition of no topic": made("PartitionRecord", partition_id=0),
    "a change of no partition": made("PartitionChangeRecord", partition_id=0),
    "the end of no topic": made("RemoveTopicRecord"),
    "the end of no broker": made("UnregisterBrokerRecord", broker_id=5, broker_epoch=7),
    "the end of no transaction": made("EndTransactionRecord"),
}


@pytest.mark.parametrize("record", BROKEN.values(), ids=BROKEN)
def test_a_committed_record_that_contradicts_those_before_is_the_end(fooled: Fooled, log: Log, record: Any) -> None:
    before = fooled.node.controller.image
    fooled.give(fooled.batch([framed.encode_record(record, record_version(record, NEWEST))]))
    assert fooled.node.halted is not None
    assert fooled.node.controller.image is before
    check(fooled, log)


VALUES: dict[str, bytes | None] = {
    "nothing": None,
    "no bytes": b"",
    "another frame": b"\x00\x01\x00",
    "no such kind": b"\x01\xff\x01\x00",
    "no such version": b"\x01\x02\x63" + bytes(30),
    "cut": b"\x01\x02\x00",
    "a byte too many": framed.encode_record(made("NoOpRecord"), 0) + b"\x00",
    "a number without end": b"\xff" * 12,
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_committed_value_that_cannot_be_read_is_the_end(fooled: Fooled, log: Log, value: bytes | None) -> None:
    fooled.give(fooled.batch([value]))
    assert fooled.node.halted is not None
    check(fooled, log)


def test_uncommitted_metadata_stops_no_node(fooled: Fooled, log: Log) -> None:
    """Another leader may truncate it."""
    fooled.give(fooled.batch([b"nonsense"]), high_watermark=0)
    assert fooled.node.halted is None
    check(fooled, log)


ROLES = ("controller", "broker,controller")


@pytest.mark.parametrize("roles", ROLES)
@pytest.mark.parametrize("seed", range(4))
def test_records_of_any_kind_are_taken_or_are_the_end(log: Log, seed: int, roles: str) -> None:
    maker, halted = Maker(f"kinds {seed}", longest=4), 0
    fooled = begun(roles)
    for _ in range(120):
        kind: type[Message] = maker.dice.choice(KINDS)
        version = maker.dice.randint(*kind.versions)
        fooled.give(fooled.batch([framed.encode_record(maker.message(kind, version), version)]))
        if fooled.node.halted is not None:
            check(fooled, log)
            halted += 1
            fooled = begun(roles)
    check(fooled, log)
    assert halted


@pytest.mark.parametrize("roles", ROLES)
@pytest.mark.parametrize("seed", range(4))
def test_a_history_with_damages_is_taken_up_to_one(log: Log, seed: int, roles: str) -> None:
    """Good records, in some of which one byte is changed."""
    random = Random(seed)
    halted = 0
    for _ in range(12):
        fooled = begun(roles)
        for record in Story(random, NEWEST).records(40):
            value = bytearray(framed.encode_record(record, record_version(record, NEWEST)))
            if random.random() < 0.1:
                value[random.randrange(len(value))] ^= 1 << random.randrange(8)
            fooled.give(fooled.batch([bytes(value)]))
            if fooled.node.halted is not None:
                halted += 1
                break
        check(fooled, log)
    assert halted


@pytest.mark.parametrize("name", ["log.retention.ms", "no.such.setting", "", "unclean.leader.election.enable"])
@pytest.mark.parametrize("value", ["", "nonsense", "9" * 40, "-5", "\0"])
def test_a_setting_that_cannot_be_is_kept_and_does_nothing(fooled: Fooled, log: Log, name: str, value: str) -> None:
    """A newer controller may know more than this node."""
    for resource in ("", "1"):
        record = made("ConfigRecord", resource_type=4, resource_name=resource, name=name, value=value)
        fooled.give(fooled.batch([framed.encode_record(record, 0)]))
    assert fooled.node.halted is None
    check(fooled, log)
