"""A leader that lies to its followers: its answers are refused and logged, nothing of them is
appended, no broker stops, and when the leader is honest again, replication goes on. A follower
believes what it cannot check, as in Apache Kafka."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.uuid import Uuid
from tests.server.replica.replication.liars import Liars, Lie, batch, out_of_range, to_fetches, whole_fetches
from tests.server.replica.replication.lied_to import (
    END,
    FETCHES,
    Change,
    PartitionData,
    error_lines,
    followers,
    goes_on,
    is_refused,
    live_with,
    saying,
    three,
)
from tests.server.replica.replication.replicated_topic import contents, create, leader, log_of, produce


@pytest.fixture
def cluster() -> Liars:
    return three()


def parted(epoch: int, end_offset: int) -> Change:
    return saying(diverging_epoch=FetchResponse.EpochEndOffset(epoch=epoch, end_offset=end_offset), records=b"")


CLAIMS = {
    "a start beyond the high watermark": (saying(log_start_offset=END + 1, high_watermark=END), "beyond its high"),
    "a start beyond everything": (saying(log_start_offset=2**63 - 1), "beyond its high watermark"),
    "a divergence in an epoch to come": (parted(99, 0), "the diverging epoch is 99"),
    "a divergence at the end": (parted(0, END), "they do not"),
    "a divergence far beyond the end": (parted(0, 2**62), "they do not"),
    "a divergence in a negative epoch": (parted(-5, 0), "the diverging epoch is -5"),
}


@pytest.mark.parametrize(("change", "words"), CLAIMS.values(), ids=CLAIMS)
def test_claims_that_cannot_be_are_refused(
    cluster: Liars, caplog: pytest.LogCaptureFixture, change: Change, words: str
) -> None:
    is_refused(cluster, caplog, to_fetches(change), words)


def of_another_topic(request: FetchRequest, answer: FetchResponse) -> FetchResponse:
    for topic in answer.responses:
        topic.topic_id = Uuid(b"somebody else's!")
    return answer


def of_another_partition(request: FetchRequest, answer: FetchResponse) -> FetchResponse:
    for topic in answer.responses:
        topic.partitions[0].partition_index = 77
    return answer


def and_another_one(request: FetchRequest, answer: FetchResponse) -> FetchResponse:
    stranger = PartitionData(partition_index=3, records=batch(0, b"unasked"))
    unasked = FetchResponse.FetchableTopicResponse(topic_id=Uuid(b"somebody else's!"), partitions=[stranger])
    answer.responses = [*answer.responses, unasked]
    return answer


def all_twice(request: FetchRequest, answer: FetchResponse) -> FetchResponse:
    answer.responses = [*answer.responses, *answer.responses]
    return answer


def in_another_session(request: FetchRequest, answer: FetchResponse) -> FetchResponse:
    if request.session_epoch > 0:
        answer.session_id += 1
    return answer


def in_no_session_that_can_be(request: FetchRequest, answer: FetchResponse) -> FetchResponse:
    answer.session_id = -3
    return answer


def of_nothing(request: FetchRequest, answer: FetchResponse) -> FetchResponse:
    return FetchResponse(session_id=0)


ANSWERS = {
    "another topic": (of_another_topic, "were not asked for"),
    "a partition that is not there": (of_another_partition, "were not asked for"),
    "more than was asked for": (and_another_one, "were not asked for"),
    "everything twice": (all_twice, "twice"),
    "a negative session": (in_no_session_that_can_be, "session -3"),
    "nothing at all": (of_nothing, "1 partitions are missing"),
}


@pytest.mark.parametrize(("change", "words"), ANSWERS.values(), ids=ANSWERS)
def test_answers_for_partitions_that_were_not_requested_are_refused(
    cluster: Liars,
    caplog: pytest.LogCaptureFixture,
    change: Callable[[FetchRequest, FetchResponse], Any],
    words: str,
) -> None:
    is_refused(cluster, caplog, whole_fetches(change), words)


def test_another_session_is_refused(cluster: Liars, caplog: pytest.LogCaptureFixture) -> None:
    """The follower sends its next request outside of the fetch session."""
    assert live_with(cluster, whole_fetches(in_another_session)) <= 2 * FETCHES
    assert [line for line in error_lines(caplog) if "session" in line]
    goes_on(cluster)


RANGES = {
    "a negative start": ((-5, END), "from offset -5 to 3"),
    "a negative end": ((0, -1), "from offset 0 to -1"),
    "a start after the end": ((5, 2), "from offset 5 to 2"),
    "no room after it": ((2**63 - 1, 2**63 - 1), "from offset 9223372036854775807"),
}


@pytest.mark.parametrize(("ends", "words"), RANGES.values(), ids=RANGES)
def test_ends_that_no_log_has_are_refused(
    cluster: Liars, caplog: pytest.LogCaptureFixture, ends: tuple[int, int], words: str
) -> None:
    is_refused(cluster, caplog, out_of_range(*ends), words, most=3 * FETCHES)


BELIEVED = {
    "histories that parted early": to_fetches(parted(0, 1)),
    "a log that ends early": out_of_range(0, 1),
    "a log that begins late": out_of_range(50, 60),
}


@pytest.mark.parametrize("lie", BELIEVED.values(), ids=BELIEVED)
def test_a_plausible_lie_is_believed_and_logged_and_every_record_is_fetched_again(
    cluster: Liars, caplog: pytest.LogCaptureFixture, lie: Lie
) -> None:
    """As after an unclean election, of which the follower may not have heard (KIP-320)."""
    caplog.set_level("WARNING")
    cluster.lie = lie
    assert produce(cluster, b"news", acks=1)[0] == 0
    cluster.until(lambda: all(log_of(node).log_end_offset in (1, 50) for node in followers(cluster)))
    cluster.lie = None
    lines = [record.getMessage() for record in caplog.records if record.name == "kafkadouble.server.replica"]
    assert [line for line in lines if "below its high watermark 3" in line or "its leader has only offsets" in line]
    assert all(node.halted is None for node in cluster.nodes.values())
    goes_on(cluster)


def failing(code: int) -> Lie:
    return to_fetches(saying(error_code=code, records=b""))


QUIET = {
    "it denies that it leads": failing(error_codes.NOT_LEADER_OR_FOLLOWER),
    "it knows of a later epoch": failing(error_codes.FENCED_LEADER_EPOCH),
    "an unknown error": failing(9999),
    "what is asked for is outside of a log that has it": out_of_range(0, 100),
    "every session is lost": whole_fetches(lambda request, answer: FetchResponse(error_code=70)),
    "an unknown error for the whole request": whole_fetches(lambda request, answer: FetchResponse(error_code=-77)),
}


@pytest.mark.parametrize("lie", QUIET.values(), ids=QUIET)
def test_a_fetch_refused_without_reason_is_sent_again_later(cluster: Liars, lie: Lie) -> None:
    before = [contents(node) for node in followers(cluster)]
    assert live_with(cluster, lie) <= 2 * FETCHES
    assert [contents(node) for node in followers(cluster)] == before
    goes_on(cluster)


def test_missing_end_offsets_are_requested_again_later(cluster: Liars) -> None:
    outside = out_of_range(0, END)

    def lie(request: Any, answer: Any) -> Any:
        answer = outside(request, answer)
        if isinstance(request, ListOffsetsRequest):
            answer.topics = []
        return answer

    assert live_with(cluster, lie) <= FETCHES
    goes_on(cluster)


def test_a_duplicate_end_offset_counts_once(cluster: Liars) -> None:
    """The second answer belongs to a question that was not asked yet."""
    outside = out_of_range(0, END + 1)

    def lie(request: Any, answer: Any) -> Any:
        answer = outside(request, answer)
        if isinstance(request, ListOffsetsRequest):
            answer.topics += answer.topics
        return answer

    before = [contents(node) for node in followers(cluster)]
    live_with(cluster, lie)
    assert [contents(node) for node in followers(cluster)] == before
    goes_on(cluster)


@pytest.mark.parametrize("high_watermark", [2**63 - 1, 10**6, 1, 0, -1, -(2**63)])
def test_a_high_watermark_is_at_most_the_end_and_never_goes_back(cluster: Liars, high_watermark: int) -> None:
    before = [log_of(node).high_watermark for node in followers(cluster)]
    live_with(cluster, to_fetches(saying(high_watermark=high_watermark)))
    for node, known in zip(followers(cluster), before, strict=True):
        assert known <= log_of(node).high_watermark <= log_of(node).log_end_offset
    goes_on(cluster)


@pytest.mark.parametrize("start", [-1, 0, -(2**63)])
def test_log_start_offset_of_a_leader_that_goes_back_is_ignored(cluster: Liars, start: int) -> None:
    live_with(cluster, to_fetches(saying(log_start_offset=start)))
    assert {log_of(node).log_start_offset for node in followers(cluster)} == {0}
    goes_on(cluster)


def test_partition_with_false_fetch_data_does_not_delay_others(cluster: Liars) -> None:
    create(cluster, "other")
    cluster.until(lambda: all(node.controller.image.topic_named("other") for node in cluster.nodes.values()))
    lied_about = cluster.leader.controller.image.topic_ids["t"]

    def lie(request: Any, answer: Any) -> Any:
        if isinstance(request, FetchRequest):
            for topic in answer.responses:
                if topic.topic_id == lied_about:
                    topic.partitions[0].records = batch(END, b"false")[:-1] + b"?"
        return answer

    cluster.lie = lie
    assert produce(cluster, b"news", acks=1)[0] == 0
    assert produce_to(cluster, "other", b"good") == (0, 0)
    cluster.lie = None
    goes_on(cluster)


def produce_to(cluster: Liars, name: str, value: bytes) -> tuple[int, int]:
    from tests.server.machine import produce_request

    request = produce_request(name, value, acks=-1, timeout_ms=5000)
    answered = cluster.ask(leader(cluster, name), request, 9).responses[0].partition_responses[0]
    return answered.error_code, answered.base_offset
