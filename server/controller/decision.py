"""Decisions of the controller that take long: they are made in slices, and written in one step.

Kafka's controller decides on one request after another, and a decision is applied completely or not
at all. Here other requests run between the slices of a decision, and a decision is only valid for
the image that it was made on. So if another change was appended meanwhile, the decision is made
again, the last time without slices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from kafkadouble.messages.message import Message

from ..metadata.image import Image
from ..requests.slices import in_one_step
from ..requests.waiting import Wait
from .metadata_writer import MetadataWriter
from .prepared_change import PreparedChange, prepared

R = TypeVar("R")

MOST_TRIES = 3
"""How often a decision is made in slices."""

Decide = Callable[[Image], Wait[tuple[Sequence[Message], R]]]
"""Decides on an image: the records to write, and the response. Changes no state."""


def decided(controller: MetadataWriter, decide: Decide[R]) -> Wait[R]:
    """The response, when the records are committed. Refusal: see `MetadataWriter.write`."""
    change, response = yield from _decision(controller, decide)
    return (yield from controller.written(change, response))


def appended(controller: MetadataWriter, decide: Decide[R]) -> Wait[R]:
    """As `decided`, but does not wait for the commit."""
    change, response = yield from _decision(controller, decide)
    controller.commit_prepared(change)
    return response


def _decision(controller: MetadataWriter, decide: Decide[R]) -> Wait[tuple[PreparedChange, R]]:
    for _ in range(MOST_TRIES):
        image = controller.draft
        decision = yield from _on(image, decide)
        # They differ at most in their end, which a no-op record moves.
        if all(is_before is is_after for is_before, is_after in zip(image[1:], controller.draft[1:], strict=True)):
            return decision
    return in_one_step(_on(controller.draft, decide))


def _on(image: Image, decide: Decide[R]) -> Wait[tuple[PreparedChange, R]]:
    records, response = yield from decide(image)
    return (yield from prepared(image, records)), response
