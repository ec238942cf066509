"""Protocol selection of a classic group, and the topics in the metadata of its consumers.

A candidate is a protocol that every member supports. Each member votes for the candidate that it
lists first, and the candidate with the most votes is selected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from kafkadouble.messages.generated.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafkadouble.wire.errors import WireError

from ...java.strings import java_hash
from .member import ClassicGroupMember


def candidate_protocols(members: Collection[ClassicGroupMember]) -> set[str]:
    """Returns the protocols that every member supports."""
    if not members:
        return set()
    first, *others = members
    return set(first.supported_protocols).intersection(*(member.supported_protocols for member in others))


def select_protocol(members: Collection[ClassicGroupMember]) -> str:
    """Returns the candidate with the most votes.

    Kafka counts in a Java HashMap, so a tie goes to the protocol that the HashMap iterates first.
    """
    candidates = candidate_protocols(members)
    votes = Counter(member.vote(candidates) for member in members)
    return max(votes, key=lambda name: (votes[name], -_hash_map_bucket(name)))


def _hash_map_bucket(name: str) -> int:
    """Returns the bucket of a string in a Java HashMap of the default 16 buckets."""
    value = java_hash(name) & 0xFFFFFFFF
    return (value ^ value >> 16) & 15


def topics_of(subscriptions: Iterable[bytes]) -> frozenset[str] | None:
    """Returns the topics in the metadata of consumers; None if one subscription cannot be decoded.

    Every version of ConsumerProtocolSubscription begins with the fields of version 0, and only
    those are decoded.
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
