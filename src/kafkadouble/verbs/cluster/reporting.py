"""The method of KafkaDouble that tells what happened."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kafkadouble.arguments.parameters import check
from kafkadouble.common.marking import verb
from kafkadouble.report import text
from kafkadouble.report.reported import Reported
from kafkadouble.verbs.content.groups import groups
from kafkadouble.verbs.content.transactions import transactions

if TYPE_CHECKING:
    from kafkadouble.host.host import Host


@verb
def report(host: Host, count: int = 15) -> str:
    """Tells what happened, as text: the last `count` requests, and earlier ones with an error
    or a rule; the fault rules, and what came near those that nothing matched; brokers that do
    not serve; topics with their offsets; groups with their lag; open transactions. It works
    while brokers are down, and after a stop."""
    check(count=count)
    return text(reported(host), count)


def reported(host: Host) -> Reported:
    """The double of a host, as a report sees it."""
    return Reported(host.double.requests, partial(groups, host), partial(transactions, host), host.known, host.serving)
