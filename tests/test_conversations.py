"""Plays every transcript in tests/conversations/ against a node with stepped time, and checks which
codes and versions of each API the transcripts show."""

from functools import cache
from pathlib import Path

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.server.apis.served import TABLE
from tests.support.conversation import Conversation, play
from tests.support.error_reasons import REACHED
from tests.support.error_rows import ROWS
from tests.support.errors_page import PAGE, as_markdown

TRANSCRIPTS = sorted((Path(__file__).parent / "conversations").rglob("*.txt"))

played = cache(play)


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=[path.stem for path in TRANSCRIPTS])
def test_transcript_is_answered_as_written(path: Path) -> None:
    played(path)


@pytest.fixture(scope="module")
def conversations() -> list[Conversation]:
    return [played(path) for path in TRANSCRIPTS]


def test_every_error_that_is_shown_is_a_row_and_every_row_is_shown(conversations: list[Conversation]) -> None:
    shown = {code for conversation in conversations for code in conversation.codes}
    reached = {(api, code) for api, rows in ROWS.items() for code, how in rows.items() if how == REACHED}
    assert sorted(shown - reached) == []
    assert sorted(reached - shown) == []


def test_api_is_shown_at_each_of_its_versions(conversations: list[Conversation]) -> None:
    shown = {requested for conversation in conversations for requested in conversation.versions}
    served = {(each.name, version) for each in TABLE for version in range(each.lowest, each.highest + 1)}
    assert sorted(served - shown) == []


def test_every_api_has_rows_of_codes_that_exist() -> None:
    assert {served.name for served in TABLE} == ROWS.keys()
    assert [code for rows in ROWS.values() for code in rows if not hasattr(error_codes, code)] == []


def test_the_page_of_errors_is_fresh() -> None:
    assert PAGE.read_text() == as_markdown(), "python -m tests.support.errors_page writes it"
