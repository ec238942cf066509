"""Creates topics on demand: directly on the active controller, else by a request to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.message import Message

from ..metadata.image import Image, TopicImage
from ..requests.request import Refusal
from ..requests.slices import in_one_step
from ..requests.waiting import Wait
from .auto_topic_creation import CreatableTopic, creatable_topic
from .controller_result import ControllerResult
from .create_topics import Result, create_topics
from .decision import appended

if TYPE_CHECKING:
    from ..configs.settings import Settings
    from .decision_host import DecisionHost
    from .host import ControllerHost
    from .metadata_writer import MetadataWriter


def auto_create_topics(node: DecisionHost, names: Iterable[str]) -> Wait[None]:
    """Creates these topics now if this node is the active controller, else requests them. Topics
    that cannot be created are skipped.
    """
    topics, controller = [creatable_topic(node.settings, name) for name in names], node.controller
    if node.lifecycle is not None and not controller.leads:
        node.lifecycle.create_topics(topics)
        return

    def decide(image: Image) -> Wait[tuple[Sequence[Message], None]]:
        decision = yield from create_topics(image, node.settings, topics, controller.new_id)
        return decision.records, None

    with suppress(Refusal):
        yield from appended(controller, decide)


def auto_create_internal_topic(node: ControllerHost, controller: MetadataWriter, name: str) -> TopicImage:
    """Creates an internal topic that does not exist. Refusal(COORDINATOR_NOT_AVAILABLE) while
    another node creates it.
    """
    if node.lifecycle is not None and not controller.leads:
        node.lifecycle.create_topics([creatable_topic(node.settings, name)])
        raise Refusal(error_codes.COORDINATOR_NOT_AVAILABLE)
    decision = _decided(node.settings, controller, [creatable_topic(node.settings, name)])
    result = decision.results[0]
    if result.error_code:
        raise Refusal(result.error_code, result.error_message)
    controller.commit(decision.records)
    topic = controller.image.topic(result.topic_id)
    if topic is None:  # not committed yet
        raise Refusal(error_codes.COORDINATOR_NOT_AVAILABLE)
    return topic


def create_topic(node: DecisionHost, topic: CreatableTopic, done: Callable[[Refusal | None], None]) -> None:
    """Creates a topic now if this node is the active controller, else requests it. `done` is called
    once: with the error, or None. NETWORK_EXCEPTION means that nothing is known."""
    controller = node.controller
    if node.lifecycle is not None and not controller.leads:
        if not node.lifecycle.create_topics([topic], lambda response: done(_failure(response))):
            done(_failure(None))  # it is requested already, for another reason
        return
    try:
        decision = _decided(node.settings, controller, [topic])
        controller.commit(decision.records)
    except Refusal as refusal:
        done(refusal)
    else:
        done(_failure_of(decision.results[0]))


def _decided(settings: Settings, controller: MetadataWriter, topics: list[CreatableTopic]) -> ControllerResult[Result]:
    return in_one_step(create_topics(controller.draft, settings, topics, controller.new_id))


def _failure(response: Any) -> Refusal | None:
    return Refusal(error_codes.NETWORK_EXCEPTION) if response is None else _failure_of(response.topics[0])


def _failure_of(result: Any) -> Refusal | None:
    return Refusal(result.error_code, result.error_message) if result.error_code else None
