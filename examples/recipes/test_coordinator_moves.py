"""Coordinator moves: in the middle of a transaction, another broker becomes its coordinator.

The new coordinator first loads its part of `__transaction_state`, which can take longer than the
program waits for a commit. A time-out of a commit does not say that the transaction was aborted:
the program must call the commit again, and must not write the bill again. The test moves the
leader of `__transaction_state` to the other broker, which refuses the first commits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from confluent_kafka import KafkaException, Producer

from kafkadouble import KafkaDouble

COMMIT_S = 0.1


class Billing:
    """The program under test."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.time_outs = 0
        self._producer = Producer({**settings, "transactional.id": "billing-1", "log_level": 0})
        self._producer.init_transactions(10)

    def write(self, order: str) -> None:
        self._producer.begin_transaction()
        self._producer.produce("bills", f"a bill for {order}")
        self._producer.flush(10)

    def commit(self) -> None:
        while True:
            try:
                return self._producer.commit_transaction(COMMIT_S)
            except KafkaException as failed:
                if not failed.args[0].retriable():
                    raise
                self.time_outs += 1


@pytest.mark.kafka_double(brokers=2, config={"transaction.state.log.num.partitions": 1})
def test_transaction_is_committed_by_the_next_coordinator(kafka_double: KafkaDouble) -> None:
    kafka_double.create_topic("bills")
    billing = Billing(kafka_double.client_config())
    billing.write("two pears")
    first = kafka_double.leader("__transaction_state", 0)
    other = 2 if first == 1 else 1

    kafka_double.move_leader("__transaction_state", 0, to=other)
    loading = kafka_double.fail("EndTxn", "COORDINATOR_LOAD_IN_PROGRESS", times=2, broker=other)
    billing.commit()

    assert loading.spent
    assert billing.time_outs > 0
    bills = kafka_double.records("bills", isolation="read_committed")
    assert [record.text() for record in bills] == ["a bill for two pears"]
