"""An example for each verb of `kafkadouble ctl`, for its help: the parameters that must be given,
with values that the verb allows.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from kafkadouble.verbs.verb import Verb

VALUES: Mapping[str, str] = {
    "acls": '["User:alice allow READ topic:orders*"]',
    "assignment": '{"till-1": [["orders", 0]]}',
    "api": "Fetch",
    "body": '{"errorCode": 3}',
    "broker": "1",
    "bytes": "10",
    "bytes_per_second": "1000",
    "certificate": "expired",
    "config": "metrics=*",
    "error": "NOT_LEADER_OR_FOLLOWER",
    "factor": "10",
    "group": "shop",
    "isr": "1,2",
    "listener": "EXTERNAL",
    "member_id": "shop-1",
    "name": "orders",
    "offset": "3",
    "offsets": '{"orders": {"0": 5}}',
    "partition": "0",
    "partitions": "5",
    "password": "secret",
    "path": "throttle_time_ms",
    "records": '["two pears", {"key": "42", "value": "three pears"}]',
    "replicas": "2,3",
    "rule": "1",
    "seconds": "1.5",
    "snapshot": "clean",
    "state": "CompleteCommit",
    "to": "2",
    "topic": "orders",
    "transactional_id": "billing-1",
    "user": "alice",
    "value": "100",
}
"""By the name of a parameter."""

OF_VERB: Mapping[str, Mapping[str, str]] = {
    "arm": {"rule": '{"match": {"api": "Fetch"}, "trigger": {}, "action": {"type": "ignore"}}'},
    "drop_snapshot": {"name": "clean"},
    "produce_file": {"path": "orders.jsonl"},
    "reset_offsets": {"to": "earliest"},
    "set_topic_config": {"config": "retention.ms=60000"},
}
"""Values of a verb for which those in VALUES mean something else."""

MORE: Mapping[str, str] = {
    "assert_seen": "--apis Produce,Fetch --times 2",
    "client_config": "--user alice --client java",
    "expire_sasl_sessions": "--principal User:alice",
    "create_topic": "--partitions 3 --config retention.ms=60000",
    "fail": "--topic orders --times 2",
    "remove_quota": "--client-id shop",
    "set_quota": "--client-id shop --producer-byte-rate 1000000",
    "produce": '--key 42 --value "two pears"',
    "records": "--partition 0",
    "snapshot": "--name clean",
    "wait_for_records": "--count 3 --timeout 30",
}
"""Parameters that need not be given, and are given often."""


def words(verb: Verb) -> list[str]:
    """The words behind the name of the verb."""
    own = {**VALUES, **OF_VERB.get(verb.name, {})}
    required = [own[parameter.name] for parameter in verb.parameters.values() if parameter.is_required]
    return required + shlex.split(MORE.get(verb.name, ""))


def line(verb: Verb) -> str:
    """The whole command."""
    return shlex.join(["kafkadouble", "ctl", verb.name, *words(verb)])
