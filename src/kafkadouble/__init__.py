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
    from .access.acls import AclBinding as AclBinding
    from .brokers.broker_handle import BrokerHandle as BrokerHandle
    from .brokers.snapshot import Snapshot as Snapshot
    from .common.errors import KafkaError as KafkaError
    from .common.errors import UsageError as UsageError
    from .common.version import __version__ as __version__
    from .coordinators.group_values import Committed as Committed
    from .coordinators.group_values import Group as Group
    from .coordinators.group_values import Member as Member
    from .coordinators.transactions import Transaction as Transaction
    from .double import KafkaDouble as KafkaDouble
    from .lint.finding import LintFinding as LintFinding
    from .pipeline.logs import open_log as open_log
    from .pipeline.topic_table import fetch as fetch
    from .records.read_records import ReadRecord as ReadRecord
    from .rules.rule_handle import RuleHandle as RuleHandle
    from .scripted_double import ScriptedDouble as ScriptedDouble
    from .seen.requests import Requests as Requests
    from .server.faults.match import Match as Match
    from .server.faults.rule import Rule as Rule
    from .server.faults.trigger import Trigger as Trigger
    from .server.network.clock import SteppedClock as SteppedClock
    from .server.tracing.history import SeenRequest as SeenRequest
    from .server.tracing.seen_parts import SeenPart as SeenPart
    from .topics.partition_state import PartitionState as PartitionState
    from .topics.topic_description import TopicDescription as TopicDescription


_HOME = {
    "__version__": ".common.version",
    "AclBinding": ".access.acls",
    "BrokerHandle": ".brokers.broker_handle",
    "Committed": ".coordinators.group_values",
    "Group": ".coordinators.group_values",
    "KafkaDouble": ".double",
    "KafkaError": ".common.errors",
    "LintFinding": ".lint.finding",
    "Match": ".server.faults.match",
    "Member": ".coordinators.group_values",
    "PartitionState": ".topics.partition_state",
    "ReadRecord": ".records.read_records",
    "Requests": ".seen.requests",
    "Rule": ".server.faults.rule",
    "RuleHandle": ".rules.rule_handle",
    "ScriptedDouble": ".scripted_double",
    "SeenPart": ".server.tracing.seen_parts",
    "SeenRequest": ".server.tracing.history",
    "Snapshot": ".brokers.snapshot",
    "SteppedClock": ".server.network.clock",
    "TopicDescription": ".topics.topic_description",
    "Transaction": ".coordinators.transactions",
    "Trigger": ".server.faults.trigger",
    "UsageError": ".common.errors",
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
    from importlib import import_module  # `import kafkadouble` costs next to nothing

    found = globals()[name] = getattr(import_module(_HOME[name], __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
