"""Java's `PriorityQueue`: which of several elements of equal priority comes first depends on its
heap, and so do decisions of Kafka's task assignor."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

E = TypeVar("E")


class JavaPriorityQueue(Generic[E]):
    """Elements with the smallest priority first. The priority of an element may change while it is
    not in the queue."""

    __slots__ = ("_heap", "_priority_of")

    def __init__(self, priority_of: Callable[[E], float], elements: Iterable[E] = ()) -> None:
        self._priority_of = priority_of
        self._heap: list[E] = []
        for element in elements:
            self.add(element)

    def __len__(self) -> int:
        return len(self._heap)

    def add(self, element: E) -> None:
        """Adds an element: it rises past every parent with a larger priority."""
        heap, priority_of = self._heap, self._priority_of
        at, priority = len(heap), priority_of(element)
        heap.append(element)
        while at > 0:
            parent = (at - 1) // 2
            if priority >= priority_of(heap[parent]):
                break
            heap[at] = heap[parent]
            at = parent
        heap[at] = element

    def poll(self) -> E | None:
        """Removes and returns the first element; None if there is none."""
        if not self._heap:
            return None
        first, last = self._heap[0], self._heap.pop()
        if self._heap:
            self._sink(last)
        return first

    def _sink(self, element: E) -> None:
        """Puts an element at the top; it sinks below every smaller child."""
        heap, priority_of = self._heap, self._priority_of
        at, priority = 0, priority_of(element)
        while (child := 2 * at + 1) < len(heap):
            right = child + 1
            if right < len(heap) and priority_of(heap[child]) > priority_of(heap[right]):
                child = right
            if priority <= priority_of(heap[child]):
                break
            heap[at] = heap[child]
            at = child
        heap[at] = element
