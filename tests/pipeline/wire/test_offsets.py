"""The text that a checkpoint keeps."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from kafkadouble.pipeline.client import TopicPartition
from kafkadouble.pipeline.wire.offsets import RESERVED, Positions, of_json, to_json
from kafkadouble.wire.errors import UsageError

A0, A1, A10, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("a", 10), TopicPartition("b.c-d_e", 0)

OFFSETS, EPOCHS, BEGUN = {B0: 7, A10: 3, A1: 2, A0: 1}, {A0: 4, A10: 0}, {A0: 1, B0: 5}
FULL = Positions(OFFSETS, EPOCHS, {"a": "3fK0Q2bCTd2mZp1xWl8cJg"}, BEGUN)


@pytest.mark.parametrize(
    "positions", [Positions({}), Positions({A0: 1, B0: 2}), FULL, Positions({A0: 0}, {}, {"a": "x-_y"})]
)
def test_written_offsets_are_read(positions: Positions) -> None:
    assert of_json(json.loads(json.dumps(to_json(positions)))) == positions


def test_offsets_without_epochs_are_written_as_by_spark_connector() -> None:
    assert json.dumps(to_json(Positions({B0: 7, A10: 3, A0: 1})), separators=(",", ":")) == (
        '{"a":{"0":1,"10":3},"b.c-d_e":{"0":7}}'
    )


def test_our_key_is_no_topics_name_and_its_value_is_empty() -> None:
    written = to_json(FULL)
    (ours,) = [key for key in written if key not in ("a", "b.c-d_e")]
    assert ours == f"{RESERVED} a 3fK0Q2bCTd2mZp1xWl8cJg 0:4:1 10:0; b.c-d_e - 0:-1:5"
    assert written[ours] == {}
    assert not re.fullmatch(r"[a-zA-Z0-9._-]+", ours)


def test_equal_offsets_have_the_same_text() -> None:
    offsets, epochs, begun = (dict(reversed(part.items())) for part in (OFFSETS, EPOCHS, BEGUN))
    turned = Positions(offsets, epochs, FULL.ids, begun)
    assert json.dumps(to_json(turned)) == json.dumps(to_json(FULL))


@pytest.mark.parametrize(
    "kept",
    [
        {"a": 5},
        {"a": {"zero": 5}},
        {"a": {"0": None}},
        {f"{RESERVED} a": {}},
        {f"{RESERVED} a - 0:x": {}},
        {f"{RESERVED} a - 0": {}},
        ["a"],
        None,
    ],
)
def test_invalid_offsets_are_refused(kept: Any) -> None:
    with pytest.raises(UsageError, match="are not of kafka-wire nor of Spark's Kafka connector"):
        of_json(kept)
