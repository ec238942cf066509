"""The states of groups and transactions, and the requests, that a program can wait for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message
from kafkadouble.server.groups.classic.state import ClassicGroupState
from kafkadouble.server.transactions.transaction_state import TransactionState

from . import groups as group_values
from . import leadership
from . import transactions as transaction_values
from .arguments import check, check_given
from .awaited import Awaited
from .errors import KafkaError, UsageError
from .requests import check_api

if TYPE_CHECKING:
    from kafkadouble.server.tracing.history import SeenRequest

    from .broker import Broker
    from .cluster import Cluster
    from .groups import Group
    from .rules import RuleHandle
    from .transactions import Transaction

    Server = Broker | Cluster

V = TypeVar("V")

GROUP_STATES = tuple(state.value for state in ClassicGroupState)
TRANSACTION_STATES = tuple(state.label for state in TransactionState)

SHOWN = 3
"""So many requests a message shows."""


class GroupAndLag(NamedTuple):
    """A group, and by how many records its committed offsets are behind the end of their
    partitions, None if it has committed none."""

    group: Group
    lag: int | None

    def __str__(self) -> str:
        lag = "no committed offset" if self.lag is None else f"a lag of {self.lag}"
        return f"the group {self.group.id} in the state {self.group.state}, {len(self.group.members)} members, {lag}"


def group_of(group: str, state: str | None, members: int | None, lag: int | None) -> Awaited[GroupAndLag]:
    """A group in this state, with so many members, and a lag of at most so many records."""
    check(group=group)
    check_given(members=members, lag=lag)
    wishes = [
        *([] if state is None else [f"in the state {_known(state, GROUP_STATES, 'a group')}"]),
        *([] if members is None else [f"with {members} members"]),
        *([] if lag is None else [f"with a lag of at most {lag}"]),
    ]

    def holds(found: GroupAndLag) -> bool:
        is_there = found.group.state != ClassicGroupState.DEAD.value
        fits = (is_there if state is None else found.group.state == state) and members in (
            None,
            len(found.group.members),
        )
        return fits and (lag is None or (found.lag is not None and found.lag <= lag))

    return Awaited(" ".join([f"the group {group}", *wishes]), partial(_group, group), holds, str)


def _group(id: str, broker: Server) -> GroupAndLag:
    found = _one_of(broker, group_values.groups, id)
    if found is None:  # Kafka describes a group that does not exist as dead
        return GroupAndLag(group_values.Group(id, "classic", ClassicGroupState.DEAD.value, "", (), {}), None)
    behind = [
        leadership.find(broker, topic, partition)[1].log.high_watermark - committed.offset
        for (topic, partition), committed in found.offsets.items()
    ]
    return GroupAndLag(found, sum(map(partial(max, 0), behind)) if behind else None)


def transaction_of(transactional_id: str, state: str) -> Awaited[Transaction]:
    """A transactional id in this state."""
    check(transactional_id=transactional_id)
    _known(state, TRANSACTION_STATES, "a transaction")

    def observe(broker: Server) -> Transaction:
        found = _one_of(broker, transaction_values.transactions, transactional_id)
        if found is None:
            raise KafkaError(error_codes.TRANSACTIONAL_ID_NOT_FOUND, f"no transactional id {transactional_id!r}")
        return found

    what = f"the transactional id {transactional_id} in the state {state}"
    return Awaited(what, observe, lambda found: found.state == state, repr)


def _one_of(broker: Server, values: Callable[..., dict[str, V]], id: str) -> V | None:
    for at in broker.members:
        found = values(partial(_answer_now, broker, at), id)
        if id in found:
            return found[id]
    return None


def _answer_now(broker: Server, at: Broker, body: Message) -> Any:
    answer = broker.ask(body, at)
    if not answer.done():
        raise KafkaError(error_codes.REQUEST_TIMED_OUT, f"broker {at.node.id} does not answer at once")
    return answer.result()


def _known(state: str, states: Collection[str], subject: str) -> str:
    if state not in states:
        raise UsageError(f"{subject} has no state {state!r}: there are {', '.join(states)}")
    return state


def rule_of(rule: RuleHandle, hits: int) -> Awaited[int]:
    """A fault rule that was applied so many times."""
    check(count=hits)
    return Awaited(
        f"{rule!r}, applied {hits} times", lambda _: rule.hits, lambda found: found >= hits, "{} hits".format
    )


def requests_of(api: str, count: int, client_id: str | None) -> Awaited[list[SeenRequest]]:
    """So many requests of an API in the history."""
    check(count=count)
    check_api(api)

    def observe(broker: Server) -> list[SeenRequest]:
        return [seen for seen in broker.history if seen.api == api and client_id in (None, seen.client_id)]

    what = f"{count} requests of {api}" + ("" if client_id is None else f" from {client_id!r}")
    return Awaited(what, observe, lambda found: len(found) >= count, _requests_shown)


def _requests_shown(found: Sequence[SeenRequest]) -> str:
    last = ", ".join(map(repr, found[-SHOWN:]))
    return f"{len(found)} requests" + (f", the last {last}" if last else "")
