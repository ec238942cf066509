"""Decisions of the controller that take long: they are made in slices, and written in one step.

Kafka's controller decides on one request after another. Here other requests run between the slices
of a decision, and a decision is only valid for the image that it was made on. So if another change
was appended meanwhile, the decision is made again, the last time without slices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from kafkadouble.messages.message import Message

from ..metadata.image import Image
from ..requests.waiting import Wait, in_one_step

if TYPE_CHECKING:
    from .controller import Controller

R = TypeVar("R")

MOST_TRIES = 3
"""How often a decision is made in slices."""

Decide = Callable[[Image], Wait[tuple[Sequence[Message], R]]]
"""Decides on an image: the records to write, and the response. Changes no state."""


def decided(controller: Controller, decide: Decide[R]) -> Wait[R]:
    """The response, when the records are committed. Refusal: see `Controller.write`."""
    records, response = yield from _decision(controller, decide)
    return (yield from controller.written(records, response))


def _decision(controller: Controller, decide: Decide[R]) -> Wait[tuple[Sequence[Message], R]]:
    for _ in range(MOST_TRIES):
        image = controller.draft
        decision = yield from decide(image)
        if _is_same(image, controller.draft):
            return decision
    return in_one_step(decide(controller.draft))


def _is_same(before: Image, after: Image) -> bool:
    """Whether the images differ at most in their end, which a no-op record moves."""
    return all(is_before is is_after for is_before, is_after in zip(before[1:], after[1:], strict=True))
