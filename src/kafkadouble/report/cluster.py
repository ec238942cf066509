"""The state of a cluster: brokers that do not serve, the offsets of topics, groups with their lag,
open transactions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

from kafkadouble.common.plural import counted
from kafkadouble.server.metadata.internal_topics import INTERNAL_TOPICS
from kafkadouble.topics.partition_state import log_bounds

if TYPE_CHECKING:
    from kafkadouble.coordinators.group_values import Group
    from kafkadouble.engine.cluster_api import BrokerState

    from .reported import Reported

T = TypeVar("T")

MOST, MOST_PARTITIONS = 20, 10
"""So many topics, groups and transactions, and so many partitions of each, are shown."""

OVER = ("Empty", "CompleteCommit", "CompleteAbort", "Dead")
"""The states of a transactional id without an open transaction."""


def brokers(double: Reported) -> Iterator[str]:
    """The brokers that do not serve."""
    running = double.known()
    if not running.thread.running:
        yield "the double was stopped"
    else:
        states = running.on_thread(lambda: {id: list(_words(state)) for id, state in running.broker.states.items()})
        yield from (f"{id}: {', '.join(state)}" for id, state in states.items() if state)


def _words(state: BrokerState) -> Iterator[str]:
    if not state.runs:
        yield "down"
    if state.is_paused:
        yield "paused"
    if state.is_isolated:
        yield "isolated"


def topics(double: Reported) -> Iterator[str]:
    """The first and the end offset of each partition."""
    running = double.serving()

    def read() -> dict[str, dict[int, tuple[int, int]]]:
        image = running.broker.image
        counts = {each.name: len(each.partitions) for each in image.topics.values() if each.name not in INTERNAL_TOPICS}
        found: dict[str, dict[int, tuple[int, int]]] = {name: {} for name in _first(sorted(counts))}
        asked = [(name, at) for name in found for at in range(min(counts[name], MOST_PARTITIONS))]
        for (name, at), bounds in log_bounds(running.broker, asked).items():
            found[name][at] = bounds
        return found

    for name, bounds in running.thread.call(read).items():
        yield f"{name}: " + (", ".join(f"{at}: {start} to {end}" for at, (start, end) in bounds.items()) or "no leader")


def groups(double: Reported) -> Iterator[str]:
    yield from (_group(each) for each in _first(double.groups().values()))


def _group(group: Group) -> str:
    members = counted(len(group.members), "member")
    committed = [f"{topic}-{at}@{each.offset}" for (topic, at), each in sorted(group.offsets.items())]
    shown = ", ".join(_first(committed)) or "nothing"
    lag = f", lag {group.lag:,}" if group.lags else ""
    return f"{group.id}: {group.type}, {group.state}, {members}{lag}, committed: {shown}"


def open_transactions(double: Reported) -> Iterator[str]:
    for each in _first([each for each in double.transactions().values() if each.state not in OVER]):
        partitions = ", ".join(f"{topic}-{at}" for topic, at in each.partitions[:MOST_PARTITIONS])
        yield f"{each.id}: {each.state} at {partitions or 'no partition'}"


def _first(found: Iterable[T]) -> list[T]:
    return list(islice(found, MOST))
