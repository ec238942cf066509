"""SASL on a kafkadouble and on an Apache Kafka: the same frames to both, and the same answers, in
the same order, until the same end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest

from interop.local import Missing, jars
from interop.sasl_servers import sasl_double, sasl_kafka

from .sasl_scenes import SCENES, Address, Talk


class Pair(NamedTuple):
    double: Mapping[str, Address]
    kafka: Mapping[str, Address]


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    try:
        jars()
    except Missing as missing:
        pytest.skip(f"NOTHING WAS COMPARED WITH APACHE KAFKA: {missing}")
    folders = tmp_path_factory.mktemp("double"), tmp_path_factory.mktemp("kafka")
    with sasl_double(folders[0]) as double, sasl_kafka(folders[1]) as kafka:
        yield Pair(double, kafka)


@pytest.mark.parametrize("name", SCENES)
def test_the_same_answers_and_the_same_end(pair: Pair, name: str) -> None:
    listener, play = SCENES[name]
    outcomes = []
    for side in pair:
        talk = Talk(side[listener])
        with talk.socket:
            play(talk)
        outcomes.append([_comparable(each) for each in talk.outcomes])
    assert outcomes[0] == outcomes[1]


def _comparable(outcome: Any) -> Any:
    """Mechanisms have the order of a hash table in Kafka."""
    if isinstance(outcome, dict) and "mechanisms" in outcome:
        return {**outcome, "mechanisms": sorted(outcome["mechanisms"])}
    return outcome
