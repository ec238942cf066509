"""The methods of KafkaDouble that wait for a state.

Each of them returns as soon as the state is reached, at once if it is reached already. `timeout` is
in seconds of the machine's clock, also with a stepped clock. After it, a TimeoutError says what was
there instead. `KafkaDouble.aio` has the same methods as coroutines.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, TypeVar

from kafkadouble.common.marking import verb
from kafkadouble.common.on_first_use import OnFirstUse

if TYPE_CHECKING:
    from typing import Unpack

    from kafkadouble.common.literals import GroupStateName, IsolationLevel, TransactionStateName
    from kafkadouble.coordinators.group_values import Group
    from kafkadouble.coordinators.transactions import Transaction
    from kafkadouble.host.host import Host
    from kafkadouble.records.read_records import ReadRecord
    from kafkadouble.records.record_filter import RecordNarrowing
    from kafkadouble.rules import rule_handle
    from kafkadouble.rules.rule_handle import RuleHandle
    from kafkadouble.seen.request_filter import RequestNarrowing
    from kafkadouble.server.tracing.history import SeenRequest
    from kafkadouble.waits import conditions, coordinator_conditions
else:  # a first call of another verb waits for none of them
    rule_handle = OnFirstUse("kafkadouble.rules.rule_handle")
    conditions = OnFirstUse("kafkadouble.waits.conditions")
    coordinator_conditions = OnFirstUse("kafkadouble.waits.coordinator_conditions")

T = TypeVar("T")
V = TypeVar("V")


def _nothing(_: object) -> None:
    """The result of a wait that has none."""


@verb
def wait_for_records(
    host: Host,
    topic: str,
    count: int = 1,
    *,
    partition: int | None = None,
    isolation: IsolationLevel = "read_uncommitted",
    where: Callable[[ReadRecord], bool] | None = None,
    timeout: float = 10,
    advance: bool = False,
    **narrowing: Unpack[RecordNarrowing],
) -> list[ReadRecord]:
    """Waits until a topic, or one partition, has at least `count` records, and returns them
    all. The topic need not exist yet. The filters are those of `records`. Only records that
    `where` accepts are counted; it is called on the thread of the broker, once for each record,
    and again after an election of a leader."""
    awaited = conditions.records_of(topic, count, partition, isolation, where, narrowing)
    return host.wait(awaited, list, timeout, advance)


@verb
def wait_for_topic(
    host: Host, topic: str, partitions: int | None = None, *, timeout: float = 10, advance: bool = False
) -> None:
    """Waits until a topic exists, with this number of partitions if it is given."""
    return host.wait(conditions.topic_of(topic, partitions), _nothing, timeout, advance)


@verb
def wait_for_leader(
    host: Host,
    topic: str,
    partition: int,
    leader: int | None = None,
    *,
    epoch: int | None = None,
    timeout: float = 10,
    advance: bool = False,
) -> int:
    """Waits until a partition has a leader, or this broker as leader, in this leader epoch or a
    later one. Returns the id of the leader."""
    return host.wait(conditions.leader_of(topic, partition, leader, epoch), lambda found: found.id, timeout, advance)


@verb
def wait_for_isr(
    host: Host, topic: str, partition: int, isr: Collection[int], *, timeout: float = 10, advance: bool = False
) -> None:
    """Waits until these brokers, and no other ones, are the in-sync replicas of a partition."""
    return host.wait(conditions.isr_of(topic, partition, isr), _nothing, timeout, advance)


@verb
def wait_for_broker(host: Host, broker: int, *, timeout: float = 30, advance: bool = False) -> None:
    """Waits until a broker that was started is part of the cluster. That can take as long as
    the session of its previous incarnation."""
    return host.wait(conditions.broker_of(broker), _nothing, timeout, advance)


@verb
def wait_for_group(
    host: Host,
    group: str,
    state: GroupStateName | None = None,
    *,
    members: int | None = None,
    lag: int | None = None,
    ready: bool = False,
    timeout: float = 10,
    advance: bool = False,
) -> Group:
    """Waits until a group is in this state (Kafka's name, such as Stable), has so many members,
    and is at most `lag` records behind. `lag=0` waits until everything was consumed and
    committed: a partition of a member, and without members one of a topic with a commit, counts
    as unread as long as it has no committed offset. With `ready` it waits until the group
    is Stable and its members get each record that is produced from now on: the client of each
    member has fetched each of its partitions since it was assigned, so that it knows its
    position. Without a state, it waits for any but Dead."""
    return host.wait(
        coordinator_conditions.group_of(group, state, members, lag, ready), lambda found: found.group, timeout, advance
    )


@verb
def wait_for_transaction(
    host: Host, transactional_id: str, state: TransactionStateName, *, timeout: float = 10, advance: bool = False
) -> Transaction:
    """Waits until a transactional id is in this state (Kafka's name, such as
    CompleteCommit)."""
    return host.wait(
        coordinator_conditions.transaction_of(transactional_id, state), lambda found: found, timeout, advance
    )


@verb
def wait_for_rule(
    host: Host, rule: RuleHandle | int, hits: int = 1, *, timeout: float = 10, advance: bool = False
) -> None:
    """Waits until a fault rule, given by its handle or its id, was applied so many times."""
    return host.wait(rule_handle.applied(rule_handle.handle_of(host.known(), rule), hits), _nothing, timeout, advance)


@verb
def wait_for_request(
    host: Host,
    api: str,
    count: int = 1,
    *,
    timeout: float = 10,
    advance: bool = False,
    **narrowing: Unpack[RequestNarrowing],
) -> SeenRequest:
    """Waits until `count` requests of this API have arrived, and returns the last of them.
    Earlier requests count, until `requests.clear()`. The keywords are those of
    `requests.of`."""
    awaited = coordinator_conditions.requests_of(api, count, narrowing)
    return host.wait(awaited, lambda found: found[count - 1], timeout, advance)
