"""Work on many elements in slices."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from kafkadouble.server.requests.slices import FEW_RUNS, begun, counted, divided, in_one_step, ordered
from kafkadouble.server.requests.waiting import OTHERS_FIRST, SLICE, Until, Wait
from tests.support.slices import all_slices

SIZES = (0, 1, SLICE - 1, SLICE, SLICE + 1, FEW_RUNS * SLICE + 1)


def slices_of(steps: Wait[object]) -> int:
    return 1 + sum(until is OTHERS_FIRST for until in steps)


@pytest.mark.parametrize("size", SIZES)
def test_elements_in_slices_are_ordered_counted_and_divided_as_at_once(size: int) -> None:
    dice = Random(size)
    numbers = [dice.randrange(100) for _ in range(size)]
    assert all_slices(ordered(numbers)) == sorted(numbers)
    assert all_slices(ordered(numbers, key=lambda number: -number)) == sorted(numbers, reverse=True)
    assert all_slices(counted(numbers)) == Counter(numbers)
    small, large = all_slices(divided(lambda number: number < 50, numbers))
    assert small == [number for number in numbers if number < 50]
    assert large == [number for number in numbers if number >= 50]


def test_few_elements_take_one_slice_and_many_take_more() -> None:
    for steps in (ordered, counted):
        assert slices_of(steps(range(SLICE - 1))) == 1
        assert slices_of(steps(range(3 * SLICE))) > 3


def test_a_handler_that_does_not_yield_answers_at_once() -> None:
    @begun
    def answer(size: int) -> Wait[int]:
        return len((yield from ordered(range(size))))

    assert answer(SLICE - 1) == SLICE - 1
    left = answer(3 * SLICE)
    assert not isinstance(left, int)
    assert all_slices(left) == 3 * SLICE


def test_a_handler_that_has_begun_is_sent_what_it_waited_for() -> None:
    closed = []

    @begun
    def answer() -> Wait[list[bool]]:
        try:
            return [(yield Until(1)), (yield Until(2))]
        finally:
            closed.append(True)

    left = answer()
    assert not isinstance(left, list)
    assert next(left).deadline == 1
    assert left.send(True).deadline == 2
    with pytest.raises(StopIteration) as end:
        left.send(False)
    assert end.value.value == [True, False]
    waiting = answer()
    assert not isinstance(waiting, list)
    next(waiting)
    waiting.close()
    assert closed == [True, True]


def test_steps_in_one_step_may_not_wait() -> None:
    def waits() -> Wait[int]:
        yield Until(1)
        return 1

    assert in_one_step(ordered(range(3 * SLICE))) == [*range(3 * SLICE)]
    with pytest.raises(AssertionError):
        in_one_step(waits())
