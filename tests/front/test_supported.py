"""docs/supported.md says what dispatch goes by."""

from pathlib import Path

from kafkadouble.server.apis.served import TABLE
from kafkadouble.supported import as_markdown, as_text, rows

DOCUMENT = Path(__file__).parents[2] / "docs" / "supported.md"


def test_the_document_is_fresh() -> None:
    assert DOCUMENT.read_text(encoding="utf-8") == as_markdown(), (
        "run: python -m kafkadouble supported --markdown > docs/supported.md"
    )


def test_every_api_has_a_row() -> None:
    assert {row["name"] for row in rows()} == {served.name for served in TABLE}
    assert len(as_text().splitlines()) == len(TABLE)
    assert all(f"| {served.api.key} | {served.name} |" in as_markdown() for served in TABLE)


def test_versions_that_differ_have_a_reason() -> None:
    assert [row["name"] for row in rows() if row["versions"] != row["advertised"] and not row["reason"]] == []
