"""`serve --topic`: a topic with its numbers of partitions and replicas."""

from __future__ import annotations

import argparse

import pytest

from kafkadouble.records.initial_topics import InitialTopic, parse


@pytest.mark.parametrize("text", ["t", "t:2", "t:2:3"])
def test_a_topic_is_written_as_it_was_given(text: str) -> None:
    assert str(parse(text)) == text


def test_numbers_are_partitions_and_replicas() -> None:
    assert parse("t:2:3") == InitialTopic("t", partitions=2, replicas=3)


@pytest.mark.parametrize("text", ["", ":3", "t:0", "t:2:0", "t:2:3:4", "t:", "t::3", "t:-1", "t:two"])
def test_invalid_initial_topic_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not NAME or NAME:PARTITIONS or NAME:PARTITIONS:REPLICAS"):
        parse(text)
