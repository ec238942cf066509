"""A wrong argument of a KafkaDouble's verb is named, and reaches no broker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import kafkadouble
from kafkadouble import KafkaDouble, KafkaError, UsageError


@pytest.fixture
def kafka() -> Iterator[KafkaDouble]:
    with KafkaDouble(stepped=True) as kafka:
        kafka.create_topic("t")
        yield kafka


WRONG: dict[str, tuple[Callable[[Any], object], str]] = {
    "produce to a text": (lambda k: k.produce("t", "x", partition="0"), "partition is an index from 0, not '0'"),
    "produce below 0": (lambda k: k.produce("t", "x", partition=-1), "partition is an index from 0, not -1"),
    "produce to bytes": (lambda k: k.produce(b"t", "x"), "topic is a name, not b't'"),
    "half a millisecond": (lambda k: k.produce("t", "x", timestamp=1.5), "timestamp is an integer, milliseconds .*1.5"),
    "a time in words": (lambda k: k.produce("t", "x", timestamp="now"), "timestamp is an integer, .* not 'now'"),
    "headers without values": (lambda k: k.produce("t", "x", headers=["a"]), "a header is a pair .* not 'a'"),
    "headers that are a number": (lambda k: k.produce("t", "x", headers=5), "headers are pairs .* not 5"),
    "a header's name": (lambda k: k.produce("t", "x", headers={1: "a"}), "the name of a header is a text, not 1"),
    "a header's value": (lambda k: k.produce("t", "x", headers={"a": 1}), "bytes, a text or None, not 1"),
    "records of a text": (lambda k: k.records("t", "0"), "partition is an index from 0, not '0'"),
    "records of a fraction": (lambda k: k.records("t", 0.0), "partition is an index from 0, not 0.0"),
    "partitions as a text": (lambda k: k.create_topic("u", "3"), "partitions is a number of partitions, not '3'"),
    "a topic's name": (lambda k: k.create_topic(5), "topic is a name, not 5"),
    "configs in a row": (lambda k: k.create_topic("u", config=["a"]), "config is a mapping of names to values"),
    "replicas as a text": (lambda k: k.create_topic("u", replication_factor="1"), "replication_factor is a number"),
    "nothing to delete": (lambda k: k.delete_topic(None), "topic is a name, not None"),
    "an offset as a text": (lambda k: k.truncate("t", 0, "5"), "offset is an integer, not '5'"),
    "an epoch of no partition": (lambda k: k.leader_epoch("t", None), "partition is an index from 0, not None"),
    "epochs of a fraction": (lambda k: k.epochs("t", 0.0), "partition is an index from 0, not 0.0"),
    "a bump of a text": (lambda k: k.bump_epoch("t", "0"), "partition is an index from 0, not '0'"),
    "time as a text": (lambda k: k.advance("1"), "seconds is a number of seconds, not '1'"),
    "no number of seconds": (lambda k: k.advance(float("nan")), "seconds is a number of seconds, not nan"),
    "a seed as a text": (lambda _: KafkaDouble(seed="x"), "seed is an integer, not 'x'"),  # type: ignore[arg-type]
    "a host as a number": (lambda _: KafkaDouble(host=5), "host is a name or an address"),  # type: ignore[arg-type]
    "settings in a row": (lambda _: KafkaDouble(config=["a"]), "config is a mapping"),  # type: ignore[arg-type]
    "a number for a path": (lambda _: KafkaDouble(data_dir=5), "data_dir is a path"),  # type: ignore[arg-type]
    "a capture to a number": (lambda _: KafkaDouble(capture=5), "capture is a path"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("verb", "message"), WRONG.values(), ids=WRONG)
def test_a_wrong_argument_is_named(kafka: KafkaDouble, verb: Callable[[Any], object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        verb(kafka)
    assert kafka.records("t") == []


def test_verb_on_unknown_topic_raises_the_error_of_the_broker(kafka: KafkaDouble) -> None:
    with pytest.raises(KafkaError, match="UNKNOWN_TOPIC_OR_PARTITION: there is no t-7"):
        kafka.produce("t", "x", partition=7)


def test_the_types_of_results_can_be_named(kafka: KafkaDouble) -> None:
    kafka.produce("t", "x")
    assert type(kafka.records("t")[0]) is kafkadouble.ReadRecord
    assert type(kafka.fail("Fetch", 6)) is kafkadouble.RuleHandle
    assert type(kafka.requests) is kafkadouble.Requests
    assert {
        name: type(getattr(kafkadouble, name)) for name in ("Group", "Member", "Committed", "SeenRequest")
    } == dict.fromkeys(("Group", "Member", "Committed", "SeenRequest"), type)
