"""Creates the internal topics of streams groups for their coordinator (Kafka:
`AutoTopicCreationManager.createStreamsInternalTopics`).

A topic that could not be created is not tried again for two heartbeat intervals; meanwhile the
members learn why. The active controller creates the topics directly, another node by a request.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_topics import CreateTopicsResponse

from ...controller.create_topics import create_topics, failed_result
from ...controller.decision_host import DecisionHost
from ...requests.request import Refusal
from ...requests.slices import in_one_step
from .topics.configured_topology import CreatableTopic

MOST_ERRORS = 1000
"""How many failed topics are remembered; the one that is tried again first is forgotten first."""

Result = CreateTopicsResponse.CreatableTopicResult


class CreationError(NamedTuple):
    """Why a topic could not be created, and until when (ms) it is not tried again."""

    message: str
    until: int


class InternalTopicCreation:
    """The internal topics that this broker creates."""

    def __init__(self, node: DecisionHost) -> None:
        self._node = node
        self._errors: dict[str, CreationError] = {}

    def errors(self, names: Iterable[str]) -> dict[str, str]:
        """Returns topic -> message for those that could not be created lately."""
        found = ((name, self._errors.get(name)) for name in names)
        return {name: error.message for name, error in found if error is not None and error.until > self._node.now}

    def create(self, topics: Collection[CreatableTopic], retry_ms: int) -> None:
        """Creates these topics, except those that could not be created in the last `retry_ms`."""
        failed = self.errors(topic.name for topic in topics)
        due = [topic for topic in topics if topic.name not in failed]
        controller, lifecycle = self._node.controller, self._node.lifecycle
        if lifecycle is None or controller.leads:
            self._keep_errors(self._create_here(due), retry_ms)
            return
        lifecycle.create_topics(due, lambda response: self._answered(due, response, retry_ms))

    def _create_here(self, topics: list[CreatableTopic]) -> list[Result]:
        controller = self._node.controller
        try:
            steps = create_topics(controller.draft, self._node.settings, topics, controller.new_id)
            decision = in_one_step(steps)
            controller.commit(decision.records)
        except Refusal as refusal:
            return [failed_result(topic.name, refusal.code, refusal.message) for topic in topics]
        return decision.results

    def _answered(self, topics: list[CreatableTopic], response: CreateTopicsResponse | None, retry_ms: int) -> None:
        if response is None:
            lost = error_codes.UNSUPPORTED_VERSION
            self._keep_errors([failed_result(topic.name, lost, None) for topic in topics], retry_ms)
        else:
            self._keep_errors(response.topics, retry_ms)

    def _keep_errors(self, results: Iterable[Result], retry_ms: int) -> None:
        now = self._node.now
        for result in results:
            if result.error_code:
                message = result.error_message or error_codes.name(result.error_code)
                self._errors[result.name] = CreationError(message, now + retry_ms)
        self._errors = {name: error for name, error in self._errors.items() if error.until > now}
        too_many = len(self._errors) - MOST_ERRORS
        if too_many > 0:
            for name in sorted(self._errors, key=lambda name: self._errors[name].until)[:too_many]:
                del self._errors[name]

    def __repr__(self) -> str:
        return f"{len(self._errors)} internal topics that could not be created"
