"""Creates topics on demand: directly on the active controller, else by a request to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes

from ..metadata.image import TopicImage
from ..requests.request import Refusal
from .auto_topic_creation import creatable_topic
from .create_topics import create_topics

if TYPE_CHECKING:
    from .host import DecisionHost


def auto_create_topics(node: DecisionHost, names: Iterable[str]) -> None:
    """Creates these topics now if this node is the active controller, else requests them. Topics
    that cannot be created are skipped.
    """
    topics, controller = [creatable_topic(node.settings, name) for name in names], node.controller
    if node.lifecycle is not None and not controller.leads:
        node.lifecycle.create_topics(topics)
        return
    try:
        controller.commit(create_topics(controller.draft, node.settings, topics, controller.new_id).records)
    except Refusal:
        return


def auto_create_internal_topic(node: DecisionHost, name: str) -> TopicImage:
    """Creates an internal topic that does not exist. Refusal(COORDINATOR_NOT_AVAILABLE) while
    another node creates it.
    """
    controller = node.controller
    if node.lifecycle is not None and not controller.leads:
        node.lifecycle.create_topics([creatable_topic(node.settings, name)])
        raise Refusal(error_codes.COORDINATOR_NOT_AVAILABLE)
    decision = create_topics(controller.draft, node.settings, [creatable_topic(node.settings, name)], controller.new_id)
    result = decision.results[0]
    if result.error_code:
        raise Refusal(result.error_code, result.error_message)
    controller.commit(decision.records)
    found = controller.image.topic(result.topic_id)
    if found is None:  # not committed yet
        raise Refusal(error_codes.COORDINATOR_NOT_AVAILABLE)
    return found
