"""A word count with Kafka Streams: the same counts on every broker, and the error for a guarantee
that the broker does not support.

Half way the application is replaced by one without its files, which restores its counts from the
changelog topic.
"""

from __future__ import annotations

import json

import pytest

from interop.brokers import Broker
from interop.served import served
from interop.support import unique

from .run import ended
from .toolchains.building import Missing, built
from .toolchains.java import TOOLCHAIN, word_count

LINES = 400
STORE = "KSTREAM-AGGREGATE-STATE-STORE-0000000003"
COUNTS = dict.fromkeys(("counts", "every", "word"), LINES) | {f"w{n}": len(range(n, LINES, 7)) for n in range(7)}
TRANSACTIONS = {"AddPartitionsToTxn", "AddOffsetsToTxn", "EndTxn", "TxnOffsetCommit"}


@pytest.mark.parametrize("protocol", ["classic", "streams"])
@pytest.mark.parametrize(("guarantee", "needs"), [("at_least_once", set()), ("exactly_once_v2", TRANSACTIONS)])
def test_streams_program_counts_words(broker: Broker, guarantee: str, needs: set[str], protocol: str) -> None:
    if protocol == "streams" and "StreamsGroupHeartbeat" not in served(broker.bootstrap):
        pytest.skip("the broker has no streams groups (KIP-1071)")
    try:
        command = word_count(built(TOOLCHAIN))
    except Missing as reason:
        pytest.skip(f"no Kafka Streams: {reason}")
    name = unique("streams")
    end = ended([*command, guarantee, protocol, broker.bootstrap, name, f"app-{name}"])
    assert end.stdout.startswith("{"), end.stderr
    code, result = end.code, json.loads(end.stdout)
    if needs <= served(broker.bootstrap):
        assert result["behaviours"] == {"count": "pass", "internal_topics": "pass"}
        assert (code, result["counts"]) == (0, COUNTS)
    else:
        assert "TransactionalIdAuthorizationException" in result["behaviours"]["count"]
        assert (code, result["counts"]) == (1, {})
    assert result["topics"] == {f"{STORE}-changelog": "compact", f"{STORE}-repartition": "delete"}
