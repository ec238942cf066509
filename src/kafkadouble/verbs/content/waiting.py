"""The methods of KafkaDouble that wait for a state.

Each of them returns as soon as the state is reached, at once if it is reached already. `timeout` is
in seconds of the machine's clock, also with a stepped clock. After it, a TimeoutError says what was
there instead. `KafkaDouble.aio` has the same methods as coroutines.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, TypeVar

from kafkadouble.common.marking import verb
from kafkadouble.engine.verb_host import VerbHost

if TYPE_CHECKING:
    from typing import Unpack

    from kafkadouble.common.literals import GroupStateName, IsolationLevel, TransactionStateName
    from kafkadouble.coordinators.group_values import Group
    from kafkadouble.coordinators.transactions import Transaction
    from kafkadouble.records.read_records import ReadRecord
    from kafkadouble.records.record_filter import RecordNarrowing
    from kafkadouble.rules.rule_handle import RuleHandle
    from kafkadouble.seen.request_filter import RequestNarrowing
    from kafkadouble.server.tracing.history import SeenRequest
    from kafkadouble.waits.awaited import Awaited

T = TypeVar("T")
V = TypeVar("V")


def _nothing(_: object) -> None:
    """The result of a wait that has none."""


class WaitVerbs(VerbHost):
    """A part of KafkaDouble. Each method returns what `_wait` returns: in `KafkaDouble.aio` that is
    a coroutine."""

    @verb
    def wait_for_records(
        self,
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
        from kafkadouble.waits.conditions import records_of

        awaited = records_of(topic, count, partition, isolation, where, narrowing)
        return self._wait(awaited, list, timeout, advance)

    @verb
    def wait_for_topic(
        self, topic: str, partitions: int | None = None, *, timeout: float = 10, advance: bool = False
    ) -> None:
        """Waits until a topic exists, with this number of partitions if it is given."""
        from kafkadouble.waits.conditions import topic_of

        return self._wait(topic_of(topic, partitions), _nothing, timeout, advance)

    @verb
    def wait_for_leader(
        self,
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
        from kafkadouble.waits.conditions import leader_of

        return self._wait(leader_of(topic, partition, leader, epoch), lambda found: found.id, timeout, advance)

    @verb
    def wait_for_isr(
        self, topic: str, partition: int, isr: Collection[int], *, timeout: float = 10, advance: bool = False
    ) -> None:
        """Waits until these brokers, and no other ones, are the in-sync replicas of a partition."""
        from kafkadouble.waits.conditions import isr_of

        return self._wait(isr_of(topic, partition, isr), _nothing, timeout, advance)

    @verb
    def wait_for_broker(self, broker: int, *, timeout: float = 30, advance: bool = False) -> None:
        """Waits until a broker that was started is part of the cluster. That can take as long as
        the session of its previous incarnation."""
        from kafkadouble.waits.conditions import broker_of

        return self._wait(broker_of(broker), _nothing, timeout, advance)

    @verb
    def wait_for_group(
        self,
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
        from kafkadouble.waits.coordinator_conditions import group_of

        return self._wait(group_of(group, state, members, lag, ready), lambda found: found.group, timeout, advance)

    @verb
    def wait_for_transaction(
        self, transactional_id: str, state: TransactionStateName, *, timeout: float = 10, advance: bool = False
    ) -> Transaction:
        """Waits until a transactional id is in this state (Kafka's name, such as
        CompleteCommit)."""
        from kafkadouble.waits.coordinator_conditions import transaction_of

        return self._wait(transaction_of(transactional_id, state), lambda found: found, timeout, advance)

    @verb
    def wait_for_rule(
        self, rule: RuleHandle | int, hits: int = 1, *, timeout: float = 10, advance: bool = False
    ) -> None:
        """Waits until a fault rule, given by its handle or its id, was applied so many times."""
        from kafkadouble.rules.rule_handle import applied, handle_of

        return self._wait(applied(handle_of(self._known(), rule), hits), _nothing, timeout, advance)

    @verb
    def wait_for_request(
        self,
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
        from kafkadouble.waits.coordinator_conditions import requests_of

        awaited = requests_of(api, count, narrowing)
        return self._wait(awaited, lambda found: found[count - 1], timeout, advance)

    def _wait(self, awaited: Awaited[V], result: Callable[[V], T], timeout: float, advance: bool) -> T:
        from kafkadouble.waits.awaited import outcome

        return result(outcome(self._serving(), awaited, timeout, self._moves(advance)))
