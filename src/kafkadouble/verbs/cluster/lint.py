"""The method of KafkaDouble that looks for bad habits of clients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafkadouble.common.marking import verb
from kafkadouble.engine.verb_host import VerbHost

if TYPE_CHECKING:
    from kafkadouble.lint.finding import LintFinding
    from kafkadouble.seen.requests import Requests


class LintVerbs(VerbHost):
    """A part of KafkaDouble."""

    if TYPE_CHECKING:

        @property
        def requests(self) -> Requests:
            """The latest requests of clients."""

    @verb
    def lint(self, ignore: Iterable[str] = ()) -> list[LintFinding]:
        """The habits of clients in `requests` that hurt in production, each with the requests that
        show it. `ignore` has names of rules. Works after a stop too.

        With a stepped clock, the rules about times find nothing.
        """
        from kafkadouble.lint.finding import LintContext
        from kafkadouble.lint.rules import lint
        from kafkadouble.server.network.clock import SteppedClock

        running = self._known()

        def context() -> LintContext:
            node = running.broker.node
            topics, creates = node.controller.image.topic_ids, node.settings.bool("auto.create.topics.enable")
            return LintContext(frozenset(topics), creates, not isinstance(self._clock, SteppedClock))

        return lint(list(self.requests), running.on_thread(context), ignore)
