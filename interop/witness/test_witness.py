"""That the witness would notice: wrong bytes, wrong JSON, and that what it reports is small."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import CreateTopicsRequest, TopicRecord
from kafkadouble.messages.uuid import Uuid

from . import verdict
from .java import SAME, Witness
from .making import MOODS, Maker
from .shrinking import shrink
from .verdict import Case, case_of, problems, question, smallest

RECORD = TopicRecord(name="orders", topic_id=Uuid(bytes(range(16))))
RIGHT = case_of(RECORD, 0, with_json=True)


def problems_of(witness: Witness, case: Case) -> list[str]:
    return [problem[:24] for problem in problems(case, witness.answer(*question(case)), TopicRecord)]


def test_messages_that_both_encode_alike_have_no_problem(witness: Witness) -> None:
    assert witness.answer(*question(RIGHT)) == [SAME, SAME, SAME]
    assert problems_of(witness, RIGHT) == []


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        (RIGHT._replace(hex=RIGHT.hex.replace("6f", "70")), ["Kafka writes of the JSON", "Kafka reads in the bytes"]),
        (RIGHT._replace(hex=RIGHT.hex[:-2]), ["Kafka writes of the JSON", "Kafka reads in the bytes", "Kafka reads the bytes an"]),
        (RIGHT._replace(json=RIGHT.json.replace("or", "of")), ["Kafka writes of the JSON", "Kafka reads in the bytes"]),
        (RIGHT._replace(json="", hex=RIGHT.hex + "00"), ["Kafka leaves 1 bytes unr", "Kafka reads the bytes an"]),
    ],
)  # fmt: skip
def test_witness_reports_wrong_answers(witness: Witness, wrong: Case, problem: list[str]) -> None:
    found = problems_of(witness, wrong)
    assert found[: len(problem)] == problem
    assert any(line.startswith("we ") for line in found[len(problem) :]), "our own reading differs too"


def test_a_difference_is_reported_for_the_smallest_message(witness: Witness, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that we would write wrongly: every text with an a in it."""

    def wrong(message: Any, version: int, with_json: bool) -> Case:
        case = case_of(message, version, with_json)
        return case._replace(hex=case.hex.replace("61", "62"))

    monkeypatch.setattr(verdict, "case_of", wrong)
    message = Maker("a").message(CreateTopicsRequest, 7, "highest")
    assert isinstance(message, CreateTopicsRequest)
    message.topics[0].name = "a long way to go"
    report = smallest(witness, message, 7, with_json=True)
    assert "CreateTopicsRequest version 7: CreateTopicsRequest(topics=[CreatableTopic(name='a" in report
    assert "our bytes 0202" in report
    assert "Kafka reads in the bytes" in report


def test_shrunk_message_still_fails() -> None:
    message = Maker(4).message(CreateTopicsRequest, 7, "highest")
    assert isinstance(message, CreateTopicsRequest)
    message.topics[0].unknown_tagged_fields = {7: b"abc", 9: b""}
    shrink(message, 7, lambda: 7 in (message.topics[0].unknown_tagged_fields or {}) if message.topics else False)
    topic = CreateTopicsRequest.CreatableTopic(unknown_tagged_fields={7: b""})
    assert message == CreateTopicsRequest(topics=[topic])


def test_random_messages_include_each_mood() -> None:
    made = list(Maker(1).messages(CreateTopicsRequest, 7, 40))
    assert len(made) == 40 > len(MOODS) + 1
    assert made[0] == CreateTopicsRequest()
    sizes = {len(message.topics) for message in made if isinstance(message, CreateTopicsRequest)}
    assert {0, 1, 2, 3} < sizes
    assert max(sizes) > 125


def test_an_unknown_verb(witness: Witness) -> None:
    assert witness.answer("sing") == ["!java.lang.IllegalArgumentException: unknown verb sing"]


def test_witness_answers_in_order_after_skipped_ones(witness: Witness) -> None:
    witness.ask("sing")
    assert witness.answer(*question(RIGHT)) == [SAME, SAME, SAME]
