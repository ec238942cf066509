"""How many members subscribe to a topic, by name and by regular expression."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class SubscriptionCount(NamedTuple):
    """`by_regex` counts resolved regular expressions that match, not members that use one."""

    by_name: int = 0
    by_regex: int = 0


SubscribedTopicNames = dict[str, SubscriptionCount]
"""Topic name -> its counts. A topic without subscriptions has no entry."""


def add_names(counts: SubscribedTopicNames, names: Iterable[str], delta: int) -> None:
    """Adds `delta` to the count by name of each topic."""
    for name in names:
        present = counts.get(name, SubscriptionCount())
        _set(counts, name, SubscriptionCount(present.by_name + delta, present.by_regex))


def add_regex_topics(counts: SubscribedTopicNames, names: Iterable[str], delta: int) -> None:
    """Adds `delta` to the count by regular expression of each topic."""
    for name in names:
        present = counts.get(name, SubscriptionCount())
        _set(counts, name, SubscriptionCount(present.by_name, present.by_regex + delta))


def _set(counts: SubscribedTopicNames, name: str, count: SubscriptionCount) -> None:
    if count.by_name <= 0 and count.by_regex <= 0:
        counts.pop(name, None)
    else:
        counts[name] = count
