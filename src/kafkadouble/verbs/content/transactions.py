"""The methods of KafkaDouble about transactions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.common.marking import verb
from kafkadouble.common.on_first_use import OnFirstUse
from kafkadouble.coordinators import transactions as coordinated

if TYPE_CHECKING:
    from kafkadouble.coordinators.transactions import Transaction
    from kafkadouble.host.host import Host
    from kafkadouble.records import seeding
    from kafkadouble.records.seeding import Text
    from kafkadouble.topics import placement
else:  # a first call of another verb waits for none of them
    seeding = OnFirstUse("kafkadouble.records.seeding")
    placement = OnFirstUse("kafkadouble.topics.placement")


@verb
def transactions(host: Host) -> dict[str, Transaction]:
    """The transactional ids, each with its state, producer and partitions."""
    members = host.call(lambda: host.serving().broker.members)
    return {id: each for at in members for id, each in coordinated.transactions(partial(host.ask, at=at)).items()}


@verb
def expire_transaction(host: Host, transactional_id: str) -> None:
    """Aborts the open transaction of this id at once, as `transaction.timeout.ms` does later:
    its producer is fenced. Raises KafkaError: TRANSACTIONAL_ID_NOT_FOUND, INVALID_TXN_STATE if
    no transaction is open."""
    host.call(coordinated.expire, host.serving().broker, transactional_id)


@verb
def move_transaction_coordinator(host: Host, transactional_id: str, to: int) -> int:
    """Makes another broker the coordinator of a transactional id: the leader of its partition
    of __transaction_state. Returns the index of that partition."""
    return host.call(placement.move_transaction_coordinator, host.serving().broker, transactional_id, to)


@verb
def hang_transaction(host: Host, topic: str, partition: int, value: Text = b"") -> int:
    """Appends a record of a transaction that no coordinator knows, and returns its producer id.
    The transaction hangs: consumers with read_committed read nothing from it on, until an
    administrator aborts it (`kafka-transactions abort`)."""
    result: int = host.call(coordinated.hang, host.serving().broker, topic, partition, seeding.as_bytes(value))
    return result
