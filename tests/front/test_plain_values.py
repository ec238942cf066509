"""Texts that are no Unicode and integers that are too large, as arguments in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafkadouble import KafkaDouble, UsageError

HALF = "a\ud800"
HUGE = 10**5000
"""Python prints no integer of so many digits."""

CALLS: dict[str, Callable[[KafkaDouble], Any]] = {
    "a topic": lambda kafka: kafka.create_topic(HALF),
    "a setting": lambda kafka: kafka.create_topic("t", config={"retention.ms": HUGE}),
    "a user": lambda kafka: kafka.set_user(HALF, "secret"),
    "a value": lambda kafka: kafka.produce("t", HALF),
    "a key": lambda kafka: kafka.produce("t", "v", key=HALF),
    "the name of a header": lambda kafka: kafka.produce("t", "v", headers={HALF: "v"}),
    "the value of a header": lambda kafka: kafka.produce("t", "v", headers={"a": HALF}),
    "a timestamp": lambda kafka: kafka.produce("t", "v", timestamp=HUGE),
    "one of many records": lambda kafka: kafka.produce_all("t", ["v", HALF]),
    "the topic of a rule": lambda kafka: kafka.fail("Produce", "NOT_LEADER_OR_FOLLOWER", topic=HALF),
    "the API of a rule": lambda kafka: kafka.fail(HALF, "NOT_LEADER_OR_FOLLOWER"),
    "the error of a rule": lambda kafka: kafka.fail("Produce", HUGE),
    "the hits of a rule": lambda kafka: kafka.fail("Produce", "NOT_LEADER_OR_FOLLOWER", times=HUGE),
    "the body of an answer": lambda kafka: kafka.respond("Metadata", {"topics": [{"name": HALF}]}),
    "a snapshot": lambda kafka: kafka.snapshot(HALF),
    "a group": lambda kafka: kafka.commit_offsets(HALF, {("t", 0): 1}),
    "an offset": lambda kafka: kafka.commit_offsets("g", {("t", 0): HUGE}),
    "a port": lambda kafka: KafkaDouble(port=HUGE),
    "a number of brokers": lambda kafka: KafkaDouble(brokers=HUGE),
    "a setting of a broker": lambda kafka: KafkaDouble(config={"log.retention.ms": HALF}),
    "an ACL": lambda kafka: KafkaDouble(acls=[f"User:{HALF} allow READ topic:t"]),
    "a super user": lambda kafka: KafkaDouble(acls=[], super_users=[f"User:{HALF}"]),
}


@pytest.fixture(scope="module")
def served() -> Any:
    with KafkaDouble(seed=1) as kafka:
        yield kafka


@pytest.mark.parametrize("name", CALLS)
def test_unencodable_value_raises_usage_error(served: KafkaDouble, name: str) -> None:
    with pytest.raises(UsageError) as raised:
        CALLS[name](served)
    assert str(raised.value).isascii()
    assert HALF not in str(served.rules) + str(served.snapshots) + str(served.groups())


def test_usage_error_of_set_user_hides_the_password(served: KafkaDouble) -> None:
    with pytest.raises(UsageError, match=r"^password is a text of one character or more$"):
        served.set_user("alice", f"secret{HALF}")
