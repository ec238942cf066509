"""A broker that was down while records were acknowledged is elected: ours while Apache Kafka's has
the records, and the other way round. Clients that have read those records learn where the logs
diverge (KIP-320), and the old leader truncates its own log there.

    pytest interop/controllers/test_unclean.py --broker local
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import confluent_kafka
import pytest

from interop.support import unique
from interop.truncation.reader import Reader, reading
from tests.support.waiting import eventually

from . import admin, placed, replicas
from .deeds import Ledger
from .mixed import Mixed
from .one_of_each import one_of_each

pytestmark = pytest.mark.timeout(900)

ck: Any = confluent_kafka

OPTIONS = {"min.insync.replicas": "1"}


cluster = one_of_each("ours", OPTIONS)


class Readers:
    """Kafka's own consumer, and librdkafka's, after they have read this number of records; they
    have no reset policy to continue by."""

    def __init__(self, java: Reader, librdkafka: Any, count: int) -> None:
        self._java, self._librdkafka, self._count = java, librdkafka, count
        assert [java.next_event()[:2] for _ in range(count)] == [["record", str(offset)] for offset in range(count)]
        assert [self._next().offset() for _ in range(count)] == list(range(count))

    def report_loss(self, diverges: int) -> None:
        """Asserts that the consumers report the records from this offset on as lost."""
        assert self._java.next_event()[:3] == ["truncated", str(self._count), str(diverges)]
        error = self._next().error()
        assert f"truncation detected at offset {self._count} " in error.str(), error
        assert f"end offset is {diverges}" in error.str(), error

    def _next(self) -> Any:
        return eventually(lambda: self._librdkafka.poll(1.0), lambda found: found is not None)


@contextmanager
def readers(bootstrap: str, topic: str, count: int) -> Iterator[Readers]:
    alone = {"group.id": "g", "enable.auto.commit": False, "auto.offset.reset": "error"}
    librdkafka = ck.Consumer({**Ledger(bootstrap).client(), **alone})
    librdkafka.assign([ck.TopicPartition(topic, 0, 0)])
    with reading(bootstrap, topic, reset="none") as java, closing(librdkafka):
        yield Readers(java, librdkafka, count)


@pytest.mark.parametrize("lacks", [1, pytest.param(2, marks=pytest.mark.long)], ids=["ours-lacks", "theirs-lacks"])
def test_consumers_report_what_is_lost_and_the_old_leader_follows(cluster: Mixed, lacks: int) -> None:
    late, has = cluster.node(lacks), cluster.node(3 - lacks)
    topic, before, after = unique("unclean"), placed.numbered("both-have"), placed.numbered("after", 2)
    lost = placed.numbered("only-one-has")
    placed.create(cluster.bootstrap, topic, [[has.id, late.id]])
    placed.written(has.bootstrap, topic, before)
    late.kill()
    admin.settled(has.bootstrap, topic, [[has.id]])
    placed.written(has.bootstrap, topic, lost)
    with readers(cluster.bootstrap, topic, len(before + lost)) as clients:
        has.kill()
        late.start()
        admin.led(late.bootstrap, topic, [-1])
        assert placed.elect(late.bootstrap, topic, placed.PREFERRED) == "PREFERRED_LEADER_NOT_AVAILABLE"
        assert placed.elect(late.bootstrap, topic, placed.UNCLEAN) == "NONE"
        admin.led(late.bootstrap, topic, [late.id])
        clients.report_loss(len(before))
        placed.written(late.bootstrap, topic, after)
    has.start()
    admin.settled(late.bootstrap, topic, [[1, 2]])
    placed.written(late.bootstrap, topic, [b"last"])
    cluster.stop()
    assert replicas.equal(cluster.brokers, topic) == 3
    assert replicas.values(has, topic) == [*before, *after, b"last"]
