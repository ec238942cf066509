"""The methods of KafkaDouble about transactions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.common.marking import verb
from kafkadouble.engine.verb_host import VerbHost

if TYPE_CHECKING:
    from kafkadouble.coordinators.transactions import Transaction
    from kafkadouble.records.seeding import Text


class TransactionVerbs(VerbHost):
    """A part of KafkaDouble."""

    @verb
    def transactions(self) -> dict[str, Transaction]:
        """The transactional ids, each with its state, producer and partitions."""
        from kafkadouble.coordinators.transactions import transactions

        members = self._call(lambda: self._serving().broker.members)
        return {id: each for at in members for id, each in transactions(partial(self._ask, at=at)).items()}

    @verb
    def expire_transaction(self, transactional_id: str) -> None:
        """Aborts the open transaction of this id at once, as `transaction.timeout.ms` does later:
        its producer is fenced. Raises KafkaError: TRANSACTIONAL_ID_NOT_FOUND, INVALID_TXN_STATE if
        no transaction is open."""
        from kafkadouble.coordinators import transactions

        self._call(transactions.expire, self._serving().broker, transactional_id)

    @verb
    def move_transaction_coordinator(self, transactional_id: str, to: int) -> int:
        """Makes another broker the coordinator of a transactional id: the leader of its partition
        of __transaction_state. Returns the index of that partition."""
        from kafkadouble.topics import placement

        return self._call(placement.move_transaction_coordinator, self._serving().broker, transactional_id, to)

    @verb
    def hang_transaction(self, topic: str, partition: int, value: Text = b"") -> int:
        """Appends a record of a transaction that no coordinator knows, and returns its producer id.
        The transaction hangs: consumers with read_committed read nothing from it on, until an
        administrator aborts it (`kafka-transactions abort`)."""
        from kafkadouble.coordinators import transactions
        from kafkadouble.records import seeding

        result: int = self._call(transactions.hang, self._serving().broker, topic, partition, seeding.as_bytes(value))
        return result
