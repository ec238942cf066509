"""The same habit of many topics, groups or clients is one finding that has all of them."""

from __future__ import annotations

from typing import Any

from kafkadouble.lint.finding import LintContext, LintFinding
from kafkadouble.lint.rules import lint
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.generated.metadata import MetadataRequest, MetadataResponse
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest, OffsetCommitResponse
from kafkadouble.verbs.forms.json_form import to_json
from tests.support.seen import Session

UNKNOWN_TOPIC, UNKNOWN_MEMBER, ILLEGAL_GENERATION = 3, 25, 22


def ask_for(session: Session, topic: str, client_id: str = "app") -> None:
    request = MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=topic)], allow_auto_topic_creation=True)
    answer = MetadataResponse(topics=[MetadataResponse.MetadataResponseTopic(name=topic, error_code=UNKNOWN_TOPIC)])
    session.request(request, answer, client_id=client_id)


def refused_commit(session: Session, group: str, error: int = UNKNOWN_MEMBER, client_id: str = "app") -> None:
    of, answer_of = OffsetCommitRequest, OffsetCommitResponse
    partition = of.OffsetCommitRequestPartition(partition_index=0, committed_offset=1)
    request = of(group_id=group, member_id="m", topics=[of.OffsetCommitRequestTopic(name="t", partitions=[partition])])
    refused = answer_of.OffsetCommitResponsePartition(partition_index=0, error_code=error)
    topics = [answer_of.OffsetCommitResponseTopic(name="t", partitions=[refused])]
    session.request(request, answer_of(topics=topics), version=8, client_id=client_id)


def found(session: Session, *topics: str) -> LintFinding:
    (only,) = lint(session.requests, LintContext(frozenset(topics)))
    return only


def test_the_topics_of_a_suite_are_one_finding() -> None:
    session = Session()
    names = [f"suite-{number}" for number in range(109)]
    for name in names:
        ask_for(session, name)
    habit = found(session, *names)
    assert habit.client_id == "app"
    assert habit.sentence == "created 109 topics by asking for them: 'suite-0', 'suite-1', 'suite-2' and 106 more"
    assert len(habit.requests) == len(habit.cases) == 109
    assert str(habit).splitlines()[0] == f"topic-created-by-accident: 'app' {habit.sentence}"
    cases: Any = to_json(habit)["cases"]
    assert cases[-1] == {
        "client_id": "app",
        "sentence": "created the topic 'suite-108' by asking for it",
    }


def test_lint_names_a_misspelt_topic_first() -> None:
    session = Session()
    for name in ("zzz", "yyy", "xxx", "ordres"):
        ask_for(session, name)
    habit = found(session, "zzz", "yyy", "xxx", "ordres", "orders")
    assert habit.sentence == (
        "created 4 topics by asking for them: 'ordres' (did you mean 'orders'?), 'zzz', 'yyy' and 1 more"
    )


def test_groups_and_clients_are_counted() -> None:
    session = Session()
    for group, client_id in (("g", "a"), ("h", "b"), ("g", "b")):
        refused_commit(session, group, client_id=client_id)
    refused_commit(session, "g", ILLEGAL_GENERATION, "a")
    first, other = lint(session.requests, LintContext())
    assert (first.client_id, other.client_id) == (None, "a")
    assert first.sentence == (
        "2 clients ('a' and 'b') committed offsets as a member that the group does not have of 2 groups: 'g' and 'h'"
    )
    assert [case.client_id for case in first.cases] == ["a", "b", "b"]
    assert other.cases == (), "another kind of commit is a finding of its own"


def test_clients_with_the_same_habit_are_one_finding() -> None:
    session = Session()
    for client_id in ("a", "b", "c", "d"):
        for version in (1, 0):
            session.request(ListOffsetsRequest(), version=version, client_id=client_id)
    first, other = lint(session.requests, LintContext())
    lacks = "versions below 2 have no isolation level (KIP-98), since Kafka 0.11"
    assert first.sentence == (
        f"4 clients ('a', 'b', 'c' and 1 more) did the same: the first used ListOffsets v1: {lacks}"
    )
    assert str(first).startswith("old-version: 4 clients ('a', 'b', 'c' and 1 more) did the same")
    assert [seen.version for seen in first.requests] == [1, 1, 1, 1]
    assert [case.sentence for case in other.cases] == [f"used ListOffsets v0: {lacks}"] * 4
