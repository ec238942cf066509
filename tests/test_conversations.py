"""Every transcript in tests/conversations/, played against a node with stepped time."""

from pathlib import Path

import pytest

from tests.support.conversation import play

TRANSCRIPTS = sorted((Path(__file__).parent / "conversations").rglob("*.txt"))


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=[path.stem for path in TRANSCRIPTS])
def test_conversation(path: Path) -> None:
    play(path)


def test_there_are_conversations() -> None:
    assert TRANSCRIPTS
