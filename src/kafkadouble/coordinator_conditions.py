"""The states of groups and transactions, and the requests, that a program can wait for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message
from kafkadouble.server.groups.classic.state import ClassicGroupState
from kafkadouble.server.transactions.transaction_state import TransactionState

from . import group_lag
from . import groups as group_values
from . import transactions as transaction_values
from .arguments import check, check_given
from .awaited import Awaited
from .errors import KafkaError, UsageError
from .partition_state import log_bounds
from .request_filter import RequestFilter, RequestNarrowing, in_words

if TYPE_CHECKING:
    from kafkadouble.server.tracing.history import SeenRequest

    from .broker import Broker
    from .cluster import Cluster
    from .groups import Ask, Group
    from .transactions import Transaction

    Server = Broker | Cluster

V = TypeVar("V")

OF_NEWER_PROTOCOLS = ("Assigning", "Reconciling", "NotReady")
"""The states that only consumer groups or streams groups have."""

GROUP_STATES = (*(state.value for state in ClassicGroupState), *OF_NEWER_PROTOCOLS)
TRANSACTION_STATES = tuple(state.label for state in TransactionState)

SHOWN = 3
"""So many requests a message shows."""


def group_of(group: str, state: str | None, members: int | None, lag: int | None) -> Awaited[Group]:
    """A group in this state, with so many members, and a lag of at most so many records."""
    check(group=group)
    check_given(members=members, lag=lag)
    wishes = [
        *([] if state is None else [f"in the state {_known(state, GROUP_STATES, 'a group')}"]),
        *([] if members is None else [f"with {members} members"]),
        *([] if lag is None else [f"with a lag of at most {lag}"]),
    ]

    def holds(found: Group) -> bool:
        is_there = found.state != ClassicGroupState.DEAD.value
        fits = (is_there if state is None else found.state == state) and members in (None, len(found.members))
        return fits and (lag is None or group_lag.is_caught_up(found, lag))

    return Awaited(" ".join([f"the group {group}", *wishes]), partial(_group, group), holds, group_lag.in_words)


def _group(id: str, broker: Server) -> Group:
    bounds = partial(log_bounds, broker)
    found = _one_of(broker, lambda ask: group_values.groups(ask, bounds, id), id)
    # Kafka describes a group that does not exist as dead.
    return found or group_values.Group(id, "classic", ClassicGroupState.DEAD.value, "", (), {}, {})


def transaction_of(transactional_id: str, state: str) -> Awaited[Transaction]:
    """A transactional id in this state."""
    check(transactional_id=transactional_id)
    _known(state, TRANSACTION_STATES, "a transaction")

    def observe(broker: Server) -> Transaction:
        found = _one_of(broker, lambda ask: transaction_values.transactions(ask, transactional_id), transactional_id)
        if found is None:
            raise KafkaError(error_codes.TRANSACTIONAL_ID_NOT_FOUND, f"no transactional id {transactional_id!r}")
        return found

    what = f"the transactional id {transactional_id} in the state {state}"
    return Awaited(what, observe, lambda found: found.state == state, repr)


def _one_of(broker: Server, values: Callable[[Ask], dict[str, V]], id: str) -> V | None:
    for at in broker.members:
        found = values(partial(_answer_now, broker, at))
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


def requests_of(api: str, count: int, narrowing: RequestNarrowing) -> Awaited[list[SeenRequest]]:
    """So many requests of an API in the history."""
    check(count=count)
    request_filter = RequestFilter.checked([api], narrowing)
    fields = "".join(f", {in_words(name, value)}" for name, value in request_filter.given.items())
    return Awaited(
        f"{count} requests of {api}{fields}",
        lambda broker: request_filter.among(list(broker.history)),
        lambda found: len(found) >= count,
        _requests_shown,
    )


def _requests_shown(found: Sequence[SeenRequest]) -> str:
    last = ", ".join(map(repr, found[-SHOWN:]))
    return f"{len(found)} requests" + (f", the last {last}" if last else "")
