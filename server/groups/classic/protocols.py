"""What the members of a classic group agree on, and what a consumer's metadata tells.

A candidate is a protocol that every member supports; each member votes for the candidate that it lists first, and most votes win.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from kafkadouble.messages.generated.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafkadouble.wire.errors import WireError

from ...coordinator.java_text import java_hash
from .member import Member


def common(members: Collection[Member]) -> set[str]:
    """The protocols that all members support."""
    every = iter(members)
    first = next(every, None)
    return set() if first is None else set(first.protocols).intersection(*(member.protocols for member in every))


def elected(members: Collection[Member]) -> str:
    """The candidate with the most votes. A tie goes to the one that comes first in Java's HashMap, where Kafka counts."""
    candidates = common(members)
    votes = Counter(member.vote(candidates) for member in members)
    return max(votes, key=lambda name: (votes[name], -_bucket(name)))


def _bucket(name: str) -> int:
    """Where a HashMap of the usual 16 buckets keeps a string."""
    value = java_hash(name) & 0xFFFFFFFF
    return (value ^ value >> 16) & 15


def subscribed_topics(subscriptions: Iterable[bytes]) -> frozenset[str] | None:
    """The topics in the metadata of consumers; None when one of them cannot be read.

    Every version begins with the fields of version 0, which are all that is read (ConsumerProtocolSubscription).
    """
    topics: set[str] = set()
    for subscription in subscriptions:
        if len(subscription) < 2 or subscription[0] & 0x80:
            return None
        try:
            topics.update(ConsumerProtocolSubscription.read(subscription, 0, 2)[0].topics)
        except WireError:
            return None
    return frozenset(topics)
