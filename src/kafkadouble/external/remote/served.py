"""The attributes of KafkaDouble that a real Kafka serves: one table, which decides each of them.

Rules. `ANY_KAFKA` needs requests only. `OWN_KAFKA` needs the process or the settings of a Kafka
that was started on this machine. Everything else needs a double: to use it raises
`OnlyOnDouble`, which the pytest plugin reports as a skip. It is an AttributeError, so `hasattr`
is False, and `getattr` with a default returns the default.
"""

from __future__ import annotations

from typing import NoReturn

ANY_KAFKA = (
    *("bootstrap_servers", "port", "is_real", "describe_cluster"),
    *("create_topic", "delete_topic", "topics", "end_offsets"),
    *("create_partitions", "set_topic_config", "delete_records"),
    *("produce", "produce_all", "produce_file", "records"),
    *("partition", "leader", "isr", "leader_epoch", "epochs", "elect_leaders", "reassign"),
    *("groups", "commit_offsets", "reset_offsets", "delete_group"),
    *("transactions", "set_quota", "remove_quota", "set_client_metrics"),
    *("acls", "create_acls", "delete_acls", "client_config"),
    *("wait_for_records", "wait_for_topic", "wait_for_leader", "wait_for_isr", "wait_for_broker"),
    *("wait_for_group", "wait_for_transaction", "aio"),
)
"""The verbs that any Kafka supports with its own APIs."""

OWN_KAFKA = ("bootstrap", "brokers", "down", "up", "set_certificate")
"""The verbs that a Kafka on this machine supports."""

ONLY_ON_DOUBLE = (
    *("start", "stop", "reset", "page", "controller_bootstrap_servers", "add_broker", "remove_broker"),
    *("requests", "peer_requests", "wait_for_request", "report", "metrics", "telemetry", "lint", "scenario_steps"),
    *("advance", "freeze", "unfreeze", "scale"),
    *("arm", "rules", "remove_rule", "clear_rules", "unused_rules", "wait_for_rule"),
    *("fail", "delay", "pause", "disconnect", "ignore", "drop_answer", "throttle", "respond", "on"),
    *("change_field", "corrupt_records", "stale_metadata", "wrong_correlation_id"),
    *("cut_frame", "short_frame", "oversized_frame", "slow_frame", "slice_frames"),
    *("refuse_connections", "latency", "bandwidth", "reset_after", "half_open", "slow_close"),
    *("disk_full", "disk_error", "disk_slow", "lose_flushes"),
    *("snapshot", "snapshots", "drop_snapshot", "restore"),
    *("roll", "retain", "compact", "flush", "truncate", "bump_epoch", "move_leader", "unclean_election"),
    *("move_coordinator", "move_transaction_coordinator", "rebalance", "set_assignment"),
    *("bearer_token", "token_endpoint", "token_keys", "token_errors", "is_client"),
    *("set_user", "remove_user"),  # Kafka reads the users of PLAIN in its file alone
    *(
        "expire_member",
        "remove_members",
        "expire_session",
        "expire_sasl_sessions",
        "expire_transaction",
        "hang_transaction",
    ),
)
"""What no Kafka has an API for, and what would be another thing in a Kafka."""


class OnlyOnDouble(AttributeError):
    """A test used what this Kafka does not serve."""


WORDS = {"member_fetches": "ready=True"}
"""What a test gave, by the part of the server that it needs."""


def only_inside(name: str, owner: str) -> AttributeError:
    """The error of an argument that needs a part of the server itself, which no request reads."""
    if name.startswith("_"):
        return AttributeError(name)
    name = WORDS.get(name, name)
    return OnlyOnDouble(f"{name}: only a double has that, and no request to a real Kafka reads it of {owner}")


class OnlyOnDoubleAttribute:
    """An attribute of KafkaDouble that a real Kafka does not have."""

    def __init__(self, name: str, needed: str = "a double") -> None:
        self._name, self._needed = name, needed

    def __get__(self, kafka: object, owner: type | None = None) -> NoReturn:
        __tracebackhide__ = True
        raise OnlyOnDouble(f"{self._name}: only {self._needed} has that, and this is {kafka!r}")
