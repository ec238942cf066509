"""A scenario that says who the clients are and what they may do, and steps that change it, with a
real client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.cli.serve import WRONG_USE
from tests.support.serving import run

SCENARIO = """
security: SASL_PLAINTEXT
users:
  alice: secret
  bob: other
acls:
  - User:alice allow READ topic:ord*
super_users: ["User:admin"]
topics:
  - {name: orders}
  - {name: payments}
steps:
  - {at: 5, verb: create_acls, acls: ["User:alice allow READ topic:payments"]}
  - {at: 6, verb: delete_acls, acls: [{principal: User:alice, operations: READ, resource: "topic:ord*"}]}
  - {at: 7, verb: set_user, user: bob, password: another}
  - {at: 8, verb: remove_user, user: alice}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "orders.yaml"
    path.write_text(SCENARIO)
    return path


def topics(config: dict[str, Any], seconds: float = 20) -> set[str]:
    return set(AdminClient({**config, "log_level": 0}).list_topics(timeout=seconds).topics)


@pytest.mark.parametrize("brokers", [1, 2])
def test_steps_change_who_may_do_what(scenario: Path, brokers: int) -> None:
    with KafkaDouble(scenario=scenario, brokers=brokers, stepped=True) as kafka:
        for _ in range(2):
            alice, bob = kafka.client_config("alice"), kafka.client_config("bob")
            assert (topics(alice), topics(bob)) == ({"orders"}, set())
            kafka.advance(5)
            assert topics(alice) == {"orders", "payments"}
            kafka.advance(1)
            assert topics(alice) == {"payments"}
            kafka.advance(2)
            assert [step.problem for step in kafka.scenario_steps] == [None] * 4
            for mechanism in ("PLAIN", "SCRAM-SHA-256"):
                assert topics(kafka.client_config("bob", mechanism=mechanism)) == set()
                for gone in (alice, bob):
                    with pytest.raises(KafkaException):
                        topics({**gone, "sasl.mechanism": mechanism}, 1)
            kafka.reset()  # with the users and the ACLs of the file


def test_access_settings_of_program_and_scenario_are_merged(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text("security = 'SASL_PLAINTEXT'\nacls = []\n")
    with KafkaDouble(scenario=path, users={"alice": "secret"}) as kafka:
        kafka.create_topic("orders")
        assert topics(kafka.client_config("alice")) == set()


def test_access_settings_in_both_program_and_scenario_are_refused(scenario: Path) -> None:
    both: list[dict[str, Any]] = [{"users": {"carol": "hidden"}}, {"acls": []}, {"security": "SSL"}]
    for given in both:
        with pytest.raises(
            UsageError, match=r"orders\.yaml:[0-9]+:[0-9]+: [a-z]+ is given, too: give it once"
        ) as refused:
            KafkaDouble(scenario=scenario, **given)
        assert "hidden" not in str(refused.value)
    ended = run("serve", "--port", "0", "--scenario", str(scenario), "--user", "carol:hidden")
    assert ended.returncode == WRONG_USE
    assert f"{scenario}:4:3: --user is given, too: give it once" in ended.stderr
    assert "hidden" not in ended.stderr


def test_a_protocol_that_lacks_users_is_refused_at_its_place(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("security: SASL_SSL\n")
    with pytest.raises(UsageError, match=f"^{path}:1:11: users has a password for each name"):
        KafkaDouble(scenario=path)
    ended = run("serve", "--port", "0", "--scenario", str(path))
    assert ended.returncode == WRONG_USE
    assert f"{path}:1:11: users has a password for each name" in ended.stderr


def test_a_restore_brings_back_the_users_of_the_snapshot() -> None:
    with KafkaDouble(security="SASL_PLAINTEXT", users={"alice": "secret"}) as kafka:
        kafka.create_topic("orders")
        first = kafka.snapshot()
        kafka.set_user("bob", "other")
        second = kafka.snapshot()
        kafka.remove_user("bob")
        kafka.restore(second)
        assert topics(kafka.client_config("bob")) == {"orders"}
        kafka.restore(first)
        assert topics(kafka.client_config("alice")) == {"orders"}
        with pytest.raises(UsageError, match="user is 'bob': there are alice"):
            kafka.client_config("bob")


def test_users_that_were_changed_do_not_outlive_a_start(tmp_path: Path) -> None:
    def double(users: dict[str, str]) -> KafkaDouble:
        return KafkaDouble(security="SASL_PLAINTEXT", users=users, data_dir=tmp_path / "data")

    with double({"alice": "secret"}) as kafka:
        kafka.create_topic("orders")
        kafka.set_user("alice", "changed")
    with double({"carol": "secret"}) as kafka:
        assert topics(kafka.client_config("carol")) == {"orders"}
