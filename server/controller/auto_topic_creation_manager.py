"""Topics that a broker has made because somebody needs them: here, when it leads the quorum, or by whoever does."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes

from ..metadata.image import TopicImage
from ..requests.request import Refusal
from .auto_topic_creation import creatable_topic
from .create_topics import create_topics

if TYPE_CHECKING:
    from ..node import Node


def auto_create_topics(node: Node, names: Iterable[str]) -> None:
    """Make these topics, now, or as soon as another node does it. What cannot be made is not."""
    topics, controller = [creatable_topic(node.settings, name) for name in names], node.controller
    if node.life is not None and not controller.leads:
        node.life.create(topics)
        return
    try:
        controller.commit(create_topics(controller.draft, node.settings, topics, controller.new_id).records)
    except Refusal:
        return


def auto_create_internal_topic(node: Node, name: str) -> TopicImage:
    """A topic of coordinators that is not there. Refusal(COORDINATOR_NOT_AVAILABLE) as long as another node makes it."""
    controller = node.controller
    if node.life is not None and not controller.leads:
        node.life.create([creatable_topic(node.settings, name)])
        raise Refusal(error_codes.COORDINATOR_NOT_AVAILABLE)
    decision = create_topics(controller.draft, node.settings, [creatable_topic(node.settings, name)], controller.new_id)
    result = decision.results[0]
    if result.error_code:
        raise Refusal(result.error_code, result.error_message)
    controller.commit(decision.records)
    found = controller.image.topic(result.topic_id)
    if found is None:  # it is not committed yet
        raise Refusal(error_codes.COORDINATOR_NOT_AVAILABLE)
    return found
