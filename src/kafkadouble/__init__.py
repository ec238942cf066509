"""A server in Python that speaks the Kafka protocol: a test double for Apache Kafka.

    from kafkadouble import KafkaDouble

    with KafkaDouble() as kafka:
        client = Producer({"bootstrap.servers": kafka.bootstrap_servers})

Real clients connect to it as to Apache Kafka. Each name is imported on first use, so importing the
package costs almost nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .acls import AclBinding as AclBinding
    from .brokers import BrokerHandle as BrokerHandle
    from .double import KafkaDouble as KafkaDouble
    from .errors import KafkaError as KafkaError
    from .errors import UsageError as UsageError
    from .group_values import Committed as Committed
    from .group_values import Group as Group
    from .group_values import Member as Member
    from .lint.finding import LintFinding as LintFinding
    from .partition_state import PartitionState as PartitionState
    from .pipeline.logs import open_log as open_log
    from .pipeline.topic_table import fetch as fetch
    from .records import ReadRecord as ReadRecord
    from .requests import Requests as Requests
    from .rules import RuleHandle as RuleHandle
    from .scripted.scripted_double import ScriptedDouble as ScriptedDouble
    from .server.faults.match import Match as Match
    from .server.faults.rule import Rule as Rule
    from .server.faults.trigger import Trigger as Trigger
    from .server.network.clock import SteppedClock as SteppedClock
    from .server.tracing.history import SeenRequest as SeenRequest
    from .server.tracing.seen_parts import SeenPart as SeenPart
    from .snapshot import Snapshot as Snapshot
    from .topics import TopicDescription as TopicDescription
    from .transactions import Transaction as Transaction
    from .version import __version__ as __version__


_HOME = {
    "__version__": ".version",
    "AclBinding": ".acls",
    "BrokerHandle": ".brokers",
    "Committed": ".group_values",
    "Group": ".group_values",
    "KafkaDouble": ".double",
    "KafkaError": ".errors",
    "LintFinding": ".lint.finding",
    "Match": ".server.faults.match",
    "Member": ".group_values",
    "PartitionState": ".partition_state",
    "ReadRecord": ".records",
    "Requests": ".requests",
    "Rule": ".server.faults.rule",
    "RuleHandle": ".rules",
    "ScriptedDouble": ".scripted.scripted_double",
    "SeenPart": ".server.tracing.seen_parts",
    "SeenRequest": ".server.tracing.history",
    "Snapshot": ".snapshot",
    "SteppedClock": ".server.network.clock",
    "TopicDescription": ".topics",
    "Transaction": ".transactions",
    "Trigger": ".server.faults.trigger",
    "UsageError": ".errors",
    "fetch": ".pipeline.topic_table",
    "open_log": ".pipeline.logs",
}

__all__ = [
    "AclBinding",
    "BrokerHandle",
    "Committed",
    "Group",
    "KafkaDouble",
    "KafkaError",
    "LintFinding",
    "Match",
    "Member",
    "PartitionState",
    "ReadRecord",
    "Requests",
    "Rule",
    "RuleHandle",
    "ScriptedDouble",
    "SeenPart",
    "SeenRequest",
    "Snapshot",
    "SteppedClock",
    "TopicDescription",
    "Transaction",
    "Trigger",
    "UsageError",
    "__version__",
    "fetch",
    "open_log",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(_HOME[name], __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
