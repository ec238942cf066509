"""SASL on a kafkadouble and on an Apache Kafka: the same frames to both, and the same answers, in
the same order, until the same end."""

from __future__ import annotations

from typing import Any

import pytest

from interop.sasl_servers import Pair
from tests.support.sasl_talk import Talk

from .sasl_scenes import SCENES

pytestmark = pytest.mark.usefixtures("kafka_jars")


@pytest.mark.parametrize("name", SCENES)
def test_sasl_dialogue_ends_as_with_kafka(pair: Pair, name: str) -> None:
    listener, steps = SCENES[name]
    outcomes = []
    for side in pair:
        talk = Talk(side[listener])
        with talk.socket:
            for step in steps:
                step(talk)
        outcomes.append([_comparable(outcome) for outcome in talk.outcomes])
    assert outcomes[0] == outcomes[1]


def _comparable(outcome: Any) -> Any:
    """Mechanisms have the order of a hash table in Kafka."""
    if isinstance(outcome, dict) and "mechanisms" in outcome:
        return {**outcome, "mechanisms": sorted(outcome["mechanisms"])}
    return outcome
