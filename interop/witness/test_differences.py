"""The table of deliberate differences: Kafka and we do exactly what it says."""

from __future__ import annotations

import pytest

from kafkadouble.messages import registry
from kafkadouble.wire.errors import WireError

from .differences import DIFFERENCES, explained
from .java import Witness


@pytest.mark.parametrize("name", DIFFERENCES)
def test_listed_message_difference_to_java_exists(name: str, witness: Witness) -> None:
    row = DIFFERENCES[name]
    data, cls = bytes.fromhex(row.bytes), registry.message(row.message)
    answer = witness.answer("rewrite", row.message, row.version, data.hex())
    assert tuple(answer) == row.kafka
    try:
        ours: str | WireError = cls.decode(data, row.version).encode(row.version).hex()
    except WireError as error:
        ours = error
    assert (ours if isinstance(ours, str) else f"{type(ours).__name__}: {ours}") == row.ours
    assert explained(cls, row.version, ours, answer[0]) == name
