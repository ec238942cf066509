"""A client that names the id of a node, as followers do, stays a client: fault rules and the
history hold for all that it sends."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from tests.support.client import Connection

FALSE: list[tuple[Any, int]] = [
    (FetchRequest(replica_id=1, max_wait_ms=0, session_epoch=-1), 12),
    (FetchRequest(replica_state=FetchRequest.ReplicaState(replica_id=1), max_wait_ms=0, session_epoch=-1), 17),
    (OffsetForLeaderEpochRequest(replica_id=1), 4),
    (ListOffsetsRequest(replica_id=1), 6),
]


@pytest.mark.parametrize(("body", "version"), FALSE, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("acls", [None, []], ids=["without ACLs", "with ACLs"])
def test_rules_and_the_history_hold_for_it_and_for_what_it_sends_next(
    body: Any, version: int, acls: list[str] | None
) -> None:
    with KafkaDouble(acls=acls, super_users=["User:admin"] if acls is not None else None) as kafka:
        kafka.create_topic("t")
        rule = kafka.fail("*", "UNKNOWN_TOPIC_OR_PARTITION", client_id="thief", times=None)
        with closing(Connection(kafka.bootstrap_servers, "thief")) as thief:
            thief.ask(body, version)
            thief.ask(MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="t")]), 12)
        assert rule.hits == 2
        assert [request.api for request in kafka.requests if request.client_id == "thief"] == [
            type(body).__name__.removesuffix("Request"),
            "Metadata",
        ]


def test_client_that_named_another_broker_is_a_client_again_with_its_next_request() -> None:
    with KafkaDouble(brokers=2) as kafka:
        kafka.create_topic("t")
        rule = kafka.fail("Metadata", "UNKNOWN_TOPIC_OR_PARTITION", times=None)
        with closing(Connection(kafka.bootstrap_servers, "thief")) as thief:
            thief.ask(FetchRequest(replica_id=2, max_wait_ms=0, session_epoch=-1), 12)
            answer = thief.ask(MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name="t")]), 12)
        assert (answer.topics[0].error_code, rule.hits) == (error_codes.UNKNOWN_TOPIC_OR_PARTITION, 1)
