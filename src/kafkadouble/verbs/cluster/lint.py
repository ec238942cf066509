"""The method of KafkaDouble that looks for bad habits of clients."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafkadouble.common.marking import verb
from kafkadouble.lint.finding import LintContext
from kafkadouble.lint.rules import lint as findings
from kafkadouble.server.network.clock import SteppedClock

if TYPE_CHECKING:
    from kafkadouble.host.host import Host
    from kafkadouble.lint.finding import LintFinding


@verb
def lint(host: Host, ignore: Iterable[str] = ()) -> list[LintFinding]:
    """The habits of clients in `requests` that hurt in production, each with the requests that
    show it. `ignore` has names of rules. Works after a stop too.

    With a stepped clock, the rules about times find nothing.
    """
    running = host.known()

    def context() -> LintContext:
        node = running.broker.node
        topics, creates = node.controller.image.topic_ids, node.settings.bool("auto.create.topics.enable")
        return LintContext(frozenset(topics), creates, not isinstance(host.clock, SteppedClock))

    return findings(list(host.double.requests), running.on_thread(context), ignore)
