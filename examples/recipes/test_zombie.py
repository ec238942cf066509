"""Zombie: a worker hangs in a transaction, another one replaces it, and then the first goes on.

Both have handled the same order, and only one of them may write its bill. All workers of one shard
need the same `transactional.id`, so that the newer one fences the older one. A worker that is
fenced must end, and not try again. The test starts the second worker before the first has ended its
transaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaException, Producer

from kafkadouble import KafkaDouble


class Billing:
    """The program under test: writes the bills of one shard."""

    def __init__(self, settings: Mapping[str, Any], shard: int) -> None:
        self.is_fenced = False
        self._producer = Producer({**settings, "transactional.id": f"billing-{shard}", "log_level": 0})
        self._producer.init_transactions(10)

    def write(self, order: str) -> None:
        self._producer.begin_transaction()
        self._producer.produce("bills", f"a bill for {order}")
        self._producer.flush(10)

    def commit(self) -> None:
        try:
            self._producer.commit_transaction(10)
        except KafkaException as failed:
            if not failed.args[0].fatal():
                raise
            self.is_fenced = True


def test_replaced_worker_writes_no_bill(kafka_double: KafkaDouble) -> None:
    kafka_double.create_topic("bills")
    zombie = Billing(kafka_double.client_config(), shard=1)
    zombie.write("two pears")

    successor = Billing(kafka_double.client_config(), shard=1)
    successor.write("two pears")
    successor.commit()
    zombie.commit()

    assert zombie.is_fenced
    assert not successor.is_fenced
    bills = kafka_double.records("bills", isolation="read_committed")
    assert [record.text() for record in bills] == ["a bill for two pears"]
