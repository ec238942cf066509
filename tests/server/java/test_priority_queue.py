"""The heap of Java's PriorityQueue. The task assignor compares it with Java, too."""

from __future__ import annotations

import random

from kafkadouble.server.java.priority_queue import JavaPriorityQueue


def polled(queue: JavaPriorityQueue[str]) -> str:
    found = []
    while (element := queue.poll()) is not None:
        found.append(element)
    return "".join(found)


def test_java_priority_queue_orders_equal_elements_as_its_heap() -> None:
    # The last element replaces the first; with equal children it stays on top.
    assert polled(JavaPriorityQueue(lambda element: 0, "abcdef")) == "afedcb"
    assert polled(JavaPriorityQueue(lambda element: element in "ab", "abcdef")) == "cdefba"


def test_java_priority_queue_orders_elements_by_priority() -> None:
    made = random.Random(3)
    queue = JavaPriorityQueue[int](lambda number: number)
    numbers = [made.randrange(50) for _ in range(300)]
    for number in numbers:
        queue.add(number)
    assert len(queue) == 300
    assert [queue.poll() for _ in range(300)] == sorted(numbers)
    assert queue.poll() is None
