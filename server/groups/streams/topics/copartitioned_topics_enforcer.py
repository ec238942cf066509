"""Makes the topics of a copartition group have equally many partitions (Kafka:
`CopartitionedTopicsEnforcer`).

The count is that of the topics that are not internal. In a group of repartition topics only, it is
the count that the topology sets, else the largest one. As in Kafka, every repartition topic of the
topology with a set count is compared then, also one outside the group; and the first topic in the
order of its map is named.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from kafkadouble.messages import error_codes

from ....java.hash_tables import hash_map_order, string_hash
from ....requests.request import Refusal
from .topic_configuration_error import incorrectly_partitioned_topics


class CopartitionedTopicsEnforcer:
    """Enforces equal counts in the copartition groups of one topology.

    `fixed` are the repartition topics of the topology whose count is set, `flexible` the others.
    """

    def __init__(
        self, fixed: Collection[str], flexible: Collection[str], count_of: Callable[[str], int | None]
    ) -> None:
        self._fixed, self._flexible, self._count_of = frozenset(fixed), frozenset(flexible), count_of
        self._fixed_counts: tuple[int, ...] | None = None

    def enforce(self, group: Sequence[str]) -> dict[str, int]:
        """Returns topic -> count for the repartition topics of a group.

        Raises TopicConfigurationError(INCORRECTLY_PARTITIONED_TOPICS).
        """
        if not group:
            return {}
        counts = {topic: _known(self._count_of, topic) for topic in hash_map_order(group, string_hash)}
        internal = {topic for topic in counts if topic in self._fixed or topic in self._flexible}
        repartition = {topic: count for topic, count in counts.items() if topic in internal}
        others = {topic: count for topic, count in counts.items() if topic not in internal}
        if others:
            count = _same_count(others, others.values())
        elif self._fixed:
            count = _same_count(repartition, self._counts_of_fixed())
        else:
            count = _largest_count(repartition)
        for topic, own_count in repartition.items():
            if topic in self._fixed and own_count != count:
                raise incorrectly_partitioned_topics(
                    f"Number of partitions [{own_count}] of repartition topic [{topic}] "
                    f"doesn't match number of partitions [{count}] of the source topic."
                )
        return dict.fromkeys(repartition, count)

    def _counts_of_fixed(self) -> Collection[int]:
        """The different counts of the fixed topics. No group changes them."""
        if self._fixed_counts is None:
            self._fixed_counts = (*{_known(self._count_of, topic) for topic in self._fixed},)
        return self._fixed_counts


def _known(count_of: Callable[[str], int | None], topic: str) -> int:
    count = count_of(topic)
    if count is None:
        raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
    return count


def _same_count(shown: Mapping[str, int], counts: Iterable[int]) -> int:
    different = [*dict.fromkeys(counts)]
    if len(different) > 1:
        topics = ", ".join(f"{topic}={count}" for topic, count in sorted(shown.items()))
        raise incorrectly_partitioned_topics(
            f"Following topics do not have the same number of partitions: [{{{topics}}}]"
        )
    return different[0]


def _largest_count(counts: Mapping[str, int]) -> int:
    largest = max(counts.values())
    if largest <= 0:
        message = f"All topics in the copartition group had undefined partition number: [{', '.join(counts)}]"
        raise Refusal(error_codes.STREAMS_INVALID_TOPOLOGY, message)
    return largest
