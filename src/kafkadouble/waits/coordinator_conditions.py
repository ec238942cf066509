"""The states of groups and transactions, and the requests, that a program can wait for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kafkadouble.arguments.parameters import check, check_given
from kafkadouble.common.errors import KafkaError, UsageError
from kafkadouble.common.missing_names import missing
from kafkadouble.common.plural import counted
from kafkadouble.coordinators import group_lag, group_readiness
from kafkadouble.coordinators import groups as groups_of
from kafkadouble.coordinators import transactions as transaction_values
from kafkadouble.coordinators.group_readiness import STABLE
from kafkadouble.coordinators.group_values import Group
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.list_groups import ListGroupsRequest
from kafkadouble.messages.message import Message
from kafkadouble.seen.request_filter import RequestFilter, RequestNarrowing, in_words
from kafkadouble.server.groups.classic.state import ClassicGroupState
from kafkadouble.server.transactions.transaction_state import TransactionState
from kafkadouble.topics.partition_state import log_bounds

from .awaited import Awaited

if TYPE_CHECKING:
    from kafkadouble.coordinators.groups import Ask
    from kafkadouble.coordinators.transactions import Transaction
    from kafkadouble.engine.cluster_api import BrokerApi, ClusterApi
    from kafkadouble.server.tracing.history import SeenRequest

    Server = ClusterApi

V = TypeVar("V")

OF_NEWER_PROTOCOLS = ("Assigning", "Reconciling", "NotReady")
"""The states that only consumer groups or streams groups have."""

GROUP_STATES = (*(state.value for state in ClassicGroupState), *OF_NEWER_PROTOCOLS)
TRANSACTION_STATES = tuple(state.label for state in TransactionState)

SHOWN = 3
"""So many requests a message shows."""


class GroupFound(NamedTuple):
    """A group, or a function that says that there is none; and why its members may miss records."""

    group: Group
    absent: Callable[[], str] | None = None
    unready: str = ""


def group_of(
    group: str, state: str | None, members: int | None, lag: int | None, ready: bool = False
) -> Awaited[GroupFound]:
    """A group in this state, with so many members, a lag of at most so many records, and members
    that get each new record."""
    check(group=group, ready=ready)
    check_given(members=members, lag=lag)
    wishes = [
        *([] if state is None else [f"in the state {_known(state, GROUP_STATES, 'a group')}"]),
        *([] if members is None else [f"with {counted(members, 'member')}"]),
        *([] if lag is None else [f"with a lag of at most {lag}"]),
        *(["with members that are ready"] if ready else []),
    ]
    if ready and (state not in (None, STABLE) or members == 0):
        raise UsageError(f"only a group with members in the state {STABLE} is ready: leave out ready")

    def holds(found: GroupFound) -> bool:
        is_there = found.group.state != ClassicGroupState.DEAD.value
        fits = is_there if state is None else found.group.state == state
        return (
            fits
            and members in (None, len(found.group.members))
            and (lag is None or group_lag.is_caught_up(found.group, lag))
            and not found.unready
        )

    return Awaited(" ".join([f"the group {group}", *wishes]), partial(_group, group, ready), holds, _group_in_words)


def _group(id: str, ready: bool, broker: Server) -> GroupFound:
    bounds = partial(log_bounds, broker)
    for at in broker.members:
        ask = partial(_answer_now, broker, at)
        group = groups_of.groups(ask, bounds, id).get(id)
        if group is not None:
            return GroupFound(group, unready=group_readiness.unready(broker, group, ask) if ready else "")
    # Kafka describes a group that does not exist as dead.
    dead = Group(id, "classic", ClassicGroupState.DEAD.value, "", (), {}, {})
    return GroupFound(dead, partial(_no_group, broker, id), "there is no group" if ready else "")


def _no_group(broker: Server, id: str) -> str:
    listed = (_answer_now(broker, at, ListGroupsRequest()).groups for at in broker.members)
    return missing("group", id, [group.group_id for groups in listed for group in groups])


def _group_in_words(found: GroupFound) -> str:
    if found.absent is not None:
        return found.absent()
    return group_lag.in_words(found.group) + (f"; {found.unready}" if found.unready else "")


def transaction_of(transactional_id: str, state: str) -> Awaited[Transaction]:
    """A transactional id in this state."""
    check(transactional_id=transactional_id)
    _known(state, TRANSACTION_STATES, "a transaction")

    def observe(broker: Server) -> Transaction:
        found = _one_of(broker, lambda ask: transaction_values.transactions(ask, transactional_id), transactional_id)
        if found is None:
            words = partial(_no_transactional_id, broker, transactional_id)
            raise KafkaError(error_codes.TRANSACTIONAL_ID_NOT_FOUND, words)
        return found

    what = f"the transactional id {transactional_id} in the state {state}"
    return Awaited(what, observe, lambda found: found.state == state, repr)


def _no_transactional_id(broker: Server, id: str) -> str:
    asks = (partial(_answer_now, broker, at) for at in broker.members)
    return missing("transactional id", id, [each for ask in asks for each in transaction_values.transactions(ask)])


def _one_of(broker: Server, values: Callable[[Ask], dict[str, V]], id: str) -> V | None:
    for at in broker.members:
        found = values(partial(_answer_now, broker, at))
        if id in found:
            return found[id]
    return None


def _answer_now(broker: Server, at: BrokerApi, body: Message) -> Any:
    answer = broker.ask(body, at)
    if not answer.done():
        raise KafkaError(error_codes.REQUEST_TIMED_OUT, f"broker {at.node.id} does not answer at once")
    return answer.result()


def _known(state: str, states: Collection[str], subject: str) -> str:
    if state not in states:
        raise UsageError(f"{subject} has no state {state!r}: there are {', '.join(states)}")
    return state


def requests_of(api: str, count: int, narrowing: RequestNarrowing) -> Awaited[list[SeenRequest]]:
    """The condition: `count` requests of an API in the history."""
    check(count=count)
    request_filter = RequestFilter.checked([api], narrowing)
    fields = "".join(f", {in_words(name, value)}" for name, value in request_filter.given.items())
    return Awaited(
        f"{counted(count, 'request')} of {api}{fields}",
        lambda broker: request_filter.among(list(broker.history)),
        lambda found: len(found) >= count,
        _requests_shown,
    )


def _requests_shown(requests: Sequence[SeenRequest]) -> str:
    last = ", ".join(map(repr, requests[-SHOWN:]))
    return counted(len(requests), "request") + (f", the last {last}" if last else "")
