"""Decides how many partitions the repartition topics have that subtopologies write to.

Rules. A count that the topology sets stays. Kafka goes over all pairs of a subtopology and its
sinks in rounds: a sink gets the largest count that is known then among the sources of its
subtopology, and waits for the next round while none is known. This module visits a pair only when
it can be decided, in the same order, so that the work does not grow with the number of rounds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count

from kafkadouble.messages import error_codes

from ....requests.request import Refusal
from .streams_topology import Subtopology

LOOPS = (
    "Failed to compute number of partitions for all repartition topics. "
    "There may be loops in the topology that cannot be resolved."
)


class SinkCounts:
    """The counts of repartition topics, from those that are set on along the sinks."""

    def __init__(self, subtopologies: Sequence[Subtopology], count_of: Callable[[str], int | None]) -> None:
        """`count_of` returns the partitions of a source topic; None if they are not known."""
        self._counts: dict[str, int] = {}
        self._largest: dict[int, int] = {}
        """Subtopology -> the largest known count of its sources; absent while none is known."""
        self._readers: dict[str, list[int]] = defaultdict(list)
        """Repartition topic -> the subtopologies that read it."""
        self._pairs: dict[int, list[tuple[int, str]]] = {}
        """Subtopology -> the position of each sink among all pairs, and the sink."""
        self._due: list[tuple[int, int, int, str]] = []
        """A heap of round, position, subtopology and sink."""
        positions = count()
        for number, subtopology in enumerate(subtopologies):
            self._pairs[number] = [(next(positions), sink) for sink in subtopology.repartition_sink_topics]
            for info in subtopology.repartition_source_topics:
                self._readers[info.name].append(number)
                if info.partitions:
                    self._counts[info.name] = info.partitions
        for number, subtopology in enumerate(subtopologies):
            for topic in subtopology.source_topics:
                self._source_known(number, count_of(topic), 0, -1)
        for topic, partitions in self._counts.items():
            self._topic_known(topic, partitions, 0, -1)

    def _topic_known(self, topic: str, partitions: int, in_round: int, position: int) -> None:
        for number in self._readers.get(topic, ()):
            self._source_known(number, partitions, in_round, position)

    def _source_known(self, number: int, partitions: int | None, in_round: int, position: int) -> None:
        """A source of a subtopology has this count since this pair was decided."""
        if partitions is None:
            return
        if number in self._largest:
            self._largest[number] = max(self._largest[number], partitions)
            return
        self._largest[number] = partitions
        for own_position, sink in self._pairs[number]:
            heappush(self._due, (in_round + (own_position < position), own_position, number, sink))

    def decided(self) -> dict[str, int]:
        """Returns topic -> count. Raises Refusal(STREAMS_INVALID_TOPOLOGY) for loops."""
        while self._due:
            in_round, position, number, sink = heappop(self._due)
            if sink not in self._counts:
                partitions = self._counts[sink] = self._largest[number]
                self._topic_known(sink, partitions, in_round, position)
        if any(sink not in self._counts for pairs in self._pairs.values() for _, sink in pairs):
            raise Refusal(error_codes.STREAMS_INVALID_TOPOLOGY, LOOPS)
        return self._counts
