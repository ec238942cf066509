"""The method of KafkaDouble that tells what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kafkadouble.common.marking import verb
from kafkadouble.engine.verb_host import VerbHost

if TYPE_CHECKING:
    from kafkadouble.report.reported import Reported


class ReportVerbs(VerbHost):
    """A part of KafkaDouble."""

    @verb
    def report(self, count: int = 15) -> str:
        """Tells what happened, as text: the last `count` requests, and earlier ones with an error
        or a rule; the fault rules, and what came near those that nothing matched; brokers that do
        not serve; topics with their offsets; groups with their lag; open transactions. It works
        while brokers are down, and after a stop."""
        from kafkadouble.arguments.parameters import check
        from kafkadouble.report import text

        check(count=count)
        return text(cast("Reported", self), count)
