"""docs/verbs.md: its examples run, and it has every verb."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kafkadouble import KafkaDouble
from kafkadouble.verbs.registry import VERBS
from tests.support import verbs_page
from tests.support.pages import DOCS, Block, blocks

PAGE = (DOCS / "verbs.md").read_text()
EXAMPLES = [*blocks(PAGE, "python")]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda block: f"line-{block.line}")
def test_an_example_runs(example: Block) -> None:
    exec(compile("\n" * example.line + example.text, "verbs.md", "exec"), {"__name__": "page"})


def test_page_of_verbs_has_examples() -> None:
    assert len(EXAMPLES) == 4


def test_the_line_of_json_is_a_record(tmp_path: Any) -> None:
    (line,) = blocks(PAGE, "json")
    (tmp_path / "orders.jsonl").write_text(line.text)
    with KafkaDouble() as kafka:
        assert kafka.produce_file("orders", tmp_path / "orders.jsonl") == 1
        (record,) = kafka.records("orders")
    assert record.timestamp == json.loads(line.text)["timestamp"]


def test_verbs_page_has_a_section_for_every_subject() -> None:
    assert {each.subject for each in VERBS.values()} == set(verbs_page.TITLES)
